import type { ApplicationStatus } from '../../domain/application-states.ts';
import type { OrderStatus } from '../../domain/order-states.ts';
import type { Db } from '../../platform/db/handles.ts';

/** An application with what it must agree with. Null: there is no such row, or none is named. */
export interface ApplicationState {
  readonly id: bigint;
  readonly status: ApplicationStatus;
  readonly closedReason: string | null;
  readonly clientId: bigint;
  readonly petId: bigint;
  readonly shelterId: bigint;
  readonly orderId: bigint | null;
  readonly hasClient: boolean;
  readonly hasShelter: boolean;
  readonly petStatus: string | null;
  readonly petShelterId: bigint | null;
  /** The note is not the newest of those that staff have added. */
  readonly hasOtherNote: boolean;
  readonly order: NamedOrder | null;
}

interface NamedOrder {
  readonly status: OrderStatus;
  readonly clientId: bigint;
  readonly petId: bigint;
  readonly applicationId: bigint | null;
}

/** What the replay reads of a row of an application's history. */
export interface ApplicationRow {
  readonly id: bigint;
  readonly applicationId: bigint;
  readonly orderId: bigint | null;
  readonly clientId: bigint | null;
  readonly keyId: bigint | null;
  readonly personId: bigint | null;
  readonly from: string | null;
  readonly to: string;
  readonly by: string;
  readonly at: Date;
  readonly isUndoing: boolean;
}

/** A row of an application, after which a query continues. */
export interface RowOfApplication {
  readonly applicationId: bigint;
  readonly id: bigint;
}

/**
 * Applications in order of id, after `afterId`. Each looks up its own rows by their keys: "limit 1" keeps the planner from joining whole
 * tables.
 */
export async function selectApplicationStates(db: Db, afterId: bigint, limit: number): Promise<ApplicationState[]> {
  const { rows } = await db.query<Omit<ApplicationState, 'order'> & Partial<NamedOrderColumns>>({
    name: 'verify-applications',
    text: `with page as materialized (
        select id, status, closed_reason, client_id, pet_id, shelter_id, order_id, note from applications where id > $1 order by id limit $2)
      select page.id, page.status, closed_reason as "closedReason", page.client_id as "clientId", page.pet_id as "petId",
        page.shelter_id as "shelterId", order_id as "orderId", client.id is not null as "hasClient", shelter.id is not null as "hasShelter",
        pet.status as "petStatus", pet.shelter_id as "petShelterId",
        coalesce(page.note is distinct from noted.text, false) and noted.application_id is not null as "hasOtherNote", named.status as "orderStatus", named.client_id as "orderClientId",
        named.pet_id as "orderPetId", named.application_id as "orderApplicationId"
      from page
        left join lateral (select id from clients where clients.id = page.client_id limit 1) as client on true
        left join lateral (select id from shelters where shelters.id = page.shelter_id limit 1) as shelter on true
        left join lateral (select case when removed_at is null then status::text else 'removed' end as status, shelter_id
          from pets where pets.id = page.pet_id limit 1) as pet on true
        left join lateral (select application_id, text from application_notes where application_notes.application_id = page.id
          order by text is null, application_notes.id desc limit 1) as noted on true
        left join lateral (select status, client_id, pet_id, application_id from orders where orders.id = page.order_id limit 1) as named on true
      order by page.id`,
    values: [afterId, limit],
  });
  return rows.map(({ orderStatus, orderClientId, orderPetId, orderApplicationId = null, ...row }) => ({
    ...row,
    order:
      orderStatus && orderClientId && orderPetId
        ? { status: orderStatus, clientId: orderClientId, petId: orderPetId, applicationId: orderApplicationId }
        : null,
  }));
}

interface NamedOrderColumns {
  readonly orderStatus: OrderStatus | null;
  readonly orderClientId: bigint | null;
  readonly orderPetId: bigint | null;
  readonly orderApplicationId: bigint | null;
}

/** The history of a range of applications after one row, sorted by application and time. */
export async function selectApplicationHistory(
  db: Db,
  after: RowOfApplication,
  lastApplicationId: bigint,
  limit: number,
): Promise<ApplicationRow[]> {
  const { rows } = await db.query<ApplicationRow>({
    name: 'verify-application-history',
    text: `select id, application_id as "applicationId", order_id as "orderId", client_id as "clientId", key_id as "keyId", person_id as "personId",
        from_status as "from", to_status as "to", by, at, undoes_act_id is not null as "isUndoing"
      from application_history where (application_id, id) > ($1, $2) and application_id <= $3 order by application_id, id limit $4`,
    values: [after.applicationId, after.id, lastApplicationId, limit],
  });
  return rows;
}

/** An order that was placed for an application, and what that says. Null: there is no such application. */
export interface ApplicationOfOrder {
  readonly orderId: bigint;
  readonly status: ApplicationStatus | null;
  readonly namedOrderId: bigint | null;
}

/** The applications for which these orders were placed. */
export async function selectApplicationsOfOrders(
  db: Db,
  orders: ReadonlyArray<{ readonly id: bigint; readonly applicationId: bigint }>,
): Promise<ApplicationOfOrder[]> {
  const { rows } = await db.query<ApplicationOfOrder>({
    name: 'verify-applications-of-orders',
    text: `select orders.id as "orderId", named.status, named.order_id as "namedOrderId"
      from unnest($1::bigint[], $2::bigint[]) as orders (id, application_id)
        left join lateral (select status, order_id from applications where applications.id = orders.application_id limit 1) as named on true`,
    values: [orders.map(({ id }) => id), orders.map(({ applicationId }) => applicationId)],
  });
  return rows;
}

export async function readLastApplicationId(db: Db): Promise<bigint> {
  const { rows } = await db.query<{ last: bigint | null }>({ text: 'select max(id) as last from applications' });
  return rows[0]?.last ?? 0n;
}
