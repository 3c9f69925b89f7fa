import { scanFiles } from '../service/src/animals/photos/photo-scan.ts';
import { deleteRemoved } from '../service/src/animals/photos/removed-files.ts';
import type { PhotoStore } from '../service/src/images/photo-store.ts';
import type { ServiceDb } from '../service/src/platform/db/handles.ts';

/** What workers do in a week: deletes the files of all removals, and scans all files. Of those of this age; now, as after a day. */
export async function sweepNow(db: ServiceDb, store: PhotoStore, ageMs = -60_000): Promise<void> {
  let removed = 1;
  while (removed > 0) removed = await deleteRemoved(db, store, ageMs / 1_000);
  await scanNow(db, store, ageMs);
}

/** As if a scan were due, and without its pauses. Returns how many files it has deleted. */
export async function scanNow(db: ServiceDb, store: PhotoStore, ageMs = -60_000): Promise<number> {
  await db.write({ text: 'update photo_scan set due_at = now(), claimed_until = null' });
  return scanFiles({ db, store, signal: new AbortController().signal }, { ageMs, pause: async () => {} });
}
