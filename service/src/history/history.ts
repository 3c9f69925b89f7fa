import type { Transaction } from '../db/handles.ts';
import type { Actor } from '../domain/actor.ts';
import { insertTransitions, type Transition } from './history-queries.ts';

export type { Transition };

/**
 * Records transitions in the transaction of the change, after it has locked the animal's row, so that ids are in chronological
 * order.
 */
export async function recordTransitions(tx: Transaction, actor: Actor, ...transitions: Transition[]): Promise<void> {
  await insertTransitions(tx, actor, transitions);
}
