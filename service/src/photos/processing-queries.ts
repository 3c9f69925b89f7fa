import type { Db, Transaction } from '../db/handles.ts';
import type { PhotoFailure } from './photo-failures.ts';
import type { PictureFile } from './photo-queries.ts';
import type { FileName } from './photo-store.ts';

/** A photo that one worker processes. Every write names the attempt, so that a worker that has lost its claim writes nothing. */
export interface Claim {
  readonly id: bigint;
  readonly petId: bigint;
  /** Who has sent it. */
  readonly clientId: bigint;
  readonly originalName: FileName;
  /** How many attempts were made, with this one. */
  readonly attempts: number;
}

const isClaimed = `id = $1 and attempts = $2 and status = 'processing'`;

/**
 * Claims a photo of the next client after this one, by id: the oldest of those with the fewest attempts, so that one whose workers die
 * neither delays the others nor meets the same fate again at once.
 */
export async function claimPhoto(db: Db, seconds: number, afterClientId: bigint): Promise<Claim | undefined> {
  const { rows } = await db.query<Claim>({
    name: 'claim-photo',
    text: `update photos set attempts = attempts + 1, claimed_until = now() + make_interval(secs => $1)
      where id = (select id from photos
        where status = 'processing' and (claimed_until is null or claimed_until < now()) and client_id > $2
        order by client_id, attempts, id limit 1 for update skip locked)
      returning id, pet_id as "petId", client_id as "clientId", original_name as "originalName", attempts`,
    values: [seconds, afterClientId],
  });
  return rows[0];
}

export async function extendClaim(db: Db, { id, attempts }: Claim, seconds: number): Promise<void> {
  await db.query({
    name: 'extend-photo-claim',
    text: `update photos set claimed_until = now() + make_interval(secs => $3) where ${isClaimed}`,
    values: [id, attempts, seconds],
  });
}

/** Lets the next attempt begin after this many seconds. */
export async function releaseClaim(db: Db, { id, attempts }: Claim, seconds: number, counts: boolean): Promise<void> {
  await db.query({
    name: 'release-photo-claim',
    text: `update photos set attempts = attempts - $4, claimed_until = now() + make_interval(secs => $3) where ${isClaimed}`,
    values: [id, attempts, seconds, counts ? 0 : 1],
  });
}

/** A sweep holds this lock while it reads which files are in use and says which others it deletes. */
const sweepLock = 4_663_959;

/**
 * Says which files the photo will have, before they are written. `deleting`: a sweep is just deleting one of them. `lost`: the claim
 * has ended.
 */
export async function planFiles(
  tx: Transaction,
  { id, attempts }: Claim,
  files: readonly PictureFile[],
): Promise<'planned' | 'deleting' | 'lost'> {
  await tx.query({ name: 'lock-out-photo-sweep', text: 'select pg_advisory_xact_lock_shared($1)', values: [sweepLock] });
  const deleting = await tx.query({
    name: 'photo-deletions',
    text: 'select from photo_deletions where hash = any($1::text[]) and until > now() limit 1',
    values: [files.map(({ hash }) => hash)],
  });
  if (deleting.rowCount === 1) return 'deleting';
  const { rowCount } = await tx.query({
    name: 'plan-photo-files',
    text: `update photos set files = $3 where ${isClaimed}`,
    values: [id, attempts, JSON.stringify(files)],
  });
  return rowCount === 1 ? 'planned' : 'lost';
}

/** Returns whether the claim was still in force. */
export async function markReady(
  tx: Transaction,
  { id, attempts }: Claim,
  { width, height, placeholder }: { readonly width: number; readonly height: number; readonly placeholder: string },
): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'photo-is-ready',
    text: `update photos set status = 'ready', width = $3, height = $4, placeholder = $5, claimed_until = null, updated_at = now()
      where ${isClaimed}`,
    values: [id, attempts, width, height, placeholder],
  });
  return rowCount === 1;
}

export async function markFailed(db: Db, { id, attempts }: Claim, failure: PhotoFailure): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'photo-has-failed',
    text: `update photos set status = 'failed', failure = $3, files = null, claimed_until = null, updated_at = now() where ${isClaimed}`,
    values: [id, attempts, failure],
  });
  return rowCount === 1;
}

/** Of these hashes, those that no photo refers to. */
export async function selectUnusedHashes(db: Db, hashes: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ hash: string }>({
    name: 'unused-photo-hashes',
    text: `select hash from unnest($1::text[]) as hash where ${isUnused}`,
    values: [hashes],
  });
  return rows.map(({ hash }) => hash);
}

const isUnused = `not exists (select from photos where files @> jsonb_build_array(jsonb_build_object('hash', hash)))`;

/** The pictures that one sweep may delete, and nobody else. */
export interface Deletion {
  readonly hashes: readonly string[];
  /** The end of the claim, by which it is recognised. */
  readonly until: string;
}

/** Claims those of the hashes that no photo refers to and no other sweep has claimed. Undefined: none. */
export async function claimDeletion(tx: Transaction, hashes: readonly string[], seconds: number): Promise<Deletion | undefined> {
  await tx.query({ name: 'lock-photo-sweep', text: 'select pg_advisory_xact_lock($1)', values: [sweepLock] });
  const { rows } = await tx.query<{ hash: string; until: string }>({
    name: 'claim-photo-deletion',
    text: `insert into photo_deletions as others (hash, until)
      select hash, now() + make_interval(secs => $2) from unnest($1::text[]) as hash where ${isUnused}
      on conflict (hash) do update set until = excluded.until where others.until < now()
      returning hash, until::text`,
    values: [hashes, seconds],
  });
  return rows[0] && { hashes: rows.map(({ hash }) => hash), until: rows[0].until };
}

export async function endDeletion(db: Db, { hashes, until }: Deletion): Promise<void> {
  await db.query({
    name: 'end-photo-deletion',
    text: 'delete from photo_deletions where hash = any($1::text[]) and until = $2::timestamptz',
    values: [hashes, until],
  });
}

/** Forgets the claims of sweeps that were killed. */
export async function deleteEndedDeletions(db: Db): Promise<void> {
  await db.query({ name: 'delete-ended-photo-deletions', text: 'delete from photo_deletions where until < now()' });
}

/** Of these originals, those that are still to be processed. */
export async function selectUsedOriginals(db: Db, names: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ name: string }>({
    name: 'used-photo-originals',
    text: `select original_name as name from photos where status = 'processing' and original_name = any($1::text[])`,
    values: [names],
  });
  return new Set(rows.map(({ name }) => name));
}
