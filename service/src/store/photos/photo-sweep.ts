import type { Transactor } from '../../platform/db/handles.ts';
import { requireMark } from './photo-mark.ts';
import { type FileName, type ListedFile, type PhotoStore, pictureName } from './photo-store.ts';
import {
  claimDeletion,
  deleteEndedDeletions,
  endDeletion,
  giveBackBytes,
  selectUnusedHashes,
  selectUsedOriginals,
} from './processing-queries.ts';

const batchSizeMax = 100;
const deletesAtOnceMax = 10;
const givenBackAtOnceMax = 1_000;
/** Files that are younger may belong to a photo that is just being added. */
const agesMin = 86_400_000;
/**
 * A claim on pictures outlasts every request that deletes one of them: the last begins after `deletingMsMax`, and a bucket has a
 * minute for it.
 */
const claimSeconds = 180;
const deletingMsMax = 60_000;

/**
 * Deletes the files that no photo refers to: of removed photos and animals, and what killed processes have left. Returns how many.
 *
 * The store of files may be slow, so no transaction is open while it deletes. A picture that is being deleted may be made again
 * meanwhile, for another photo. Therefore a sweep first claims the pictures that it will delete, and a worker first writes into the
 * row of its photo which pictures that will have; a lock makes one come before the other:
 * - If the worker comes first, the sweep sees the row and leaves the pictures.
 * - If the sweep comes first, the worker sees the claim, and makes the pictures later, when they are deleted.
 * - A sweep that is killed leaves its claim, which ends by itself, and which the next sweep forgets.
 *
 * The bytes of removed photos count for their clients until a whole sweep after that day is done. What another sweep has claimed at that
 * time is deleted by that one, or by the next.
 */
export async function sweepFiles(db: Transactor, store: PhotoStore, ageMsMin = agesMin): Promise<number> {
  await requireMark(db, store);
  await deleteEndedDeletions(db);
  const before = new Date(Date.now() - ageMsMin);
  let deleted = 0;
  let isWhole = true;
  for await (const names of oldFiles(store.list('originals'), before)) {
    const used = await selectUsedOriginals(db, names);
    deleted += await deleteFiles(
      store,
      names.filter((name) => !used.has(name)),
    );
  }
  for await (const names of oldFiles(store.list('photos'), before)) {
    const { count, left } = await deletePictures(db, store, names.flatMap(hashOf));
    deleted += count;
    if (left > 0) isWhole = false;
  }
  if (isWhole) await giveBackAll(db, before);
  return deleted;
}

async function giveBackAll(db: Transactor, removedBefore: Date): Promise<void> {
  let count = givenBackAtOnceMax;
  while (count === givenBackAtOnceMax) count = await db.transaction((tx) => giveBackBytes(tx, removedBefore, givenBackAtOnceMax));
}

/** `left`: how many there was no time for. */
async function deletePictures(db: Transactor, store: PhotoStore, hashes: readonly string[]): Promise<{ count: number; left: number }> {
  // Without the lock first: most pictures are in use.
  const unused = await selectUnusedHashes(db, hashes);
  if (unused.length === 0) return { count: 0, left: 0 };
  const startedAtMs = performance.now();
  const deletion = await db.transaction((tx) => claimDeletion(tx, unused, claimSeconds));
  if (!deletion) return { count: 0, left: 0 };
  const count = await deleteFiles(store, deletion.hashes.map(pictureName), startedAtMs + deletingMsMax);
  // After an error the claim stays, since some requests may still be under way.
  await endDeletion(db, deletion);
  return { count, left: deletion.hashes.length - count };
}

/** What is not deleted by `untilMs` is left to the next sweep. */
async function deleteFiles(store: PhotoStore, names: readonly FileName[], untilMs = Number.POSITIVE_INFINITY): Promise<number> {
  let deleted = 0;
  while (deleted < names.length && performance.now() < untilMs) {
    const batch = names.slice(deleted, deleted + deletesAtOnceMax);
    await Promise.all(batch.map((name) => store.delete(name)));
    deleted += batch.length;
  }
  return deleted;
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

/** None for a file that is no picture: someone else has put it there. */
const hashOf = (name: FileName): string[] => /^photos\/([0-9a-f]{64})\.webp$/.exec(name)?.slice(1) ?? [];
