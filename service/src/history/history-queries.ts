import type { Db } from '../db/pool.ts';

/** Who changes something: a client by one of its keys, or the service itself. */
export interface Actor {
  readonly clientId: bigint | null;
  readonly keyId: bigint | null;
}

export interface Transition {
  readonly petId: bigint;
  /** Null: a transition of the animal. */
  readonly orderId: bigint | null;
  readonly from: string | null;
  readonly to: string;
  readonly why: string;
}

/** One statement for any number, in the order given. */
export async function insertTransitions(tx: Db, actor: Actor, transitions: readonly Transition[]): Promise<void> {
  await tx.query({
    name: 'insert-transitions',
    text: `insert into history (client_id, key_id, pet_id, order_id, from_status, to_status, why)
      select $1, $2, pet_id, order_id, from_status, to_status, why
      from unnest($3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[])
        with ordinality as row (pet_id, order_id, from_status, to_status, why, n) order by n`,
    values: [
      actor.clientId,
      actor.keyId,
      transitions.map(({ petId }) => petId),
      transitions.map(({ orderId }) => orderId),
      transitions.map(({ from }) => from),
      transitions.map(({ to }) => to),
      transitions.map(({ why }) => why),
    ],
  });
}

/** A row of history as it is replayed. */
export interface HistoryRow {
  readonly id: bigint;
  readonly petId: bigint;
  readonly orderId: bigint | null;
  readonly from: string | null;
  readonly to: string;
}

export interface PetState {
  readonly id: bigint;
  readonly status: string;
}

export interface OrderState extends PetState {
  readonly petId: bigint;
}

/** Animals in order of id, after `afterId`. */
export async function selectPetStates(tx: Db, afterId: bigint, limit: number): Promise<PetState[]> {
  const { rows } = await tx.query<PetState>({
    name: 'verify-pets',
    text: `select id, case when removed_at is null then status::text else 'removed' end as status from pets where id > $1 order by id limit $2`,
    values: [afterId, limit],
  });
  return rows;
}

/** The orders of a range of animals, by animal. */
export async function selectOrderStates(tx: Db, afterPetId: bigint, lastPetId: bigint): Promise<OrderState[]> {
  const { rows } = await tx.query<OrderState>({
    name: 'verify-orders',
    text: 'select id, pet_id as "petId", status from orders where pet_id > $1 and pet_id <= $2 order by pet_id, id',
    values: [afterPetId, lastPetId],
  });
  return rows;
}

/** The history of a range of animals, by animal and in the order of what happened, from after one row on. */
export async function selectHistory(tx: Db, after: { petId: bigint; id: bigint }, lastPetId: bigint, limit: number): Promise<HistoryRow[]> {
  const { rows } = await tx.query<HistoryRow>({
    name: 'verify-history',
    text: `select id, pet_id as "petId", order_id as "orderId", from_status as "from", to_status as "to"
      from history where (pet_id, id) > ($1, $2) and pet_id <= $3 order by pet_id, id limit $4`,
    values: [after.petId, after.id, lastPetId, limit],
  });
  return rows;
}

/** Where a progress bar ends. */
export async function readLastPetId(db: Db): Promise<bigint> {
  const { rows } = await db.query<{ last: bigint | null }>({ text: 'select max(id) as last from pets' });
  return rows[0]?.last ?? 0n;
}
