import type { Transactor } from '../db/handles.ts';
import type { FileName, ListedFile, PhotoStore } from './photo-store.ts';
import { lockOutWorkers, selectUsedHashes, selectUsedOriginals } from './processing-queries.ts';

const batchSizeMax = 100;
/** Files that are younger may belong to a photo that is just being added. */
const agesMin = 86_400_000;

/**
 * Deletes the files that no photo refers to: of removed photos and animals, and what killed processes have left. Returns how many.
 *
 * A picture that is about to be deleted may be made again meanwhile, for another photo. Therefore both sides take a lock: the sweep from
 * reading which files are in use until it has deleted the others, a worker while it writes into the row of the photo which files it
 * will have. The worker comes either first, and the sweep leaves its files; or last, and it writes its files after the deletion.
 */
export async function sweepFiles(db: Transactor, store: PhotoStore, ageMsMin = agesMin): Promise<number> {
  const before = new Date(Date.now() - ageMsMin);
  let deleted = 0;
  for await (const names of oldFiles(store.list('originals'), before)) {
    const used = await selectUsedOriginals(db, names);
    deleted += await deleteAll(store, names, (name) => used.has(name));
  }
  for await (const names of oldFiles(store.list('photos'), before)) {
    deleted += await db.transaction(async (tx) => {
      await lockOutWorkers(tx);
      const used = await selectUsedHashes(tx, names.map(hashOf));
      return deleteAll(store, names, (name) => used.has(hashOf(name)));
    });
  }
  return deleted;
}

async function deleteAll(store: PhotoStore, names: readonly FileName[], isUsed: (name: FileName) => boolean): Promise<number> {
  const unused = names.filter((name) => !isUsed(name));
  for (const name of unused) await store.delete(name);
  return unused.length;
}

async function* oldFiles(files: AsyncIterable<ListedFile>, before: Date): AsyncIterable<FileName[]> {
  let batch: FileName[] = [];
  for await (const { name, modifiedAt } of files) {
    if (modifiedAt < before) batch.push(name);
    if (batch.length < batchSizeMax) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

const hashOf = (name: FileName): string => name.slice('photos/'.length, -'.webp'.length);
