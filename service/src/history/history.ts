import type { Transaction } from '../db/handles.ts';
import type { Actor } from '../domain/actor.ts';
import { insertTransitions, type Transition } from './history-queries.ts';

export type { Transition };

/** Written in the transaction of the change, once it has locked the animal's row: ids are then in the order of what happened. */
export async function recordTransitions(tx: Transaction, actor: Actor, ...transitions: Transition[]): Promise<void> {
  await insertTransitions(tx, actor, transitions);
}
