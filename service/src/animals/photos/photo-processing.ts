import { getClient } from '../../access/clients/clients.ts';
import { boundsOf } from '../../access/rate-limit/plans.ts';
import { recordEvents } from '../../changes/events/events.ts';
import { theService } from '../../domain/actor.ts';
import type { Picture } from '../../images/image-reply.ts';
import type { PhotoFailure } from '../../images/image-types.ts';
import { type PhotoStore, pictureName, StoreFull } from '../../images/photo-store.ts';
import type { PictureMaker } from '../../images/picture-maker.ts';
import { extendClaim } from '../../platform/db/claims.ts';
import type { Db, ServiceDb } from '../../platform/db/handles.ts';
import type { Catalogue } from '../list-cache/catalogue.ts';
import { petEvent } from '../pets/pet-json.ts';
import { findPet, lockPetRows } from '../pets/pets.ts';
import { requireMark } from './photo-mark.ts';
import type { PictureFile } from './photo-queries.ts';
import { claimPhoto, markFailed, markReady, type PhotoClaim, planFiles, releaseClaim, waitForOriginal } from './processing-queries.ts';
import { storedBytesMaxOf } from './upload-allowance.ts';

interface Parts {
  readonly db: ServiceDb;
  readonly catalogue: Catalogue;
  readonly store: PhotoStore;
  readonly makePictures: PictureMaker;
  /** Aborted when the worker stops. The photo is then processed by another one. */
  readonly signal: AbortSignal;
  readonly turn: Turn;
}

/** Whose photo this worker has processed last. 0: nobody's yet. */
export interface Turn {
  clientId: bigint;
}

const attemptsMax = 5;
/** A worker that is killed loses its photo after this time. It extends its claim more often. */
const claimSeconds = 10;
const extendMs = 3_000;
/** The pause before another attempt, so that other photos are tried meanwhile. */
const pauseSeconds = 5;

/**
 * Processes a photo. Returns 0 if none waits, or if the store has no room: then it waits. Clients take turns, so that one that has sent
 * a thousand photos delays another's by one. Several workers may do so at once, and each may be killed at any time:
 * - A photo belongs to the worker that has claimed it, until the claim ends. Each write has the number of the claim, which only grows,
 *   so a worker that was slow and has lost its photo changes nothing.
 * - The row names its files and counts their bytes before they are written, so that nobody deletes them, and a client never
 *   stores more than it may. A worker waits while another is just deleting one of them.
 * - The original is deleted only when the photo is ready or has failed.
 * - A missing original is looked for as long as the photo exists. If the photos are elsewhere, nothing is done.
 */
export async function processPhoto(parts: Parts): Promise<number> {
  const { db } = parts;
  if (!(await parts.store.hasRoom('picture'))) return 0;
  const claim = (await claimPhoto(db, claimSeconds, parts.turn.clientId)) ?? (await claimPhoto(db, claimSeconds, 0n));
  if (!claim) return 0;
  parts.turn.clientId = claim.clientId;
  const extending = setInterval(() => void extendClaim(db, 'photos', claim, claimSeconds).catch(() => {}), extendMs);
  try {
    await requireMark(db, parts.store);
    await processClaimed(parts, claim);
    return 1;
  } catch (error) {
    // The store, PostgreSQL or `homeward images` has failed, not the photo: the attempt doesn't count.
    await releaseClaim(db, claim, pauseSeconds, false).catch(() => {});
    // A full disk has an alert of its own. A bucket has none, so the job fails.
    if (error instanceof StoreFull && !(await parts.store.hasRoom('picture'))) return 0;
    throw error;
  } finally {
    clearInterval(extending);
  }
}

async function processClaimed(parts: Parts, claim: PhotoClaim): Promise<void> {
  const { db, store, makePictures, signal } = parts;
  if (claim.attempts > attemptsMax) return fail(parts, claim, 'not_processed');
  const original = await store.get(claim.originalName);
  if (!original) return waitForOriginal(db, claim);
  const outcome = await makePictures(original, signal);
  if (signal.aborted) return releaseClaim(db, claim, 0, false);
  if ('failure' in outcome) return fail(parts, claim, outcome.failure);
  if ('crashed' in outcome) {
    return claim.attempts >= attemptsMax ? fail(parts, claim, 'not_processed') : releaseClaim(db, claim, pauseSeconds, true);
  }
  await publish(parts, claim, outcome, original.bytes);
}

async function publish(
  { db, catalogue, store }: Parts,
  claim: PhotoClaim,
  { placeholder, pictures }: { readonly placeholder: string; readonly pictures: readonly Picture[] },
  originalBytes: number,
): Promise<void> {
  const files: PictureFile[] = pictures.map(({ width, height, hash }) => ({ width, height, hash }));
  const largest = files.at(-1);
  if (!largest) throw new Error('an image without pictures');
  const bytes = {
    original: originalBytes,
    pictures: pictures.reduce((sum, { content }) => sum + content.length, 0),
    storedMax: await storedBytesMaxFor(db, claim),
  };
  const plan = await db.transaction((tx) => planFiles(tx, claim, files, bytes), theService);
  if (plan === 'full') return fail({ db, store }, claim, 'storage_limit');
  if (plan === 'deleting') return releaseClaim(db, claim, pauseSeconds, false);
  if (plan === 'lost') return undefined;
  for (const { hash, content } of pictures) await store.put(pictureName(hash), content);
  const isReady = await catalogue.transaction(async (tx) => {
    await lockPetRows(tx, [claim.petId]);
    const marked = await markReady(tx, claim, { ...largest, placeholder });
    // Undefined: an outcome hides its photos. If that is undone, another event says that there are some.
    const pet = await findPet(tx, claim.petId);
    if (marked && pet) await recordEvents(tx, petEvent('pet.photos_changed', pet));
    return marked;
  }, theService);
  if (!isReady) return undefined;
  return store.delete(claim.originalName);
}

/** What the client of a photo may store now. */
async function storedBytesMaxFor(db: Db, { clientId, isUnlimited }: PhotoClaim): Promise<number> {
  return isUnlimited ? Number.POSITIVE_INFINITY : storedBytesMaxOf(boundsOf(await getClient(db, clientId)));
}

async function fail({ db, store }: Pick<Parts, 'db' | 'store'>, claim: PhotoClaim, failure: PhotoFailure): Promise<void> {
  if (await markFailed(db, claim, failure)) await store.delete(claim.originalName);
}
