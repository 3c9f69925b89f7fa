import { theService } from '../../domain/actor.ts';
import type { FileName } from '../../images/photo-store.ts';
import { claiming } from '../../platform/db/claims.ts';
import type { Db, Transaction, Transactions, Writer } from '../../platform/db/handles.ts';

/** Held while a worker reads which pictures are in use and says which others it deletes, and shared while one names those of a photo. */
export const deletionLock = 4_663_959;

const isUnused = `not exists (select from photos where files @> jsonb_build_array(jsonb_build_object('hash', hash)))`;

/** Of these hashes, those that no photo refers to. */
export async function selectUnusedHashes(db: Transactions, hashes: readonly string[]): Promise<string[]> {
  return db.transaction(async (tx) => {
    await allowFileIndex(tx);
    const { rows } = await tx.query<{ hash: string }>({
      name: 'unused-photo-hashes',
      text: `select hash from unnest($1::text[]) as hash where ${isUnused}`,
      values: [hashes],
    });
    return rows.map(({ hash }) => hash);
  }, theService);
}

/** An index of files can be read by a bitmap only, which the connections of a worker don't allow: they would read the whole table. */
async function allowFileIndex(tx: Transaction): Promise<void> {
  await tx.query({ name: 'allow-file-index', text: `select set_config('enable_bitmapscan', 'on', true)` });
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

/** The pictures that one worker may delete, and nobody else. */
export interface Deletion {
  readonly hashes: readonly string[];
  /** The end of the claim, by which it is recognised. */
  readonly until: string;
}

/** Claims those of the hashes that no photo refers to and no other worker has claimed. Undefined: none. */
export async function claimDeletion(tx: Transaction, hashes: readonly string[], seconds: number): Promise<Deletion | undefined> {
  await tx.query({ name: 'lock-photo-deletion', text: 'select pg_advisory_xact_lock($1)', values: [deletionLock] });
  await allowFileIndex(tx);
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

export async function endDeletion(db: Writer, { hashes, until }: Deletion): Promise<void> {
  await db.write({
    name: 'end-photo-deletion',
    text: 'delete from photo_deletions where hash = any($1::text[]) and until = $2::timestamptz',
    values: [hashes, until],
  });
}

/** Forgets the claims of workers that were killed. */
export async function deleteEndedDeletions(db: Writer): Promise<void> {
  await db.write({ name: 'delete-ended-photo-deletions', text: 'delete from photo_deletions where until < now()' });
}

/** Files that a photo no longer refers to. */
interface Removed {
  readonly id: bigint;
  readonly files: readonly FileName[];
}

interface Claiming {
  readonly of: 'removed-files' | 'removed-files-again';
  readonly ageSecondsMin: number;
  readonly sizeMax: number;
  readonly seconds: number;
}

/**
 * Claims those that were removed first, at least so many seconds ago, of those that were never claimed. Again: those whose claim ended
 * first, since their worker was killed, or could not delete a file.
 */
export async function claimRemoved(db: Writer, { of, ageSecondsMin, sizeMax, seconds }: Claiming): Promise<Removed[]> {
  const { rows } = await db.write<Removed>({
    name: `claim-${of}`,
    text: `${claiming(of, 'removed_at < now() - make_interval(secs => $2)', '$3')}, files`,
    values: [seconds, ageSecondsMin, sizeMax],
  });
  return rows;
}

/** Whether the files of a photo are still to be deleted that was removed so many seconds ago. */
export async function isAnyLeft(db: Db, ageSecondsMin: number): Promise<boolean> {
  const { rows } = await db.query<{ left: boolean }>({
    name: 'any-removed-file-left',
    text: `select exists (select from removed_photo_bytes where removed_at < now() - make_interval(secs => $1)) as left`,
    values: [ageSecondsMin],
  });
  return rows[0]?.left ?? false;
}

/** Of these files, those of removals that are still to be deleted. */
export async function selectQueued(db: Transactions, names: readonly FileName[]): Promise<Set<FileName>> {
  return db.transaction(async (tx) => {
    await allowFileIndex(tx);
    const { rows } = await tx.query<{ files: FileName[] }>({
      name: 'queued-files',
      text: 'select files from removed_photo_bytes where files && $1::text[]',
      values: [names],
    });
    return new Set(rows.flatMap(({ files }) => files));
  }, theService);
}

const givingBackLock = 4_663_960;

/**
 * Stops counting the bytes of these, whose files are deleted. Returns how many there were: a row that another worker has deleted is not
 * subtracted again. One worker does so at a time, since it locks the sums of several clients.
 */
export async function giveBackBytes(tx: Transaction, ids: readonly bigint[]): Promise<number> {
  await tx.query({ name: 'lock-giving-back-photo-bytes', text: 'select pg_advisory_xact_lock($1)', values: [givingBackLock] });
  const { rows } = await tx.query<{ count: bigint }>({
    name: 'give-back-photo-bytes',
    text: `with removed as (delete from removed_photo_bytes where id = any($1::bigint[]) returning client_id, bytes),
      given as (
        update photo_storage set bytes = photo_storage.bytes - sums.bytes
          from (select client_id, sum(bytes) as bytes from removed where bytes > 0 group by client_id) as sums
          where photo_storage.client_id = sums.client_id)
      select count(*) from removed`,
    values: [ids],
  });
  return Number(rows[0]?.count ?? 0);
}

/** A scan of all files that one worker makes. */
export interface Scan {
  /** The number of the claim. */
  readonly claim: bigint;
  readonly startedAt: Date;
  /** Where it goes on. Null: at the beginning. */
  readonly scannedTo: FileName | null;
}

/** Undefined: none is due, or another worker has it. */
export async function claimScan(db: Writer, seconds: number): Promise<Scan | undefined> {
  const { rows } = await db.write<Scan>({
    name: 'claim-photo-scan',
    text: `update photo_scan set claims = claims + 1, claimed_until = now() + make_interval(secs => $1), started_at = coalesce(started_at, now())
      where due_at <= now() and (claimed_until is null or claimed_until < now())
      returning claims as claim, started_at as "startedAt", scanned_to as "scannedTo"`,
    values: [seconds],
  });
  return rows[0];
}

/** Records how far the scan is, and extends its claim. False: the claim has ended. */
export async function advanceScan(db: Writer, { claim }: Scan, scannedTo: FileName, seconds: number): Promise<boolean> {
  const { rowCount } = await db.write({
    name: 'advance-photo-scan',
    text: 'update photo_scan set scanned_to = $2, claimed_until = now() + make_interval(secs => $3) where claims = $1',
    values: [claim, scannedTo, seconds],
  });
  return rowCount === 1;
}

/** Lets any worker go on with it. */
export async function releaseScan(db: Writer, { claim }: Scan): Promise<void> {
  await db.write({ name: 'release-photo-scan', text: 'update photo_scan set claimed_until = null where claims = $1', values: [claim] });
}

/** The next is due this time after this one began. */
export async function endScan(db: Writer, { claim }: Scan, nextSeconds: number): Promise<void> {
  await db.write({
    name: 'end-photo-scan',
    text: `update photo_scan set due_at = started_at + make_interval(secs => $2), started_at = null, scanned_to = null, claimed_until = null
      where claims = $1`,
    values: [claim, nextSeconds],
  });
}
