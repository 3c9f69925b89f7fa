import { recordEvents } from '../../changes/events/events.ts';
import { theService } from '../../domain/actor.ts';
import { type PhotoStore, pictureName } from '../../images/photo-store.ts';
import type { Db } from '../../platform/db/handles.ts';
import type { Catalogue } from '../list-cache/catalogue.ts';
import { petEvent } from '../pets/pet-json.ts';
import { findPet, lockPetRows } from '../pets/pets.ts';
import { countByStatus, type PhotoCounts, selectReadyPhotos } from './mark-queries.ts';
import { PhotosElsewhere, readMark } from './photo-mark.ts';
import { deletePhoto } from './photo-queries.ts';

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
