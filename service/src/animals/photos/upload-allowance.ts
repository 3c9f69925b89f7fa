import type { KeyCaller } from '../../access/principals/principals.ts';
import type { Bounds } from '../../access/rate-limit/plans.ts';
import { isUnlimited } from '../../domain/scopes.ts';
import type { Db, Transaction } from '../../platform/db/handles.ts';
import { AppError } from '../../platform/errors.ts';
import { countUploadedBytes, getStoredBytes, getUploadedBytes } from './photo-queries.ts';

type Sender = Pick<KeyCaller, 'clientId' | 'scopes' | 'bounds'>;

/**
 * Throws if this many more bytes are too many today, or too many to store. Called before the bytes are received, so that a client at
 * its limit does not fill the disk with what is deleted again.
 */
export async function requireAllowance(db: Db, sender: Sender, bytes: number): Promise<void> {
  if (isUnlimited(sender.scopes)) return;
  const sent = await getUploadedBytes(db, sender.clientId);
  if (sent + bytes > bytesPerDayMaxOf(sender.bounds)) throw overDay(sender, sent, bytes);
  const stored = await getStoredBytes(db, sender.clientId);
  if (stored + bytes > storedBytesMaxOf(sender.bounds)) throw overStorage(sender, stored, bytes);
}

/** Counts the bytes of a photo that is added. Throws if they are too many today; nothing is counted then. */
export async function countUpload(tx: Transaction, sender: Sender, bytes: number): Promise<void> {
  if (isUnlimited(sender.scopes)) return;
  const { clientId } = sender;
  if (await countUploadedBytes(tx, { clientId, bytes, perDayMax: bytesPerDayMaxOf(sender.bounds) })) return;
  throw overDay(sender, await getUploadedBytes(tx, clientId), bytes);
}

/** Throws if the client now stores too much, with a photo of this many bytes that the transaction has added. */
export async function requireStorage(tx: Transaction, sender: Sender, bytes: number): Promise<void> {
  if (isUnlimited(sender.scopes)) return;
  const stored = await getStoredBytes(tx, sender.clientId);
  if (stored > storedBytesMaxOf(sender.bounds)) throw overStorage(sender, stored - bytes, bytes);
}

/** What a client's photos take, and may take. */
export async function readPhotoStorage(
  db: Db,
  clientId: bigint,
  bounds: Bounds,
): Promise<{ readonly usedBytes: number; readonly limitBytes: number }> {
  return { usedBytes: await getStoredBytes(db, clientId), limitBytes: storedBytesMaxOf(bounds) };
}

const bytesPerDayMaxOf = ({ photoMegabytesPerDay }: Bounds): number => photoMegabytesPerDay * 1_000_000;

export const storedBytesMaxOf = ({ photoStorageGigabytes }: Pick<Bounds, 'photoStorageGigabytes'>): number =>
  photoStorageGigabytes * 1_000_000_000;

function overDay({ bounds }: Sender, sentBytes: number, bytes: number): AppError {
  const sent = Math.floor(sentBytes / 1e6).toLocaleString('en');
  const max = bounds.photoMegabytesPerDay.toLocaleString('en');
  return new AppError(
    'photo_bytes_limit',
    `This client has sent ${sent} of ${max} MB of photos today (UTC), and this one has ${Math.ceil(bytes / 1e6)} MB. Send it after midnight UTC, or make it smaller.`,
  );
}

function overStorage({ bounds }: Sender, storedBytes: number, bytes: number): AppError {
  const stored = Math.floor(storedBytes / 1e6).toLocaleString('en');
  const max = (bounds.photoStorageGigabytes * 1_000).toLocaleString('en');
  return new AppError(
    'photo_storage_limit',
    `The photos of this client take ${stored} of ${max} MB, and this one has ${Math.ceil(bytes / 1e6)} MB. Remove photos, whose files are deleted a day later, or ask the store for another plan.`,
  );
}
