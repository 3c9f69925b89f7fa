import { createHash, randomUUID } from 'node:crypto';
import { photoBytesMax, recogniseImage, signatureBytes } from '../../images/image-types.ts';
import type { FileName, PhotoStore } from '../../images/photo-store.ts';
import { AppError } from '../../platform/errors.ts';

/** The bytes that somebody has sent, in the store. */
export interface Original {
  readonly name: FileName;
  /** SHA-256, in hexadecimal. */
  readonly hash: string;
  readonly bytes: number;
}

/** The other side may send more before it reads an error, so the connection can't be used again. */
export const closing = { connection: 'close' };

/** Writes an image to the store while it is read. Throws as soon as the bytes are not an image or are too many. */
export async function storeOriginal(store: PhotoStore, content: AsyncIterable<Buffer>): Promise<Original> {
  const name: FileName = `originals/${randomUUID()}`;
  const hash = createHash('sha256');
  let bytes = 0;
  const count = (chunk: Buffer) => {
    hash.update(chunk);
    bytes += chunk.length;
  };
  await store.put(name, checked(content, count));
  return { name, hash: hash.digest('hex'), bytes };
}

/** Passes the bytes on, once their beginning is that of an image. */
async function* checked(body: AsyncIterable<Buffer>, onChunk: (chunk: Buffer) => void): AsyncIterable<Buffer> {
  let total = 0;
  let start: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of body) {
    total += chunk.length;
    if (total > photoBytesMax) throw tooLarge();
    if (start) {
      start = Buffer.concat([start, chunk]);
      if (start.length < signatureBytes) continue;
    }
    const next = start ?? chunk;
    if (start) requireImage(start);
    start = undefined;
    onChunk(next);
    yield next;
  }
  if (start) requireImage(start);
}

function requireImage(start: Buffer): void {
  const type = recogniseImage(start);
  if (type === 'image/heic') throw heicRefused();
  if (type) return;
  const message = start.length === 0 ? 'The body is empty.' : 'The bytes are not a JPEG, PNG or WebP image.';
  throw new AppError('unsupported_image', `${message} Send the bytes of the photo as they are in its file.`, { headers: closing });
}

export const heicRefused = () =>
  new AppError('unsupported_image', "HEIC and AVIF photos can't be read. Convert the photo to JPEG, and send that.", { headers: closing });

export const tooLarge = () =>
  new AppError('photo_too_large', 'The photo is larger than 20 MB (20,000,000 bytes). Send a smaller one.', { headers: closing });

export const storageFull = (headers: Record<string, string> = {}) =>
  new AppError('photo_storage_full', 'The store has no room for photos at the moment. Retry later; if it persists, tell the store.', {
    headers,
  });
