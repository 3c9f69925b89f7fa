import type { Db } from '../db/pool.ts';
import type { Adopter, Order } from './order-schemas.ts';
import { holdingOrderStatuses, type OrderStatus } from './order-states.ts';

/** Whose orders may be seen: one client's, or all. */
export type Sight = { readonly clientId: bigint } | 'all';

// A placed order reads as expired from the instant on, whether or not the worker has come by.
const overdue = `(status = 'placed' and expires_at <= now())`;
const columns = `id, pet_id as "petId", case when ${overdue} then 'expired' else status end as status,
  case when adopter_name is null then null else json_build_object('name', adopter_name, 'email', adopter_email) end as adopter,
  created_at as "createdAt", case when ${overdue} then expires_at else updated_at end as "updatedAt", expires_at as "expiresAt"`;

/** One keyset page. Each combination of filters is a statement of its own. */
export async function selectOrders(
  db: Db,
  sight: Sight,
  filter: { status: OrderStatus | undefined; petId: bigint | undefined },
  page: { afterId: bigint | undefined; limit: number },
): Promise<Order[]> {
  const values: unknown[] = [page.afterId ?? 0n, page.limit];
  const conditions = ['id > $1'];
  const used = ['orders'];
  const where = (name: string, condition: string, value: unknown) => {
    conditions.push(condition.replace('?', `$${values.push(value)}`));
    used.push(name);
  };
  if (sight !== 'all') where('client', 'client_id = ?', sight.clientId);
  if (filter.petId !== undefined) where('pet', 'pet_id = ?', filter.petId);
  if (filter.status === 'placed') where('placed', `status = ? and not ${overdue}`, 'placed');
  else if (filter.status === 'expired') where('expired', `(status = ? or ${overdue})`, 'expired');
  else if (filter.status) where('status', 'status = ?', filter.status);
  const text = `select ${columns} from orders where ${conditions.join(' and ')} order by id limit $2`;
  const { rows } = await db.query<Order>({ name: used.join('-by-'), text, values });
  return rows;
}

export async function findOrder(db: Db, sight: Sight, id: bigint): Promise<Order | undefined> {
  const { rows } = await db.query<Order>({
    name: 'order',
    text: `select ${columns} from orders where id = $1 and ($2::bigint is null or client_id = $2)`,
    values: [id, clientOf(sight)],
  });
  return rows[0];
}

export async function insertOrder(
  tx: Db,
  order: { clientId: bigint; petId: bigint; adopter: Adopter; expiresInSeconds: number },
): Promise<Order> {
  const { rows } = await tx.query<Order>({
    name: 'insert-order',
    text: `insert into orders (client_id, pet_id, adopter_name, adopter_email, expires_at)
      values ($1, $2, $3, $4, now() + make_interval(secs => $5)) returning ${columns}`,
    values: [order.clientId, order.petId, order.adopter.name, order.adopter.email, order.expiresInSeconds],
  });
  const [inserted] = rows;
  if (!inserted) throw new Error('an insert returned no row');
  return inserted;
}

/** Moves an order on only from where it may be. Undefined: it is elsewhere, overdue, or not in sight. */
export async function moveOrder(
  tx: Db,
  sight: Sight,
  id: bigint,
  from: readonly OrderStatus[],
  to: OrderStatus,
): Promise<(Order & { from: OrderStatus; clientId: bigint }) | undefined> {
  const { rows } = await tx.query<Order & { from: OrderStatus; clientId: bigint }>({
    name: 'move-order',
    text: `with old as (
        select id, status from orders where id = $1 and ($2::bigint is null or client_id = $2)
          and status = any($3::order_status[]) and (status <> 'placed' or expires_at > clock_timestamp()) for update),
      moved as (update orders set status = $4, updated_at = now() where id = (select id from old) returning ${columns}, client_id as "clientId")
      select moved.*, old.status as "from" from moved join old using (id)`,
    values: [id, clientOf(sight), from, to],
  });
  return rows[0];
}

/** Whether an order other than this one promises or has sold the animal. */
export async function isHeldByAnotherOrder(tx: Db, petId: bigint, orderId: bigint): Promise<boolean> {
  const { rows } = await tx.query<{ held: boolean }>({
    name: 'held-by-another-order',
    text: `select exists (select from orders where pet_id = $1 and id <> $2 and status = any($3::order_status[])) as held`,
    values: [petId, orderId, holdingOrderStatuses],
  });
  return rows[0]?.held ?? false;
}

/** Locks and expires a batch of orders whose time is over, passing over those that someone else is at. They read the same before and after. */
export async function expireOrders(tx: Db, batchSizeMax: number): Promise<Array<{ order: Order; clientId: bigint }>> {
  const { rows } = await tx.query<Order & { clientId: bigint }>({
    name: 'expire-orders',
    text: `with due as materialized (
        select id from orders where status = 'placed' and expires_at <= now() order by expires_at limit $1 for update skip locked)
      update orders set status = 'expired', updated_at = expires_at where id in (select id from due)
        returning ${columns}, client_id as "clientId"`,
    values: [batchSizeMax],
  });
  return rows.sort((a, b) => (a.petId < b.petId ? -1 : 1)).map(({ clientId, ...order }) => ({ order, clientId }));
}

/** Whether `expireOrders` may find one. */
export async function isAnyOrderDue(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ due: boolean }>({
    name: 'any-order-due',
    text: `select exists (select from orders where status = 'placed' and expires_at <= now()) as due`,
  });
  return rows[0]?.due ?? false;
}

/** False where there is no such order. */
export async function eraseAdopter(tx: Db, id: bigint): Promise<boolean> {
  const { rowCount } = await tx.query({ text: 'update orders set adopter_name = null, adopter_email = null where id = $1', values: [id] });
  return rowCount === 1;
}

const clientOf = (sight: Sight) => (sight === 'all' ? null : sight.clientId);
