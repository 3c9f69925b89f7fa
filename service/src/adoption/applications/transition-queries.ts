import type { Author } from '../../domain/actor.ts';
import {
  type ApplicationParty,
  type ApplicationStatus,
  type ClosedReason,
  openApplicationStatuses,
} from '../../domain/application-states.ts';
import type { OrderStatus } from '../../domain/order-states.ts';
import { type PetStatus, removed } from '../../domain/pet-statuses.ts';
import { actIdsOf, type Db, type Transaction } from '../../platform/db/handles.ts';
import { applicationColumns, columnsWithoutAnswers } from './application-queries.ts';
import type { Application } from './application-schemas.ts';

export interface ApplicationToInsert {
  readonly clientId: bigint;
  readonly petId: bigint;
  readonly status: ApplicationStatus;
  readonly isMailed: boolean;
  readonly isEntered: boolean;
  readonly adopter: { readonly name: string; readonly email: string; readonly phone?: string | undefined };
  /** The e-mail address, normalized. */
  readonly address: string;
  /** JSON. */
  readonly answers: string;
}

/** The animal is locked against a move until the transaction ends. It must exist. */
export async function insertApplication(tx: Transaction, given: ApplicationToInsert): Promise<Application> {
  const { rows } = await tx.query<Application>({
    name: 'insert-application',
    text: `insert into applications (client_id, pet_id, shelter_id, status, is_mailed, adopter_name, adopter_email, adopter_phone, adopter_address, answers, is_entered)
      select $1, id, shelter_id, $3, $4, $5, $6, $7, $8, $9, $10 from pets where id = $2 for key share returning ${applicationColumns}`,
    values: [
      given.clientId,
      given.petId,
      given.status,
      given.isMailed,
      given.adopter.name,
      given.adopter.email,
      given.adopter.phone || null,
      given.address,
      given.answers,
      given.isEntered,
    ],
  });
  const [inserted] = rows;
  if (!inserted) throw new Error('the animal of an application does not exist');
  return inserted;
}

/** What an act needs to know before it locks anything. */
export interface ApplicationParts {
  readonly petId: bigint;
  readonly clientId: bigint;
  readonly orderId: bigint | null;
  readonly status: ApplicationStatus;
  readonly address: string | null;
  /** Whether staff have entered it. */
  readonly isEntered: boolean;
}

export async function findParts(tx: Transaction, id: bigint): Promise<ApplicationParts | undefined> {
  const { rows } = await tx.query<ApplicationParts>({
    name: 'parts-of-application',
    text: `select pet_id as "petId", client_id as "clientId", order_id as "orderId", status, adopter_address as address,
        is_entered as "isEntered"
      from applications where id = $1`,
    values: [id],
  });
  return rows[0];
}

/** Requires the animal's lock: every change of an application takes that first, so that two can't deadlock. */
export async function lockApplication(tx: Transaction, id: bigint): Promise<Application | undefined> {
  const { rows } = await tx.query<Application>({
    name: 'lock-application',
    text: `select ${columnsWithoutAnswers} from applications where id = $1 for update`,
    values: [id],
  });
  return rows[0];
}

/** An open application with what it follows. */
export interface OpenApplication extends Application {
  readonly orderStatus: OrderStatus | null;
  readonly petStatus: PetStatus | typeof removed;
}

/** Literals: the planner counts them, and reads the index for each status. It would filter everything of an animal by an array. */
const isOpen = `status in (${openApplicationStatuses.map((status) => `'${status}'`).join(', ')})`;

/** The open applications of a locked animal, in order of id. */
export async function lockOpenApplications(tx: Transaction, petId: bigint): Promise<OpenApplication[]> {
  const { rows } = await tx.query<OpenApplication>({
    name: 'lock-open-applications',
    text: `select ${columnsWithoutAnswers}, (select status from orders where orders.id = order_id) as "orderStatus",
        (select case when removed_at is null then status::text else '${removed}' end from pets where pets.id = $1) as "petStatus"
      from applications where pet_id = $1 and ${isOpen} order by id for update`,
    values: [petId],
  });
  return rows;
}

export interface Move {
  readonly to: ApplicationStatus;
  readonly closedReason: ClosedReason | null;
  readonly message: string | null;
  /** Undefined: as it was. */
  readonly orderId: bigint | undefined;
  /** Undefined: by its status alone. */
  readonly reopenDays: number | undefined;
}

/** Changes the status of locked applications. In order of id. */
export async function moveApplications(tx: Transaction, ids: readonly bigint[], move: Move): Promise<Application[]> {
  const { rows } = await tx.query<Application>({
    name: 'move-applications',
    text: `update applications set status = $2, closed_reason = $3, message = $4, order_id = coalesce($5, order_id), updated_at = now(), acted_at = now(),
      reopen_until = now() + make_interval(days => $6), is_confirmed = is_confirmed or status = 'unconfirmed' where id = any($1::bigint[]) returning ${columnsWithoutAnswers}`,
    values: [ids, move.to, move.closedReason, move.message, move.orderId ?? null, move.reopenDays ?? null],
  });
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** The adopter has followed a link that was mailed to the address. The application is locked. */
export async function confirmAdopterAddress(tx: Transaction, id: bigint): Promise<void> {
  await tx.query({
    name: 'confirm-address',
    text: 'update applications set is_confirmed = true where id = $1 and not is_confirmed',
    values: [id],
  });
}

export interface ApplicationTransition {
  readonly id: bigint;
  readonly orderId: bigint | null;
  readonly from: ApplicationStatus | null;
  readonly to: ApplicationStatus;
  /** For people. Never what an adopter or staff have written. */
  readonly why: string;
}

const insertion = `insert into application_history (client_id, key_id, person_id, by, application_id, order_id, from_status, to_status, why, act_id,
      undoes_act_id)
    select $1, $2, $3, $4, application_id, order_id, from_status, to_status, why, $10, $11
    from unnest($5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::text[])
      with ordinality as row (application_id, order_id, from_status, to_status, why, n) order by n`;

/** Inserts any number of rows with one statement, in the given order. */
export async function insertApplicationTransitions(
  tx: Transaction,
  { clientId, keyId, personId }: Author,
  by: ApplicationParty,
  transitions: readonly ApplicationTransition[],
): Promise<void> {
  await tx.query({
    name: personId === null ? 'insert-application-transitions' : 'insert-application-transitions-of-person',
    text:
      personId === null
        ? insertion
        : `with added as (${insertion} returning person_id, at, application_id, id)
      insert into person_history (person_id, at, application_id, application_history_id) select person_id, at, application_id, id from added`,
    values: [
      clientId,
      keyId,
      personId,
      by,
      transitions.map(({ id }) => id),
      transitions.map(({ orderId }) => orderId),
      transitions.map(({ from }) => from),
      transitions.map(({ to }) => to),
      transitions.map(({ why }) => why),
      ...actIdsOf(tx),
    ],
  });
}

/** Of an adopter with a client: how many applications are open, which requires the client's lock, and the one for this animal, which requires the animal's. */
export async function findOpenOfAdopter(
  tx: Transaction,
  { clientId, address, petId }: { clientId: bigint; address: string; petId: bigint },
): Promise<{ open: number; forPet: bigint | null }> {
  const { rows } = await tx.query<{ open: bigint; forPet: bigint | null }>({
    name: 'open-applications-of-adopter',
    text: `select count(*) as open, min(id) filter (where pet_id = $3) as "forPet" from applications
      where client_id = $1 and adopter_address = $2 and status in ('submitted', 'reviewing', 'accepted')`,
    values: [clientId, address, petId],
  });
  return { open: Number(rows[0]?.open ?? 0), forPet: rows[0]?.forPet ?? null };
}

/** Of an adopter with a client, up to `max`. Requires the client's lock. */
export async function countUnconfirmedOfAdopter(
  tx: Transaction,
  { clientId, address }: { clientId: bigint; address: string },
  max: number,
): Promise<number> {
  const { rows } = await tx.query<{ count: number }>({
    name: 'unconfirmed-applications-of-adopter',
    text: `select count(*)::int as count from (select from applications
      where client_id = $1 and adopter_address = $2 and status = 'unconfirmed' limit $3) as found`,
    values: [clientId, address, max],
  });
  return rows[0]?.count ?? 0;
}

/** A batch of applications that nobody has done anything about for `days`, oldest first. */
export async function selectUnanswered(db: Db, days: number, limit: number): Promise<Array<{ id: bigint; petId: bigint }>> {
  const { rows } = await db.query<{ id: bigint; petId: bigint }>({
    name: 'unanswered-applications',
    text: `select id, pet_id as "petId" from applications
      where status in ('submitted', 'reviewing') and acted_at <= now() - make_interval(days => $1) order by acted_at limit $2`,
    values: [days, limit],
  });
  return rows;
}

/** Of locked applications, those that nobody has done anything about for `days`. */
export async function lockUnanswered(tx: Transaction, ids: readonly bigint[], days: number): Promise<Application[]> {
  const { rows } = await tx.query<Application>({
    name: 'lock-unanswered-applications',
    text: `select ${columnsWithoutAnswers} from applications where id = any($1::bigint[])
      and status in ('submitted', 'reviewing') and acted_at <= now() - make_interval(days => $2) order by id for update`,
    values: [ids, days],
  });
  return rows;
}

/** Deletes a batch of applications that were not confirmed in time. They have no history. */
export async function deleteUnconfirmedRow(tx: Transaction, hours: number, limit: number): Promise<bigint[]> {
  const { rows } = await tx.query<{ id: bigint }>({
    name: 'delete-unconfirmed-applications',
    text: `with old as materialized (select id from applications where status = 'unconfirmed' and created_at <= now() - make_interval(hours => $1)
        order by created_at limit $2 for update skip locked)
      delete from applications where id in (select id from old) returning id`,
    values: [hours, limit],
  });
  return rows.map(({ id }) => id);
}
