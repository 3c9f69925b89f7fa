import { theService } from '../../domain/actor.ts';
import type { Db, Transaction, Transactor } from '../../platform/db/handles.ts';
import { type ChangedText, deleteEndedTexts, findHoldNote, type HoldNote, insertTexts, selectTexts } from './text-queries.ts';

export type { ChangedText, HoldNote };
export { findHoldNote };

/** Of an animal; each may be as long as a description, before and after. */
const textsMax = 20;

/** Records what has changed in texts with the last transition of a locked animal. What is the same is left out. */
export async function recordTexts(tx: Transaction, petId: bigint, texts: readonly ChangedText[]): Promise<void> {
  const changed = texts.filter(({ before, after }) => before !== after);
  if (changed.length > 0) await insertTexts(tx, petId, changed, textsMax);
}

/** By the row of the history. Those of another shelter are left out, unless people of the store read them. */
export async function listTexts(
  db: Db,
  petId: bigint,
  historyIds: readonly bigint[],
  shelterId: bigint | null,
): Promise<ReadonlyMap<bigint, readonly ChangedText[]>> {
  return Map.groupBy(await selectTexts(db, petId, historyIds, shelterId), ({ historyId }) => historyId);
}

/** A batch of those of animals that have left 30 days ago. Returns how many. */
export const deleteTextsOfLeftAnimals = (db: Transactor, batchSizeMax: number): Promise<number> =>
  db.transaction((tx) => deleteEndedTexts(tx, batchSizeMax), theService);
