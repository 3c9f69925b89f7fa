import type { Caller } from '../admission/admission.ts';
import type { Db, Transaction } from '../db/handles.ts';
import { AppError } from '../errors.ts';
import { countUploadedBytes, getUploadedBytes } from './photo-queries.ts';

type Sender = Pick<Caller, 'clientId' | 'scopes' | 'bounds'>;

/**
 * Throws if this many more bytes are too many today. Called before the bytes are received, so that a client at its limit does not fill
 * the disk with what is deleted again.
 */
export async function requireAllowance(db: Db, sender: Sender, bytes: number): Promise<void> {
  if (isStaff(sender)) return;
  const sent = await getUploadedBytes(db, sender.clientId);
  if (sent + bytes > bytesMaxOf(sender)) throw overLimit(sender, sent, bytes);
}

/** Counts the bytes of a photo that is added. Throws if they are too many today; nothing is counted then. */
export async function countUpload(tx: Transaction, sender: Sender, bytes: number): Promise<void> {
  if (isStaff(sender)) return;
  const { clientId } = sender;
  if (await countUploadedBytes(tx, { clientId, bytes, perDayMax: bytesMaxOf(sender) })) return;
  throw overLimit(sender, await getUploadedBytes(tx, clientId), bytes);
}

/** The store's own staff may send any number of photos, as it may register any number of categories. */
const isStaff = ({ scopes }: Sender): boolean => scopes.includes('store:manage');

const bytesMaxOf = ({ bounds }: Sender): number => bounds.photoMegabytesPerDay * 1_000_000;

function overLimit({ bounds }: Sender, sentBytes: number, bytes: number): AppError {
  const sent = Math.floor(sentBytes / 1e6).toLocaleString('en');
  const max = bounds.photoMegabytesPerDay.toLocaleString('en');
  return new AppError(
    'photo_bytes_limit',
    `This client has sent ${sent} of ${max} MB of photos today (UTC), and this one has ${Math.ceil(bytes / 1e6)} MB. Send it after midnight UTC, or make it smaller.`,
  );
}
