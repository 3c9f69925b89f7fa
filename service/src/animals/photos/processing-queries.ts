import type { PhotoFailure } from '../../images/photo-failures.ts';
import type { FileName } from '../../images/photo-store.ts';
import type { Db, Transaction, Writer } from '../../platform/db/handles.ts';
import type { ListingWriter } from '../list-cache/catalogue.ts';
import { deletionLock } from './deletion-queries.ts';
import { changedPhoto, type PictureFile, photosChange } from './photo-queries.ts';

/** A photo that one worker processes. Every write has the number of the claim, so that a worker that has lost its claim writes nothing. */
export interface Claim {
  readonly id: bigint;
  /** Only grows: each claim on any photo has a higher one. */
  readonly number: bigint;
  readonly petId: bigint;
  /** Who has sent it. */
  readonly clientId: bigint;
  readonly originalName: FileName;
  /** Sent by the store's own staff. */
  readonly isUnlimited: boolean;
  /** How many attempts were made, with this one. */
  readonly attempts: number;
}

/** The attempts too: a process of release 1.1.0 that claims the photo leaves the number of the claim before. */
const isClaimed = `id = $1 and claim = $2 and attempts = $3 and status = 'processing'`;
const fenceOf = ({ id, number, attempts }: Claim) => [id, number, attempts];

/**
 * Claims a photo of the next client after this one, by id: the oldest of those with the fewest attempts, so that one whose workers die
 * neither delays the others nor meets the same fate again at once.
 */
export async function claimPhoto(db: Writer, seconds: number, afterClientId: bigint): Promise<Claim | undefined> {
  const { rows } = await db.write<Claim>({
    name: 'claim-photo',
    text: `update photos set claim = nextval('photo_claims'), attempts = attempts + 1, claimed_until = now() + make_interval(secs => $1)
      where id = (select id from photos
        where status = 'processing' and (claimed_until is null or claimed_until < now()) and client_id > $2
        order by client_id, attempts, id limit 1 for update skip locked)
      returning id, claim as number, pet_id as "petId", client_id as "clientId", original_name as "originalName", is_unlimited as "isUnlimited", attempts`,
    values: [seconds, afterClientId],
  });
  return rows[0];
}

export async function extendClaim(db: Writer, claim: Claim, seconds: number): Promise<void> {
  await db.write({
    name: 'extend-photo-claim',
    text: `update photos set claimed_until = now() + make_interval(secs => $4) where ${isClaimed}`,
    values: [...fenceOf(claim), seconds],
  });
}

/** Lets the next attempt begin after this many seconds. */
export async function releaseClaim(db: Writer, claim: Claim, seconds: number, counts: boolean): Promise<void> {
  await db.write({
    name: 'release-photo-claim',
    text: `update photos set claim = null, attempts = attempts - $5, claimed_until = now() + make_interval(secs => $4) where ${isClaimed}`,
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
  claim: Claim,
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
    text: `update photos set files = $4, original_bytes = $5, pictures_bytes = $6 where ${isClaimed}`,
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
  claim: Claim,
  { width, height, placeholder }: { readonly width: number; readonly height: number; readonly placeholder: string },
): Promise<boolean> {
  const ready = await tx.writeListing(
    {
      name: 'photo-is-ready',
      text: `update photos set status = 'ready', width = $4, height = $5, placeholder = $6, claimed_until = null, updated_at = now()
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
    text: `update photos set status = 'failed', failure = $4, files = null, pictures_bytes = null, claimed_until = null, updated_at = now() where ${isClaimed}`,
    values: [...fenceOf(claim), failure],
  });
  return rowCount === 1;
}

/** Photos from before their bytes were counted. */
export async function selectUncounted(db: Db, limit: number): Promise<Array<{ id: bigint; hashes: readonly string[] }>> {
  const { rows } = await db.query<{ id: bigint; hashes: readonly string[] }>({
    name: 'uncounted-photos',
    text: `select id, array(select file ->> 'hash' from jsonb_array_elements(files) as file) as hashes
      from photos where status = 'ready' and pictures_bytes is null order by id limit $1`,
    values: [limit],
  });
  return rows;
}

export async function setPicturesBytes(db: Writer, id: bigint, bytes: number): Promise<void> {
  await db.write({
    name: 'count-pictures-of-photo',
    text: `update photos set pictures_bytes = $2 where id = $1 and status = 'ready' and pictures_bytes is null`,
    values: [id, bytes],
  });
}
