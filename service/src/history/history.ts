import type { Transaction } from '../db/handles.ts';
import type { Author } from '../domain/actor.ts';
import { insertTransitions, type ShelterMove, selectRecentTransactions, type Transition } from './history-queries.ts';

export type { ShelterMove, Transition };

/**
 * Records transitions in the transaction of the change, after it has locked the animal's row, so that ids are in chronological
 * order.
 */
export async function recordTransitions(tx: Transaction, author: Author, ...transitions: Transition[]): Promise<void> {
  await insertTransitions(tx, author, transitions);
}

/** The columns of a row that say whether it is about a move to another shelter. */
export interface MoveColumns {
  readonly kind: string | null;
  readonly fromShelterId: bigint | null;
  readonly toShelterId: bigint | null;
  readonly why: string;
}

/**
 * The move that a row records; undefined: the row is about something else. Rows from before there were kinds, and those of processes of
 * release 1.0.0, say it in words only.
 */
export function readMove({ kind, fromShelterId, toShelterId, why }: MoveColumns): ShelterMove | undefined {
  if (kind !== null) return fromShelterId !== null && toShelterId !== null ? { from: fromShelterId, to: toShelterId } : undefined;
  const [, from, to] = /^moved from shelter (\d+) to shelter (\d+)$/.exec(why) ?? [];
  return from === undefined || to === undefined ? undefined : { from: BigInt(from), to: BigInt(to) };
}

/** More transitions of one animal don't fit into the two seconds for which a cached page is used. */
const recentMax = 1_000;

/** The transactions that have changed a locked animal within the last minute. */
export async function findRecentTransactions(tx: Transaction, petId: bigint): Promise<string[]> {
  return selectRecentTransactions(tx, petId, recentMax);
}
