import { theService } from '../../domain/actor.ts';
import { type FileName, type PhotoStore, pictureName } from '../../images/photo-store.ts';
import type { ServiceDb } from '../../platform/db/handles.ts';
import {
  claimDeletion,
  claimRemoved,
  deleteEndedDeletions,
  endDeletion,
  giveBackBytes,
  isAnyLeft,
  selectUnusedHashes,
  selectUsedOriginals,
} from './deletion-queries.ts';
import { requireMark } from './photo-mark.ts';

const rowsAtOnceMax = 100;
/** Until then a page that was read before may still show them. */
export const removedSecondsMin = 86_400;
/**
 * A worker that is killed loses its rows after this time. A claim on pictures outlasts every request that deletes one of them: the last
 * begins after `deletingMsMax`, and a bucket has a minute for it.
 */
const claimSeconds = 180;
/** Later than a busy queue is. */
const lateSeconds = 3_600;

/**
 * Deletes the files of photos that were removed a day ago, and stops counting their bytes. Returns of how many removals. A trigger
 * records what a change of a photo leaves behind, in the same transaction, so this lists no files, and costs what was removed.
 *
 * Several workers share the rows, and each may be killed at any time:
 * - A row belongs to the worker that has claimed it, until the claim ends.
 * - Its files are deleted first, and then the row together with its bytes. In between, another worker deletes files that are gone, which
 *   is no error. The worker that deletes the row subtracts its bytes, so that happens once.
 * - A row stays if one of its files may still be there. It is tried again when its claim has ended, after all others, so that it delays
 *   none. Meanwhile the job fails too, once the row is late.
 */
export async function deleteRemoved(db: ServiceDb, store: PhotoStore, ageSecondsMin = removedSecondsMin): Promise<number> {
  const claiming = { ageSecondsMin, sizeMax: rowsAtOnceMax, seconds: claimSeconds };
  const fresh = await claimRemoved(db, { of: 'removed-files', ...claiming });
  const rows = fresh.length > 0 ? fresh : await claimRemoved(db, { of: 'removed-files-again', ...claiming });
  if (rows.length === 0) {
    if (await isAnyLeft(db, ageSecondsMin + lateSeconds)) throw new Error('files of photos that were removed more than a day ago are left');
    return 0;
  }
  const files = [...new Set(rows.flatMap((row) => row.files))];
  const { left, errors } = await deleteUnused(db, store, files);
  const done = rows.filter((row) => row.files.every((name) => !left.has(name))).map(({ id }) => id);
  const count = await db.transaction((tx) => giveBackBytes(tx, done), theService);
  if (errors.length > 0) throw new Error(`${errors.length} files of removed photos could not be deleted`, { cause: errors[0] });
  return count;
}

const deletesAtOnceMax = 10;
/** Each may cost some reads of a disk, and a statement has 2 s. */
const hashesAtOnceMax = 100;
const deletingMsMax = 60_000;

export interface Deleted {
  readonly count: number;
  /** No photo needs these, and they may still be there: another worker is deleting them, or the store has failed. */
  readonly left: ReadonlySet<FileName>;
  /** Of the store, for some of those that are left. */
  readonly errors: readonly unknown[];
}

/** Of these files, those that no photo refers to. A file of another kind is not ours. */
export async function selectUnused(db: ServiceDb, names: readonly FileName[]): Promise<FileName[]> {
  const originals = names.filter((name) => name.startsWith('originals/'));
  const used = originals.length > 0 ? await selectUsedOriginals(db, originals) : new Set();
  const hashes = names.flatMap(hashOf);
  const unused = originals.filter((name) => !used.has(name));
  for (let i = 0; i < hashes.length; i += hashesAtOnceMax) {
    unused.push(...(await selectUnusedHashes(db, hashes.slice(i, i + hashesAtOnceMax))).map(pictureName));
  }
  return unused;
}

/**
 * Deletes those of the files that no photo refers to. Nothing is deleted where the photos of another store are.
 *
 * The store of files may be slow, so no transaction is open while it deletes. A picture that is being deleted may be made again
 * meanwhile, for another photo. Therefore a worker first claims the pictures that it will delete, and one that processes a photo first
 * writes into its row which pictures that will have; a lock makes one come before the other:
 * - If the row comes first, the one that deletes sees it and leaves the pictures.
 * - If the claim comes first, the one that processes sees it, and makes the pictures later, when they are deleted.
 * - A worker that is killed leaves its claim, which ends by itself, and which the next one forgets.
 */
export async function deleteUnused(db: ServiceDb, store: PhotoStore, names: readonly FileName[]): Promise<Deleted> {
  // Without the lock first: a picture may well be that of another photo too.
  const unused = await selectUnused(db, names);
  await requireMark(db, store);
  await deleteEndedDeletions(db);
  const outcome: Outcome = { left: new Set(unused), failed: new Map() };
  const originals = unused.filter((name) => name.startsWith('originals/'));
  await deleteFiles(store, originals, outcome, performance.now() + deletingMsMax);
  const hashes = unused.flatMap(hashOf);
  for (let i = 0; i < hashes.length; i += hashesAtOnceMax) {
    await deletePictures(db, store, hashes.slice(i, i + hashesAtOnceMax), outcome);
  }
  return { count: unused.length - outcome.left.size, left: outcome.left, errors: [...outcome.failed.values()] };
}

/** Of files that are to be deleted. Those that failed are left too. */
interface Outcome {
  readonly left: Set<FileName>;
  readonly failed: Map<FileName, unknown>;
}

/** What there is no time for is claimed again, as long as some are deleted. */
async function deletePictures(db: ServiceDb, store: PhotoStore, hashes: readonly string[], outcome: Outcome): Promise<void> {
  if (hashes.length === 0) return;
  const untilMs = performance.now() + deletingMsMax;
  const deletion = await db.transaction((tx) => claimDeletion(tx, hashes, claimSeconds), theService);
  if (!deletion) return;
  await deleteFiles(store, deletion.hashes.map(pictureName), outcome, untilMs);
  // Of a failed one the claim stays, since the request may still be under way.
  const ended = deletion.hashes.filter((hash) => !outcome.failed.has(pictureName(hash)));
  await endDeletion(db, { ...deletion, hashes: ended });
  const left = ended.filter((hash) => outcome.left.has(pictureName(hash)));
  if (left.length < ended.length) await deletePictures(db, store, left, outcome);
}

/** What is not begun by `untilMs` is left. */
async function deleteFiles(store: PhotoStore, names: readonly FileName[], { left, failed }: Outcome, untilMs: number): Promise<void> {
  for (let i = 0; i < names.length && performance.now() < untilMs; i += deletesAtOnceMax) {
    const deleting = names.slice(i, i + deletesAtOnceMax).map((name) =>
      store.delete(name).then(
        () => left.delete(name),
        (error: unknown) => failed.set(name, error),
      ),
    );
    await Promise.all(deleting);
  }
}

const hashOf = (name: FileName): string[] => /^photos\/([0-9a-f]{64})\.webp$/.exec(name)?.slice(1) ?? [];
