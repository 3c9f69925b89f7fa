import { setTimeout as sleep } from 'node:timers/promises';
import { recordEvents } from '../../changes/events/events.ts';
import { theService } from '../../domain/actor.ts';
import { type FileName, type Folder, type PhotoStore, pictureName } from '../../images/photo-store.ts';
import type { Db, ServiceDb } from '../../platform/db/handles.ts';
import type { Catalogue } from '../list-cache/catalogue.ts';
import { petEvent } from '../pets/pet-json.ts';
import { findPet, lockPetRows } from '../pets/pets.ts';
import { advanceScan, claimScan, endScan, releaseScan, type Scan, selectQueued } from './deletion-queries.ts';
import { countByStatus, type PhotoCounts, selectReadyPhotos } from './mark-queries.ts';
import { PhotosElsewhere, readMark, requireMark } from './photo-mark.ts';
import { deletePhoto } from './photo-queries.ts';
import { deleteUnused, selectUnused } from './removed-files.ts';

/** Files that are younger may belong to a photo that is just being added. */
const ageMsMin = 86_400_000;
const intervalSeconds = 7 * 86_400;
/** What a worker has that is killed is taken up by another one after this time. */
const claimSeconds = 600;
/** Of a core. */
const shareMax = 0.05;
const looksAtOnceMax = 10;
const folders: readonly Folder[] = ['originals', 'photos'];

export interface ScanParts {
  readonly db: ServiceDb;
  readonly store: PhotoStore;
  /** Aborted when the worker stops. Another one then goes on, or this one after its restart. */
  readonly signal: AbortSignal;
  /** After each page: a scan of many files takes days. */
  readonly onPage?: () => void;
}

/** For tests: what else would take days. */
export interface ScanPace {
  readonly ageMs: number;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

const slow: ScanPace = {
  ageMs: ageMsMin,
  pause: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
};

/**
 * Once a week, looks at all files and deletes those that no photo refers to and no removal has recorded: what killed processes have left.
 * Returns how many. One worker does so at a time, page by page, and pauses after each
 * so that the scan takes a twentieth of a core. It records each page, so that another worker can go on there.
 */
export async function scanFiles(parts: ScanParts, pace = slow): Promise<number> {
  const { db, store } = parts;
  const scan = await claimScan(db, claimSeconds);
  if (!scan) return 0;
  const outcome: Outcome = { deleted: 0, error: undefined };
  try {
    await requireMark(db, store);
    if (await scanFolders(parts, pace, scan, outcome)) await finish(parts, scan);
  } finally {
    // If this fails, the claim ends by itself.
    await releaseScan(db, scan).catch(() => {});
  }
  if (outcome.error !== undefined) throw new Error('files that no photo refers to could not be deleted', { cause: outcome.error });
  return outcome.deleted;
}

interface Outcome {
  deleted: number;
  /** The first of the store that concerns a single file. The scan goes on: the next one tries that file again. */
  error: unknown;
}

/** Returns false if the worker stops, or another one has taken the scan over. */
async function scanFolders({ db, store, signal, onPage }: ScanParts, pace: ScanPace, scan: Scan, outcome: Outcome): Promise<boolean> {
  const { scannedTo } = scan;
  for (const folder of folders.slice(scannedTo?.startsWith('photos/') ? 1 : 0)) {
    const after = scannedTo?.startsWith(`${folder}/`) ? scannedTo : undefined;
    let cpuBeforeMs = cpuMs();
    for await (const page of store.list(folder, after)) {
      const databaseMs = await scanPage({ db, store }, page, pace.ageMs, outcome);
      // The time that PostgreSQL takes counts as if it were all CPU time, and so does what this process does meanwhile.
      const restMs = (cpuMs() - cpuBeforeMs + databaseMs) * (1 / shareMax - 1);
      const isHeld = await advanceScan(db, scan, page.at(-1) ?? `${folder}/`, claimSeconds + restMs / 1_000);
      if (!isHeld) return false;
      onPage?.();
      await pace.pause(restMs, signal);
      if (signal.aborted) return false;
      cpuBeforeMs = cpuMs();
    }
  }
  return true;
}

/** Returns how long PostgreSQL took to say which files are unused. */
async function scanPage(
  { db, store }: Pick<ScanParts, 'db' | 'store'>,
  page: readonly FileName[],
  ageMs: number,
  outcome: Outcome,
): Promise<number> {
  const askedAtMs = performance.now();
  const unused = await selectUnused(db, page);
  const queued = unused.length > 0 ? await selectQueued(db, unused) : new Set();
  const databaseMs = performance.now() - askedAtMs;
  const unnamed = unused.filter((name) => !queued.has(name));
  const old = await selectOld(store, unnamed, new Date(Date.now() - ageMs));
  if (old.length === 0) return databaseMs;
  const { count, errors } = await deleteUnused(db, store, old);
  outcome.deleted += count;
  outcome.error ??= errors[0];
  return databaseMs;
}

async function selectOld(store: PhotoStore, names: readonly FileName[], before: Date): Promise<FileName[]> {
  const old: FileName[] = [];
  for (let i = 0; i < names.length; i += looksAtOnceMax) {
    const some = names.slice(i, i + looksAtOnceMax);
    const times = await Promise.all(some.map((name) => store.modifiedAt(name)));
    old.push(...some.filter((_, j) => (times[j] ?? before) < before));
  }
  return old;
}

async function finish({ db, store }: ScanParts, scan: Scan): Promise<void> {
  // A disk that is not mounted any more has no files, and says nothing of those that are elsewhere.
  await requireMark(db, store);
  await endScan(db, scan, intervalSeconds);
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

const batchSize = 100;

export interface PhotoWithoutFile {
  readonly id: bigint;
  readonly petId: bigint;
  readonly hashes: readonly string[];
}

export interface FilesChecked {
  readonly counts: PhotoCounts;
  /** How many of those that are ready were examined. */
  readonly checked: number;
  /** At least one of their pictures is missing. */
  readonly withoutFile: readonly PhotoWithoutFile[];
}

/** Looks for every picture of every photo that is ready. Changes nothing. */
export async function checkFiles(db: Db, store: PhotoStore, onProgress: (done: number, of: number) => void): Promise<FilesChecked> {
  const counts = await countByStatus(db);
  const withoutFile: PhotoWithoutFile[] = [];
  let checked = 0;
  for (let after = 0n; ; ) {
    const batch = await selectReadyPhotos(db, after, batchSize);
    const isWhole = await Promise.all(batch.map(({ hashes }) => hasAll(store, hashes)));
    withoutFile.push(...batch.filter((_, i) => !isWhole[i]));
    checked += batch.length;
    onProgress(checked, counts.ready);
    const last = batch.at(-1);
    if (!last || batch.length < batchSize) return { counts, checked, withoutFile };
    after = last.id;
  }
}

/**
 * Removes a photo whose files are lost, as its partner would. It looks again before: the check may have taken long, and the disk may have
 * gone or files may have come meanwhile. False: nothing was removed.
 */
export async function removeLost(
  db: Db,
  catalogue: Catalogue,
  store: PhotoStore,
  { id, petId, hashes }: PhotoWithoutFile,
): Promise<boolean> {
  if (await hasAll(store, hashes)) return false;
  if ((await readMark(db, store)) !== 'own') throw new PhotosElsewhere('the photos are not there any more');
  return catalogue.transaction(async (tx) => {
    await lockPetRows(tx, [petId]);
    if (!(await deletePhoto(tx, petId, id))) return false;
    // Undefined: an outcome hides its photos.
    const pet = await findPet(tx, petId);
    if (pet) await recordEvents(tx, petEvent('pet.photos_changed', pet));
    return true;
  }, theService);
}

/** A photo has three pictures at most. */
async function hasAll(store: PhotoStore, hashes: readonly string[]): Promise<boolean> {
  const sizes = await Promise.all(hashes.map((hash) => store.sizeOf(pictureName(hash))));
  return sizes.every((size) => size !== undefined);
}
