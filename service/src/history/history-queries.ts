import type { Transaction } from '../db/handles.ts';
import { recentTransactionOf } from '../db/recent-transactions.ts';
import type { Author } from '../domain/actor.ts';

export interface Transition {
  readonly petId: bigint;
  /** Null for a transition of the animal. */
  readonly orderId: bigint | null;
  readonly from: string | null;
  readonly to: string;
  readonly why: string;
}

/** Inserts any number of rows with one statement, in the given order. */
export async function insertTransitions(tx: Transaction, author: Author, transitions: readonly Transition[]): Promise<void> {
  await tx.query({
    name: 'insert-transitions',
    text: `insert into history (client_id, key_id, pet_id, order_id, from_status, to_status, why)
      select $1, $2, pet_id, order_id, from_status, to_status, why
      from unnest($3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[])
        with ordinality as row (pet_id, order_id, from_status, to_status, why, n) order by n`,
    values: [
      author.clientId,
      author.keyId,
      transitions.map(({ petId }) => petId),
      transitions.map(({ orderId }) => orderId),
      transitions.map(({ from }) => from),
      transitions.map(({ to }) => to),
      transitions.map(({ why }) => why),
    ],
  });
}

/** The transactions that have changed an animal itself within the last minute, of its last `limit` transitions. */
export async function selectRecentTransactions(tx: Transaction, petId: bigint, limit: number): Promise<string[]> {
  const { rows } = await tx.query<{ transactionId: string }>({
    name: 'recent-transactions',
    text: `select distinct "transactionId" from (
        select ${recentTransactionOf('history', 'at')} as "transactionId" from history
        where pet_id = $1 and order_id is null order by id desc limit $2) as last
      where "transactionId" is not null`,
    values: [petId, limit],
  });
  return rows.map(({ transactionId }) => transactionId);
}
