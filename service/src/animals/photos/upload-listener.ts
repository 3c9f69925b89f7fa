import type { IncomingMessage } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';
import { SignedOut } from '../../access/principals/principals.ts';
import { imageTypes, photoBytesMax } from '../../images/image-types.ts';
import { type PhotoStore, StoreFull } from '../../images/photo-store.ts';
import { AppError } from '../../platform/errors.ts';
import { liftRequestTimeout, lingerOnClose } from '../../platform/http/protocol/connections.ts';
import { closing, heicRefused, type Original, storageFull, storeOriginal, tooLarge } from './originals.ts';

/** In place of the time limit for a whole request: the bytes must arrive at this rate on average, after the grace. */
const bytesPerSecondMin = 16_000;
const graceMs = 10_000;
const uploadMsMax = 600_000;
const checkIntervalMs = 500;

/** Throws if the headers say that the body can't be accepted. The body is not read. */
export function requirePhotoHeaders(request: IncomingMessage): void {
  const { headers } = request;
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === 'image/heic' || type === 'image/heif') throw heicRefused();
  if (!(imageTypes as readonly string[]).includes(type)) {
    const given = type === '' ? 'This request had none' : `Got ${JSON.stringify(type.slice(0, 60))}`;
    throw new AppError('unsupported_image', `Send the bytes of the photo with Content-Type image/jpeg, image/png or image/webp. ${given}.`);
  }
  if (Number(headers['content-length'] ?? 0) > photoBytesMax) {
    lingerOnClose(request);
    throw tooLarge();
  }
}

/** Throws if the store has little room left. The body is not read. */
export async function requireRoom(store: PhotoStore): Promise<void> {
  if (!(await store.hasRoom('original'))) throw storageFull();
}

/** Writes the body to the store while it arrives. If it fails, nothing of it remains there, and the connection is closed. */
export const receivePhoto = (store: PhotoStore, request: IncomingMessage, stopping: AbortSignal): Promise<Original> =>
  readInTime(request, stopping, (body) => storeOriginal(store, body));

/** Reads the body while it arrives, within the time of an upload. If that fails, the connection is closed. */
export async function readInTime<T>(request: IncomingMessage, stopping: AbortSignal, read: (body: Readable) => Promise<T>): Promise<T> {
  const body = new PassThrough();
  const startedAtMs = performance.now();
  let received = 0;
  const count = (chunk: Buffer) => (received += chunk.length);
  const fail = (error: Error) => void body.destroy(error);
  // `read` gets the error when it reads. Without a listener, one that comes before or after that would end the process.
  body.on('error', () => {});
  const onCut = () => fail(cutOff());
  const onClose = () => {
    if (!request.complete) onCut();
  };
  const onStopping = () => fail(shuttingDown());
  const check = setInterval(() => {
    const elapsedMs = performance.now() - startedAtMs;
    if (isTooSlow(received, elapsedMs)) fail(tooSlow(received, elapsedMs));
  }, checkIntervalMs);
  using _lifted = liftRequestTimeout(request);
  request.on('data', count).once('error', onCut).once('close', onClose).pipe(body);
  stopping.addEventListener('abort', onStopping, { once: true });
  if (request.destroyed) onCut();
  if (stopping.aborted) onStopping();
  try {
    return await read(body);
  } catch (error) {
    lingerOnClose(request);
    throw error instanceof SignedOut ? error : asUploadError(error);
  } finally {
    clearInterval(check);
    stopping.removeEventListener('abort', onStopping);
    request.off('data', count).off('close', onClose).unpipe(body);
    body.destroy();
    // What still arrives is discarded.
    request.resume();
  }
}

/** What is said of an upload that could not be stored. */
export function asUploadError(error: unknown): AppError {
  if (error instanceof StoreFull) return storageFull(closing);
  return error instanceof AppError ? error : notStored(error);
}

/** Whether an upload is slower than a bad connection. Without a minimum rate, a few callers could hold all uploads for hours. */
export const isTooSlow = (receivedBytes: number, elapsedMs: number): boolean =>
  elapsedMs > uploadMsMax || (elapsedMs > graceMs && receivedBytes < (elapsedMs / 1_000) * bytesPerSecondMin);

function tooSlow(receivedBytes: number, elapsedMs: number): AppError {
  const seconds = Math.floor(elapsedMs / 1_000);
  const arrived = receivedBytes.toLocaleString('en');
  return new AppError(
    'upload_too_slow',
    `Only ${arrived} bytes of the photo arrived in ${seconds} s. Send at least 16 kB a second, and everything within 10 minutes.`,
    { headers: closing },
  );
}

const cutOff = () => new AppError('malformed_request', 'The connection was closed before the body ended.', { headers: closing });

const shuttingDown = () =>
  new AppError('unavailable', 'This process is shutting down. Send the photo again.', {
    cause: new Error('shutdown during an upload'),
    headers: { 'retry-after': '1', ...closing },
  });

export const notStored = (cause: unknown) =>
  new AppError('unavailable', "The photo can't be stored at the moment. Retry in 1 s.", {
    cause,
    headers: { 'retry-after': '1', ...closing },
  });
