import { LRUCache } from 'lru-cache';
import type { KeyCaller } from '../../access/principals/principals.ts';
import type { Bounds } from '../../access/rate-limit/plans.ts';
import type { Author } from '../../domain/actor.ts';
import { isUnlimited } from '../../domain/scopes.ts';
import { FairTurns } from '../../platform/bounded/fair-turns.ts';
import { growingTo } from '../../platform/bounded/growing-to.ts';
import type { Db, Transaction } from '../../platform/db/handles.ts';
import { AppError, retryLater } from '../../platform/errors.ts';
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

/** Who has asked for how much lately. */
interface Bucket {
  tokens: number;
  atMs: number;
}

/** More than a page with a hundred photos needs at once; and for each second after that. */
const burst = 400;
const perSecond = 50;
const addressesMax = 10_000;

/**
 * A token bucket for each address, in this process. Of more than `addressesMax` addresses the oldest are forgotten, so that memory is
 * bounded: then they start again with a full bucket.
 */
export class AddressBudget {
  readonly #buckets = new LRUCache<string, Bucket>(growingTo(addressesMax));

  /** Returns the seconds to wait; 0: the request is admitted. */
  take(address: string, nowMs: number): number {
    const bucket = this.#buckets.get(address) ?? { tokens: burst, atMs: nowMs };
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) / 1_000) * perSecond);
    bucket.atMs = nowMs;
    this.#buckets.set(address, bucket);
    if (bucket.tokens < 1) return 1;
    bucket.tokens -= 1;
    return 0;
  }
}

/** How many photos a client with its keys may send at once to one process, and each person in the console. */
export const uploadsMax = 2;
/** All people of one client together: those of a shelter share it, and one with a bad line must not stop the others. */
const uploadsOfPeopleMax = 16;
/** All clients and people together. */
const uploadsOfAllMax = 64;

/** The uploads that are in progress in this process. None waits for another. */
export class UploadSlots {
  readonly #ofClients = new FairTurns({ turnsMax: uploadsOfAllMax, turnsOfOwnerMax: uploadsMax, pendingOfOwnerMax: 0 });
  readonly #ofPeople = new FairTurns({ turnsMax: uploadsOfAllMax, turnsOfOwnerMax: uploadsMax, pendingOfOwnerMax: 0 });

  /** Throws if there is no slot. The slot is free again once it is disposed of. */
  take({ clientId, personId }: Author & { readonly clientId: bigint }): Disposable {
    if (personId === null) return granted(this.#ofClients.takeNow(clientId), 'This client is', uploadsMax);
    using taken = new DisposableStack();
    taken.use(granted(this.#ofPeople.takeNow(personId), 'This person is', uploadsMax));
    const ofClient = this.#ofClients.takeNow(clientId, uploadsOfPeopleMax);
    taken.use(granted(ofClient, 'The people of this client are', uploadsOfPeopleMax));
    return taken.move();
  }
}

function granted(turn: ReturnType<FairTurns['takeNow']>, who: string, max: number): Disposable {
  if (typeof turn === 'object') return turn;
  const cause = new Error(`${uploadsOfAllMax} uploads are in progress`);
  if (turn === 'others') throw retryLater('Too many photos are being sent at the moment. Retry in 1 s.', cause);
  const message = `${who} already sending ${max} photos; ${max} at once are allowed. Retry in 1 s.`;
  throw new AppError('too_many_uploads', message, { headers: { 'retry-after': '1' } });
}
