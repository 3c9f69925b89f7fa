import { type Author, theService } from '../../domain/actor.ts';
import type { Db, Transaction, Transactor } from '../../platform/db/handles.ts';
import { int64Max } from '../../platform/db/int64.ts';
import {
  insertTransitions,
  makePartitions,
  type PastAct,
  selectActsOfPet,
  selectRecentTransactions,
  type Transition,
} from './history-queries.ts';

export type { Transition };

/**
 * Records transitions in the transaction of the change, after it has locked the animal's row, so that ids are in chronological
 * order.
 */
export async function recordTransitions(tx: Transaction, author: Author, ...transitions: Transition[]): Promise<void> {
  await insertTransitions(tx, author, transitions);
}

/** More transitions of one animal don't fit into the two seconds for which a cached page is used. */
const recentMax = 1_000;

/** The transactions that have changed a locked animal within the last minute. */
export async function findRecentTransactions(tx: Transaction, petId: bigint): Promise<string[]> {
  return selectRecentTransactions(tx, petId, recentMax);
}

/** Creates the partitions of the coming months, three ahead. Returns how many. None is ever dropped. */
export const makeHistoryPartitions = (db: Transactor): Promise<number> => db.transaction(makePartitions, theService);

export type { PastAct } from './history-queries.ts';

/** What was done with an animal and with the orders for it, the newest first. Nothing of it is about an adopter. */
export const listActsOfPet = (
  db: Db,
  petId: bigint,
  { beforeId = int64Max, limit }: { readonly beforeId?: bigint | undefined; readonly limit: number },
): Promise<PastAct[]> => selectActsOfPet(db, petId, { beforeId, limit });
