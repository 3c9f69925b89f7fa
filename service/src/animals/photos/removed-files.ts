import { theService } from '../../domain/actor.ts';
import type { PhotoStore } from '../../images/photo-store.ts';
import type { ServiceDb } from '../../platform/db/handles.ts';
import { claimRemoved, giveBackBytes, isAnyLeft } from './deletion-queries.ts';
import { deleteUnused } from './unused-files.ts';

const rowsAtOnceMax = 100;
/** Until then a page that was read before may still show them. */
export const removedSecondsMin = 86_400;
/** A worker that is killed loses its rows after this time. */
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
