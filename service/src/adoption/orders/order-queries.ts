import type { Visibility } from '../../domain/actor.ts';
import { type OrderStatus, openOrderStatuses, orderActions, placing, reservingOrderStatuses } from '../../domain/order-states.ts';
import type { AdvisoryLock, Db, Transaction } from '../../platform/db/handles.ts';
import type { NewAdopter, Order } from './order-schemas.ts';

/** Literals, so that the indexes of open orders fit. */
const isOpen = `status in (${openOrderStatuses.map((status) => `'${status}'`).join(', ')})`;
const expired = orderActions.expire.to;
// An overdue order is shown as expired, even if the worker has not expired it yet.
const overdue = `(status = '${placing.to}' and expires_at <= now())`;
const columns = `id, pet_id as "petId", case when ${overdue} then '${expired}' else status end as status,
  case when adopter_name is null then null else json_build_object('name', adopter_name, 'email', adopter_email) end as adopter,
  created_at as "createdAt", case when ${overdue} then expires_at else updated_at end as "updatedAt", expires_at as "expiresAt",
  application_id as "applicationId"`;

/** One keyset page. Each combination of filters is a separate prepared statement. */
export async function selectOrders(
  db: Db,
  visibility: Visibility,
  filter: OrderFilter,
  page: { afterId: bigint | undefined; limit: number },
): Promise<Order[]> {
  const { name, filters, values } = pageConditions(filter, page);
  if (visibility === 'all') {
    const text = `select ${columns} from orders where id > $1 ${filters} order by id limit $2`;
    return (await db.query<Order>({ name, text, values })).rows;
  }
  const { clientId, shelterId } = visibility;
  const client = `$${values.push(clientId)}`;
  if (shelterId === null) {
    const text = `select ${columns} from orders where id > $1 and client_id = ${client} ${filters} order by id limit $2`;
    return (await db.query<Order>({ name: `${name}-of-client`, text, values })).rows;
  }
  const shelter = `$${values.push(shelterId)}`;
  // Two pages, each from its own index. With "or" in one condition, or with an equation, the planner might read the orders of others;
  // only the index that begins with the column fits a comparison of rows.
  const idsOf = (column: string, value: string) => `(select id from orders
    where (${column}, id) > (${value}, $1) and (${column}) <= (${value}) ${filters} order by ${column}, id limit $2)`;
  const text = `with page as materialized (${idsOf('client_id', client)} union ${idsOf('shelter_id', shelter)} order by id limit $2)
    select ${columns} from orders where id in (select id from page) order by id`;
  return (await db.query<Order>({ name: `${name}-of-client-and-shelter`, text, values })).rows;
}

/** An order with the names of its animal and its client, for staff. */
export interface NamedOrder extends Order {
  readonly pet: string;
  readonly clientId: bigint;
  readonly client: string;
}

/** The same page for staff. The animal may have been removed since. */
export async function selectNamedOrders(db: Db, filter: OrderFilter, page: { afterId: bigint; limit: number }): Promise<NamedOrder[]> {
  const { filters, values } = pageConditions(filter, page);
  const { rows } = await db.query<NamedOrder>({ text: withNames(`id > $1 ${filters} order by id limit $2`), values });
  return rows;
}

export async function findNamedOrder(db: Db, id: bigint): Promise<NamedOrder | undefined> {
  const { rows } = await db.query<NamedOrder>({ text: withNames('id = $1'), values: [id] });
  return rows[0];
}

/** Finds orders first, and then the names for those only. */
const withNames = (conditions: string) => `select found.*, pets.name as pet, clients.name as client
  from (select ${columns}, client_id as "clientId" from orders where ${conditions}) as found
    join pets on pets.id = "petId" join clients on clients.id = "clientId" order by found.id`;

interface OrderFilter {
  readonly status: OrderStatus | undefined;
  readonly petId: bigint | undefined;
}

function pageConditions(filter: OrderFilter, page: { afterId: bigint | undefined; limit: number }) {
  const values: unknown[] = [page.afterId ?? 0n, page.limit];
  const conditions: string[] = [];
  const used = ['orders'];
  const where = (name: string, condition: string, value: unknown) => {
    conditions.push(` and ${condition.replace('?', `$${values.push(value)}`)}`);
    used.push(name);
  };
  if (filter.petId !== undefined) where('pet', 'pet_id = ?', filter.petId);
  if (filter.status === placing.to) where('placed', `status = ? and not ${overdue}`, placing.to);
  else if (filter.status === expired) where('expired', `(status = ? or ${overdue})`, expired);
  else if (filter.status) where('status', 'status = ?', filter.status);
  return { name: used.join('-by-'), filters: conditions.join(''), values };
}

export async function findOrder(db: Db, visibility: Visibility, id: bigint): Promise<Order | undefined> {
  const { rows } = await db.query<Order>({
    name: 'order',
    text: `select ${columns} from orders where id = $1 and ${isVisible('$2', '$3', '$4')}`,
    values: [id, ...visibilityValues(visibility)],
  });
  return rows[0];
}

/**
 * Serializes the placing of orders of a client, so that the count of open orders is exact. The name contains a blank, which an
 * Idempotency-Key can't, since those are locked in the same way.
 */
export const openOrdersLock = (clientId: bigint): AdvisoryLock => ({ name: 'open orders', of: clientId });

export interface OrderBounds {
  readonly openOrders: number;
  readonly openOrdersOfAdopter: number;
}

/** Counts open orders up to the limits only, since a client may have many. */
const openOrdersOf = (clientLimit: string, adopterLimit: string) => {
  const ofClient = `from orders where client_id = $1 and ${isOpen}`;
  return `select (select count(*) from (select ${ofClient} limit ${clientLimit}) as first) as of_client,
    (select count(*) from (select ${ofClient} and lower(adopter_email) = lower($2) limit ${adopterLimit}) as first) as of_adopter`;
};

/** Requires openOrdersLock. Undefined if the client, or the adopter with this client, has the maximum number of open orders. */
export async function insertOrder(
  tx: Transaction,
  order: { clientId: bigint; petId: bigint; adopter: NewAdopter; expiresInSeconds: number },
  bounds: OrderBounds,
): Promise<Order | undefined> {
  const { rows } = await tx.query<Order>({
    name: 'insert-order',
    text: `with open as (${openOrdersOf('$6', '$7')})
      insert into orders (client_id, pet_id, adopter_name, adopter_email, expires_at)
      select $1, $4, $3, $2, now() + make_interval(secs => $5) from open where of_client < $6 and of_adopter < $7 returning ${columns}`,
    values: [
      order.clientId,
      order.adopter.email,
      order.adopter.name,
      order.petId,
      order.expiresInSeconds,
      bounds.openOrders,
      bounds.openOrdersOfAdopter,
    ],
  });
  return rows[0];
}

/** An order that is approved from the start: staff have chosen the adopter. No bound counts it. */
export async function insertApprovedOrder(
  tx: Transaction,
  order: { clientId: bigint; petId: bigint; applicationId: bigint; adopter: NewAdopter; expiresInSeconds: number },
): Promise<Order> {
  const { rows } = await tx.query<Order>({
    name: 'insert-approved-order',
    text: `insert into orders (client_id, pet_id, application_id, adopter_name, adopter_email, expires_at, status)
      values ($1, $2, $3, $4, $5, now() + make_interval(secs => $6), $7) returning ${columns}`,
    values: [
      order.clientId,
      order.petId,
      order.applicationId,
      order.adopter.name,
      order.adopter.email,
      order.expiresInSeconds,
      orderActions.approve.to,
    ],
  });
  const [inserted] = rows;
  if (!inserted) throw new Error('an insert returned no row');
  return inserted;
}

export async function countOpenOrders(tx: Transaction, clientId: bigint, email: string): Promise<{ ofClient: number; ofAdopter: number }> {
  const { rows } = await tx.query<{ of_client: bigint; of_adopter: bigint }>({
    name: 'count-open-orders',
    text: openOrdersOf('all', 'all'),
    values: [clientId, email],
  });
  return { ofClient: Number(rows[0]?.of_client ?? 0), ofAdopter: Number(rows[0]?.of_adopter ?? 0) };
}

/** Ids of open orders after an id: of a client, of an e-mail address, or of both. */
export async function selectOpenOrderIds(
  db: Db,
  whose: { clientId: bigint | undefined; email: string | undefined; shelterId?: bigint | null },
  page: { afterId: bigint; limit: number },
): Promise<bigint[]> {
  const { rows } = await db.query<{ id: bigint }>({
    // Materialized, so that the index on the client or the address is used. Otherwise the planner may scan the primary key in order
    // of id.
    text: `with found as materialized (select id from orders where ${isOpen}
        and ($1::bigint is null or client_id = $1) and ($2::text is null or lower(adopter_email) = lower($2))
        and ($5::bigint is null or shelter_id = $5))
      select id from found where id > $3 order by id limit $4`,
    values: [whose.clientId ?? null, whose.email ?? null, page.afterId, page.limit, whose.shelterId ?? null],
  });
  return rows.map(({ id }) => id);
}

/**
 * Changes the status of an order if it has one of the statuses `from`. Undefined if it has another, is overdue, or is not visible.
 */
export async function moveOrder(
  tx: Transaction,
  visibility: Visibility,
  id: bigint,
  from: readonly OrderStatus[],
  to: OrderStatus,
): Promise<(Order & { from: OrderStatus; clientId: bigint }) | undefined> {
  const { rows } = await tx.query<Order & { from: OrderStatus; clientId: bigint }>({
    name: 'move-order',
    text: `with old as (
        select id, status from orders where id = $1 and ${isVisible('$4', '$5', '$6')}
          and status = any($2::order_status[]) and (status <> '${placing.to}' or expires_at > clock_timestamp()) for update),
      moved as (update orders set status = $3, updated_at = now() where id = (select id from old) returning ${columns}, client_id as "clientId")
      select moved.*, old.status as "from" from moved join old using (id)`,
    values: [id, from, to, ...visibilityValues(visibility)],
  });
  return rows[0];
}

/** Fails at once if another transaction has locked one of them. */
export async function lockOrdersOfPetAtOnce(tx: Transaction, petId: bigint): Promise<void> {
  await tx.query({ text: 'select from orders where pet_id = $1 for no key update nowait', values: [petId] });
}

/** The open order of an animal. Requires the animal's lock: placing or closing an order needs that lock too. */
export async function findOpenOrder(tx: Transaction, petId: bigint): Promise<bigint | undefined> {
  const { rows } = await tx.query<{ id: bigint }>({
    name: 'open-order-of-pet',
    text: 'select id from orders where pet_id = $1 and status = any($2::order_status[])',
    values: [petId, openOrderStatuses],
  });
  return rows[0]?.id;
}

/** Which of some animals have an open order. Requires their locks. */
export async function findOrderedPets(tx: Transaction, petIds: readonly bigint[]): Promise<bigint[]> {
  const { rows } = await tx.query<{ id: bigint }>({
    name: 'ordered-pets',
    text: `select pet_id as id from orders where pet_id = any($1::bigint[]) and ${isOpen}`,
    values: [petIds],
  });
  return rows.map(({ id }) => id);
}

/** The open orders of animals, by the animal's id. Without a lock, for display. */
export async function findOpenOrdersOfPets(db: Db, petIds: readonly bigint[]): Promise<Map<bigint, bigint>> {
  const { rows } = await db.query<{ id: bigint; petId: bigint }>({
    text: `select id, pet_id as "petId" from orders where pet_id = any($1::bigint[]) and ${isOpen} and not ${overdue}`,
    values: [petIds],
  });
  return new Map(rows.map(({ id, petId }) => [petId, id]));
}

/** Whether another order has reserved or sold the animal. */
export async function isReservedByAnotherOrder(tx: Transaction, petId: bigint, orderId: bigint): Promise<boolean> {
  const { rows } = await tx.query<{ reserved: boolean }>({
    name: 'reserved-by-another-order',
    text: `select exists (select from orders where pet_id = $1 and id <> $2 and status = any($3::order_status[])) as reserved`,
    values: [petId, orderId, reservingOrderStatuses],
  });
  return rows[0]?.reserved ?? false;
}

/**
 * Expires a batch of overdue orders, and skips those that another transaction has locked. Readers see the same order before and
 * after.
 */
export async function expireOrders(tx: Transaction, batchSizeMax: number): Promise<Array<{ order: Order; clientId: bigint }>> {
  const { rows } = await tx.query<Order & { clientId: bigint }>({
    name: 'expire-orders',
    text: `with due as materialized (
        select id from orders where ${overdue} order by expires_at limit $1 for update skip locked)
      update orders set status = '${expired}', updated_at = expires_at where id in (select id from due)
        returning ${columns}, client_id as "clientId"`,
    values: [batchSizeMax],
  });
  return rows.sort((a, b) => (a.petId < b.petId ? -1 : 1)).map(({ clientId, ...order }) => ({ order, clientId }));
}

/** Whether there is an overdue order. */
export async function isAnyOrderDue(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ due: boolean }>({
    name: 'any-order-due',
    text: `select exists (select from orders where ${overdue}) as due`,
  });
  return rows[0]?.due ?? false;
}

/** An order from which the adopter is erased. */
export interface OrderToErase {
  readonly id: bigint;
  readonly petId: bigint;
}

async function lockToErase(tx: Transaction, conditions: string, values: readonly unknown[]): Promise<OrderToErase[]> {
  const text = `select id, pet_id as "petId" from orders where ${conditions}`;
  return (await tx.query<OrderToErase>({ text, values: [...values] })).rows;
}

/**
 * Locks orders with this e-mail address (compared case-insensitively) that are not open. In order of id, as others lock several; the sum
 * keeps the planner from reading the primary key in that order.
 */
export const lockClosedOrdersOfAdopter = (
  tx: Transaction,
  { email, shelterId }: { readonly email: string; readonly shelterId: bigint | null },
  limit: number,
): Promise<OrderToErase[]> =>
  lockToErase(
    tx,
    `lower(adopter_email) = lower($1) and ($3::bigint is null or shelter_id = $3) and not ${isOpen} order by id + 0 limit $2 for update`,
    [email, limit, shelterId],
  );

/** Locks the orders that were placed for an application, one after another. */
export const lockOrdersOfApplication = (tx: Transaction, { id, petId }: { id: bigint; petId: bigint }): Promise<OrderToErase[]> =>
  lockToErase(tx, 'pet_id = $1 and application_id = $2 order by id for update', [petId, id]);

/**
 * Locks orders that reached this status more than `retentionDays` ago, oldest first, and skips those that another transaction has
 * locked. One status at a time: for two, the index could not provide the order, and each batch would read and sort all due orders.
 */
export const lockOrdersToErase = (tx: Transaction, status: OrderStatus, retentionDays: number, limit: number): Promise<OrderToErase[]> =>
  lockToErase(
    tx,
    `status = $1 and adopter_email is not null and updated_at <= now() - make_interval(days => $2)
      order by updated_at limit $3 for update skip locked`,
    [status, retentionDays, limit],
  );

export const lockOrderToErase = async (tx: Transaction, id: bigint): Promise<OrderToErase | undefined> =>
  (await lockToErase(tx, 'id = $1 for update', [id]))[0];

/** Locks those of the orders that were placed before `at`, with a minute of tolerance for clock skew. */
export const lockOrdersFromBefore = (tx: Transaction, ids: readonly bigint[], at: Date): Promise<OrderToErase[]> =>
  lockToErase(tx, `id = any($1::bigint[]) and created_at <= $2::timestamptz + interval '1 minute' order by id for update`, [ids, at]);

/** Returns the orders from which an adopter was erased. */
export async function eraseAdopters(tx: Transaction, ids: readonly bigint[]): Promise<Array<{ order: Order; clientId: bigint }>> {
  const { rows } = await tx.query<Order & { clientId: bigint }>({
    text: `update orders set adopter_name = null, adopter_email = null where id = any($1::bigint[]) and adopter_email is not null
      returning ${columns}, client_id as "clientId"`,
    values: [ids],
  });
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1)).map(({ clientId, ...order }) => ({ order, clientId }));
}

/** A parameter that is null matches nothing. */
const isVisible = (all: string, clientId: string, shelterId: string) =>
  `(${all}::boolean or client_id = ${clientId}::bigint or shelter_id = ${shelterId}::bigint)`;

const visibilityValues = (visibility: Visibility) =>
  visibility === 'all' ? [true, null, null] : [false, visibility.clientId, visibility.shelterId];

export { columns as orderColumns };
