import type { Visibility } from '../../domain/actor.ts';
import { type OrderStatus, orderActions, placing } from '../../domain/order-states.ts';
import type { Db } from '../../platform/db/handles.ts';
import { orderColumns } from './order-queries.ts';
import type { Order } from './order-schemas.ts';

/** Whose orders staff see: those for the animals of every shelter, or of one. */
export type OrdersOf = Extract<Visibility, 'all'> | bigint;

/** With what staff call the animal and its shelter. */
export interface ListedOrder extends Order {
  readonly pet: string;
  readonly shelterId: bigint;
  readonly shelter: string;
  /** Of the shelter. Null: it has none. */
  readonly timezone: string | null;
}

export interface OrdersPage {
  readonly statuses: readonly OrderStatus[];
  /** Undefined: of every animal. */
  readonly petId?: bigint | undefined;
  /** The order that the page begins after. */
  readonly cursor: bigint | undefined;
  readonly limit: number;
  readonly isNewestFirst?: boolean;
}

const idMax = 9_223_372_036_854_775_807n;
/** An animal has few orders. */
const fewMax = 1_000;

/** One keyset page, read from an index for each status: a list costs as much at its front as far behind. */
export async function selectListedOrders(
  db: Db,
  ordersOf: OrdersOf,
  { statuses, petId, cursor, limit, isNewestFirst = false }: OrdersPage,
): Promise<ListedOrder[]> {
  const [way, after, until] = isNewestFirst ? ['desc', '<', '>='] : ['asc', '>', '<='];
  const values: unknown[] = [cursor ?? (isNewestFirst ? idMax : 0n), limit, statuses];
  const { where, by } = ofShelter(ordersOf, values);
  const page =
    petId === undefined
      ? `select found.id from unnest($3::order_status[]) as wanted (status), lateral (select id from orders
          where ${where} (status, id) ${after} (wanted.status, $1) and status ${until} wanted.status
          order by ${by} status ${way}, id ${way} limit $2) as found`
      : `select id from (select id from orders where ${where} pet_id = $${values.push(petId)} and status = any($3::order_status[])
          limit ${fewMax}) as found where id ${after} $1`;
  const { rows } = await db.query<ListedOrder>({
    text: `with page as materialized (${page} order by id ${way} limit $2)
      select ${named('select id from page')} order by listed.id ${way}`,
    values,
  });
  return rows;
}

/** Those of them that are of these staff, newest first. */
export async function selectOrdersById(db: Db, ordersOf: OrdersOf, ids: readonly bigint[]): Promise<ListedOrder[]> {
  const values: unknown[] = [ids];
  const { where } = ofShelter(ordersOf, values);
  const { rows } = await db.query<ListedOrder>({
    text: `select ${named(`select id from orders where ${where} id = any($1::bigint[])`)} order by listed.id desc`,
    values,
  });
  return rows;
}

/** How many there are of each status, at most `max` of each. */
export async function countListedOrders(
  db: Db,
  ordersOf: OrdersOf,
  statuses: readonly OrderStatus[],
  max: number,
): Promise<ReadonlyMap<OrderStatus, number>> {
  const values: unknown[] = [statuses, max];
  const { where, by } = ofShelter(ordersOf, values);
  const { rows } = await db.query<{ status: OrderStatus; count: number }>({
    text: `select wanted.status, (select count(*)::int from (select from orders
        where ${where} (status, id) > (wanted.status, 0) and status <= wanted.status order by ${by} status, id limit $2) as found) as count
      from unnest($1::order_status[]) as wanted (status)`,
    values,
  });
  return new Map(rows.map(({ status, count }) => [status, count]));
}

/** Undefined: there is none of these staff. */
export async function findListedOrder(db: Db, ordersOf: OrdersOf, id: bigint): Promise<ListedOrder | undefined> {
  const values: unknown[] = [id];
  const { where } = ofShelter(ordersOf, values);
  const { rows } = await db.query<ListedOrder>({ text: `select ${named(`select id from orders where ${where} id = $1`)}`, values });
  return rows[0];
}

/** Orders that wait to be approved, the next to expire first. */
export async function selectUnapprovedOrders(db: Db, ordersOf: OrdersOf, limit: number): Promise<ListedOrder[]> {
  const values: unknown[] = [limit, placing.to];
  const { where, by } = ofShelter(ordersOf, values);
  const { rows } = await db.query<ListedOrder>({
    text: `with waiting as materialized (select id, expires_at from orders
        where ${where} (status, id) > ($2::order_status, 0) and status <= $2::order_status order by ${by} status, id limit ${fewMax})
      select ${named('select id from waiting where expires_at > now() order by expires_at limit $1')} order by "expiresAt", listed.id`,
    values,
  });
  return rows;
}

/** Animals that were promised to somebody `days` ago and are still there, the first first. */
export async function selectOldPromises(db: Db, ordersOf: OrdersOf, days: number, limit: number): Promise<ListedOrder[]> {
  const values: unknown[] = [limit, days, orderActions.approve.to];
  const { where, by } = ofShelter(ordersOf, values);
  const { rows } = await db.query<ListedOrder>({
    text: `with promised as materialized (select id, updated_at from orders
        where ${where} (status, id) > ($3::order_status, 0) and status <= $3::order_status order by ${by} status, id limit ${fewMax})
      select ${named('select id from promised where updated_at <= now() - make_interval(days => $2) order by updated_at limit $1')}
        order by "updatedAt", listed.id`,
    values,
  });
  return rows;
}

/** Each row in look-ups of its own: a join might read whole tables. */
const named = (ids: string) => `listed.*, (select name from pets where pets.id = listed."petId") as pet,
    (select name from shelters where shelters.id = listed."shelterId") as shelter,
    (select timezone from shelters where shelters.id = listed."shelterId") as timezone
  from (${ids}) as wanted
    cross join lateral (select ${orderColumns}, shelter_id as "shelterId" from orders where orders.id = wanted.id offset 0) as listed`;

/** Conditions that go on, and the columns before the status in the index. */
function ofShelter(ordersOf: OrdersOf, values: unknown[]): { where: string; by: string } {
  if (ordersOf === 'all') return { where: '', by: '' };
  return { where: `shelter_id = $${values.push(ordersOf)}::bigint and`, by: 'shelter_id,' };
}

/** A step in the life of an order, with the name of who took it. */
export interface OrderMoment {
  readonly at: Date;
  readonly to: OrderStatus;
  /** Who did it in the console. Null: a program, a command, or the service. */
  readonly personId: bigint | null;
  readonly person: string | null;
  /** Where the person works. Null: for the store. */
  readonly personShelterId: bigint | null;
  readonly isProgram: boolean;
}

/** The last `limit` ones, newest first. Those of the animal are read: an order has no index of its own. */
export async function selectOrderMoments(db: Db, { id, petId }: Pick<Order, 'id' | 'petId'>, limit: number): Promise<OrderMoment[]> {
  const { rows } = await db.query<OrderMoment>({
    name: 'moments-of-order',
    text: `select at, to_status as "to", person_id as "personId", people.name as person,
        people.shelter_id as "personShelterId", key_id is not null as "isProgram"
      from history left join people on people.id = person_id
      where pet_id = $1 and order_id = $2 order by history.id desc limit $3`,
    values: [petId, id, limit],
  });
  return rows;
}
