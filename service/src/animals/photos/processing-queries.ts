import type { PhotoFailure } from '../../images/image-types.ts';
import type { FileName } from '../../images/photo-store.ts';
import { type Claim, claiming, fenceOf, isClaimed } from '../../platform/db/claims.ts';
import type { Transaction, Writer } from '../../platform/db/handles.ts';
import type { ListingWriter } from '../list-cache/catalogue.ts';
import { deletionLock } from './deletion-queries.ts';
import { changedPhoto, type PictureFile, photosChange } from './photo-queries.ts';

/** A photo that one worker processes. */
export interface PhotoClaim extends Claim {
  readonly petId: bigint;
  /** Who has sent it. */
  readonly clientId: bigint;
  readonly originalName: FileName;
  /** Sent by the store's own staff. */
  readonly isUnlimited: boolean;
  /** How many attempts were made, with this one. */
  readonly attempts: number;
}

/**
 * Claims a photo of the next client after this one, by id: the oldest of those with the fewest attempts, so that one whose workers die
 * neither delays the others nor meets the same fate again at once.
 */
export async function claimPhoto(db: Writer, seconds: number, afterClientId: bigint): Promise<PhotoClaim | undefined> {
  const { rows } = await db.write<PhotoClaim>({
    name: 'claim-photo',
    text: `${claiming('photos', 'client_id > $2')}, claim as number, pet_id as "petId", client_id as "clientId", original_name as "originalName", is_unlimited as "isUnlimited", attempts`,
    values: [seconds, afterClientId],
  });
  return rows[0];
}

/** Lets the next attempt begin after this many seconds. */
export async function releaseClaim(db: Writer, claim: Claim, seconds: number, counts: boolean): Promise<void> {
  await db.write({
    name: 'release-photo-claim',
    text: `update photos set claim = null, attempts = attempts - $4, claimed_until = now() + make_interval(secs => $3) where ${isClaimed}`,
    values: [...fenceOf(claim), seconds, counts ? 0 : 1],
  });
}

/** Lets the original be looked for again: after seconds at first, at last every hour. The attempt doesn't count. */
export async function waitForOriginal(db: Writer, claim: Claim): Promise<void> {
  await db.write({
    name: 'wait-for-original',
    text: `update photos set claim = null, attempts = attempts - 1, original_missing_since = coalesce(original_missing_since, now()),
        claimed_until = now() + least(greatest(now() - original_missing_since, interval '5 s'), interval '1 hour')
      where ${isClaimed}`,
    values: fenceOf(claim),
  });
}

/** What the files of a photo take. */
interface FileBytes {
  readonly original: number;
  readonly pictures: number;
  /** What the client may store. */
  readonly storedMax: number;
}

/**
 * Says which files the photo will have, and counts their bytes, before they are written. `deleting`: a worker is just deleting one of
 * them. `lost`: the claim has ended. `full`: the client would store more than it may. The photo is locked before the client's sum, as
 * everywhere.
 */
export async function planFiles(
  tx: Transaction,
  claim: PhotoClaim,
  files: readonly PictureFile[],
  bytes: FileBytes,
): Promise<'planned' | 'deleting' | 'lost' | 'full'> {
  await tx.query({ name: 'lock-out-photo-deletion', text: 'select pg_advisory_xact_lock_shared($1)', values: [deletionLock] });
  const deleting = await tx.query({
    name: 'photo-deletions',
    text: 'select from photo_deletions where hash = any($1::text[]) and until > now() limit 1',
    values: [files.map(({ hash }) => hash)],
  });
  if (deleting.rowCount === 1) return 'deleting';
  const { rows } = await tx.query<{ pictures: bigint | null }>({
    name: 'lock-claimed-photo',
    text: `select pictures_bytes as pictures from photos where ${isClaimed} for update`,
    values: fenceOf(claim),
  });
  if (!rows[0]) return 'lost';
  const stored = await lockStoredBytes(tx, claim.clientId);
  // What an earlier attempt has counted is replaced.
  if (stored - Number(rows[0].pictures ?? 0) + bytes.pictures > bytes.storedMax) return 'full';
  await tx.query({
    name: 'plan-photo-files',
    text: `update photos set files = $3, original_bytes = $4, pictures_bytes = $5 where ${isClaimed}`,
    values: [...fenceOf(claim), JSON.stringify(files), bytes.original, bytes.pictures],
  });
  return 'planned';
}

async function lockStoredBytes(tx: Transaction, clientId: bigint): Promise<number> {
  const { rows } = await tx.query<{ bytes: bigint }>({
    name: 'lock-stored-photo-bytes',
    text: 'select bytes from photo_storage where client_id = $1 for update',
    values: [clientId],
  });
  return Number(rows[0]?.bytes ?? 0);
}

/** Returns whether the claim was still in force. */
export async function markReady(
  tx: ListingWriter,
  claim: PhotoClaim,
  { width, height, placeholder }: { readonly width: number; readonly height: number; readonly placeholder: string },
): Promise<boolean> {
  const ready = await tx.writeListing(
    {
      name: 'photo-is-ready',
      text: `update photos set status = 'ready', width = $3, height = $4, placeholder = $5, claim = null, claimed_until = null, updated_at = now()
        where ${isClaimed} returning ${changedPhoto}`,
      values: [...fenceOf(claim), width, height, placeholder],
    },
    photosChange,
  );
  return ready.length === 1;
}

export async function markFailed(db: Writer, claim: Claim, failure: PhotoFailure): Promise<boolean> {
  const { rowCount } = await db.write({
    name: 'photo-has-failed',
    text: `update photos set status = 'failed', failure = $3, files = null, pictures_bytes = null, claim = null, claimed_until = null, updated_at = now()
      where ${isClaimed}`,
    values: [...fenceOf(claim), failure],
  });
  return rowCount === 1;
}
