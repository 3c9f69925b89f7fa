import type { Db } from '../db/pool.ts';
import { type Actor, insertTransitions, type Transition } from './history-queries.ts';

export type { Actor, Transition };

export const theService: Actor = { clientId: null, keyId: null };

/** Written in the transaction of the change, once the animal's row is locked by it: the ids are then in the order of what happened. */
export async function recordTransitions(tx: Db, actor: Actor, ...transitions: Transition[]): Promise<void> {
  await insertTransitions(tx, actor, transitions);
}
