import { type ActingKey, requireAccess } from '../../access/admission/access.ts';
import type { KeyCaller } from '../../access/principals/principals.ts';
import { recordEvents } from '../../changes/events/events.ts';
import type { Actor } from '../../domain/actor.ts';
import { isUnlimited } from '../../domain/scopes.ts';
import type { PhotoStore } from '../../images/photo-store.ts';
import type { Db, Transactor } from '../../platform/db/handles.ts';
import { AppError, type ErrorCode } from '../../platform/errors.ts';
import { recordTransitions, type Transition } from '../history/history.ts';
import { recordTexts } from '../history/texts.ts';
import type { Catalogue, CatalogueTransaction } from '../list-cache/catalogue.ts';
import { petEvent } from '../pets/pet-json.ts';
import { lockPetFor, petNotFound } from '../pets/pet-locks.ts';
import type { Pet } from '../pets/pet-schemas.ts';
import { findPlacement } from '../pets/pets.ts';
import type { Original } from './originals.ts';
import {
  deletePhoto,
  type FailedPhoto,
  findPhoto,
  findPhotoByOriginal,
  insertPhoto,
  type PhotoRow,
  restartPhoto,
  selectFailedPhotos,
  selectPhotos,
  selectRecentPhotoTransactions,
  setAlt,
  setOrder,
} from './photo-queries.ts';
import { type PhotoChanges, photosMax } from './photo-schemas.ts';
import { countUpload, requireStorage } from './upload-allowance.ts';

export type { PhotoRow };

/** The errors of the operations, for the documents. */
export const photoErrors = {
  list: ['pet_not_found'],
  get: ['photo_not_found'],
  add: [
    'pet_not_found',
    'photos_off',
    'unsupported_image',
    'photo_too_large',
    'upload_too_slow',
    'too_many_uploads',
    'photo_limit_reached',
    'photo_bytes_limit',
    'photo_storage_limit',
    'photo_storage_full',
  ],
  change: ['pet_not_found', 'photo_not_found'],
} as const satisfies Record<string, readonly ErrorCode[]>;

type Writer = Actor;
type Writing = Pick<Catalogue, 'transaction'>;
/** Its client is the one that the bytes count for. */
type Sender = Actor & Pick<KeyCaller, 'clientId' | 'bounds'>;

export interface AddedPhoto {
  readonly photo: PhotoRow;
  /** False: it was there already, from the same bytes. */
  readonly isNew: boolean;
}

export async function listPhotos(db: Db, petId: bigint): Promise<PhotoRow[]> {
  if (!(await findPlacement(db, petId))) throw petNotFound(String(petId));
  return selectPhotos(db, petId);
}

/** For those who send photos again: of animals that are still here, oldest first. Null: of every shelter. */
export const listFailedPhotos = (db: Db, shelterId: bigint | null, limit: number): Promise<FailedPhoto[]> =>
  selectFailedPhotos(db, shelterId, limit);

export async function getPhoto(db: Db, petId: bigint, id: bigint): Promise<PhotoRow> {
  const photo = await findPhoto(db, petId, id);
  if (!photo) throw photoNotFound(petId, String(id));
  return photo;
}

/** Throws unless the caller may write the photos of this animal. */
export async function requireWriter(db: Db, petId: bigint, key: ActingKey): Promise<void> {
  const placement = await findPlacement(db, petId);
  if (!placement) throw petNotFound(String(petId));
  requireAccess(key, 'describePets', placement);
}

/**
 * Adds a photo from the bytes that were stored. The same bytes for the same animal are the same photo: a retry gets it again, and one
 * that has failed, or whose original is missing, is processed again. Stored bytes that no photo refers to are deleted.
 */
export async function addPhoto(
  { db, store }: { readonly db: Transactor; readonly store: PhotoStore },
  petId: bigint,
  original: Original,
  sender: Sender,
): Promise<AddedPhoto> {
  const discard = () => store.delete(original.name).catch(leaveToScan);
  const { photo, isUsed } = await insertOrFind(db, petId, original, sender).catch(async (error: unknown) => {
    await discard();
    throw error;
  });
  if (!isUsed) await discard();
  return { photo, isNew: isUsed };
}

/** No photo refers to the file, so the weekly scan deletes it. */
const leaveToScan = () => {};

/** `isUsed` says whether the photo refers to the stored bytes. */
async function insertOrFind(
  db: Transactor,
  petId: bigint,
  original: Original,
  writer: Sender,
): Promise<{ photo: PhotoRow; isUsed: boolean }> {
  const { clientId } = writer;
  return db.transaction(async (tx) => {
    // The lock makes the count of photos exact.
    const pet = await lockPetFor(tx, petId, writer, 'describePets');
    const known = await findPhotoByOriginal(tx, petId, original.hash);
    if (known && known.status !== 'failed' && !known.isMissing) return { photo: known, isUsed: false };
    const { length } = known ? { length: 0 } : await selectPhotos(tx, petId);
    if (length >= photosMax) throw photoLimit(petId, length);
    await countUpload(tx, writer, original.bytes);
    const photo = known
      ? await restartPhoto(tx, known.id, clientId, original, isUnlimited(writer.scopes))
      : await insertPhoto(tx, petId, clientId, original, isUnlimited(writer.scopes));
    await requireStorage(tx, writer, original.bytes);
    await recordTransitions(tx, writer, photoTransition(pet, { kind: 'pet_photo_added', why: `photo ${photo.id} was added` }));
    return { photo, isUsed: true };
  }, writer);
}

export async function changePhoto(
  catalogue: Writing,
  petId: bigint,
  id: bigint,
  { alt, position }: PhotoChanges,
  writer: Writer,
): Promise<PhotoRow> {
  return catalogue.transaction(async (tx) => {
    const pet = await lockPetFor(tx, petId, writer, 'describePets');
    const before = await getPhoto(tx, petId, id);
    const isAltChanged = alt !== undefined && alt !== (before.alt ?? '');
    if (isAltChanged) await setAlt(tx, id, alt);
    const isMoved = position !== undefined && (await movePhoto(tx, petId, id, position));
    if (isAltChanged || isMoved) {
      const changed = [...(isAltChanged ? ['alt' as const] : []), ...(isMoved ? ['position' as const] : [])];
      const why = `photo ${id} was changed: ${changed.join(', ')}`;
      await recordTransitions(tx, writer, photoTransition(pet, { kind: 'pet_photo_changed', changed, why }));
      if (isAltChanged) await recordTexts(tx, petId, [{ field: 'alt', before: before.alt, after: alt || null }]);
      await recordEvents(tx, petEvent('pet.photos_changed', pet));
      return getPhoto(tx, petId, id);
    }
    // This may be a retry, after a process that died before its announcement.
    for (const transactionId of await selectRecentPhotoTransactions(tx, petId)) tx.acknowledge(transactionId);
    return before;
  }, writer);
}

export async function removePhoto(catalogue: Writing, petId: bigint, id: bigint, writer: Writer): Promise<void> {
  await catalogue.transaction(async (tx) => {
    const pet = await lockPetFor(tx, petId, writer, 'describePets');
    if (!(await deletePhoto(tx, petId, id))) throw photoNotFound(petId, String(id));
    await recordTransitions(tx, writer, photoTransition(pet, { kind: 'pet_photo_removed', why: `photo ${id} was removed` }));
    await recordEvents(tx, petEvent('pet.photos_changed', pet));
  }, writer);
}

type PhotoAct = { readonly why: string } & (
  | { readonly kind: 'pet_photo_added' | 'pet_photo_removed' }
  | { readonly kind: 'pet_photo_changed'; readonly changed: readonly ('alt' | 'position')[] }
);

/** A photo leaves the animal's status as it is. */
const photoTransition = ({ id, status }: Pet, act: PhotoAct): Transition => ({ petId: id, from: status, to: status, ...act });

export const photoNotFound = (petId: bigint, id: string) =>
  new AppError('photo_not_found', `Animal ${petId} has no photo with id ${id.slice(0, 40)}.`);

export const photosOff = () => new AppError('photos_off', "This store doesn't accept photos. Ask its operators to set HOMEWARD_PHOTOS.");

/** A position beyond the last photo is the last. Returns whether the order has changed. */
async function movePhoto(tx: CatalogueTransaction, petId: bigint, id: bigint, position: number): Promise<boolean> {
  const before = (await selectPhotos(tx, petId)).map((photo) => photo.id);
  const after = before.filter((one) => one !== id).toSpliced(position, 0, id);
  if (after.every((one, index) => one === before[index])) return false;
  await setOrder(tx, after);
  return true;
}

const photoLimit = (petId: bigint, count: number) =>
  new AppError('photo_limit_reached', `Animal ${petId} has ${count} photos; ${photosMax} are allowed. Remove one first.`);
