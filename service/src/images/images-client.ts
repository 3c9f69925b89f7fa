import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type DecodingOutcome, readReply, replyBytesMax } from './image-reply.ts';
import { headBytes, photoBytesMax, readUnavailable, readyLine } from './image-types.ts';
import type { StoredFile } from './photo-store.ts';

/** Longer than an image may take, with some time to wait for its turn. */
const replyTimeoutMs = 150_000;
const readyTimeoutMs = 2_000;

/** No image can be decoded at the moment. */
export class ImagesUnavailable extends Error {}

/** Asks `homeward images` for the pictures of an image. Whatever is wrong with the reply, the outcome is a crash. */
export async function askForPictures(
  path: string,
  original: StoredFile,
  { signal, timeoutMs = replyTimeoutMs }: { readonly signal?: AbortSignal | undefined; readonly timeoutMs?: number } = {},
): Promise<DecodingOutcome> {
  const image = await readWhole(original);
  const reply = await exchange(path, image, signal, timeoutMs);
  if (!reply) return { crashed: signal?.aborted ? 'aborted' : 'the connection was closed, or the reply is too long' };
  const why = readUnavailable(reply);
  if (why) throw new ImagesUnavailable(`homeward images at ${path} is ${why}`);
  return readReply(reply);
}

/** Whether `homeward images` listens and responds. */
export async function areImagesServed(path: string): Promise<boolean> {
  const reply = await exchange(path, Buffer.alloc(0), undefined, readyTimeoutMs).catch(() => undefined);
  return reply?.toString('latin1') === readyLine;
}

/** Undefined if it is aborted, or if the reply is cut off or too long. */
async function exchange(path: string, image: Buffer, signal: AbortSignal | undefined, timeoutMs: number): Promise<Buffer | undefined> {
  const connection = connect(path);
  const abort = () => connection.destroy(new Error('aborted'));
  const late = setTimeout(() => {
    connection.destroy(new ImagesUnavailable(`homeward images at ${path} did not reply in ${timeoutMs / 1_000} s`));
  }, timeoutMs);
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  let isConnected = false;
  try {
    await once(connection, 'connect');
    isConnected = true;
    const head = Buffer.alloc(headBytes);
    head.writeUInt32BE(image.length);
    connection.write(head);
    connection.write(image);
    return await readBounded(connection);
  } catch (error) {
    if (signal?.aborted) return undefined;
    if (error instanceof ImagesUnavailable) throw error;
    if (isConnected) return undefined;
    throw new ImagesUnavailable(`homeward images can't be reached at ${path}: ${(error as Error).message}`, { cause: error });
  } finally {
    clearTimeout(late);
    signal?.removeEventListener('abort', abort);
    // Its errors are known by now, or of no interest.
    connection.on('error', () => {}).destroy();
  }
}

async function readBounded(connection: Socket): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of connection as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > replyBytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Before anything is sent, so that a slow store of files holds up nobody. Throws what the store throws. */
async function readWhole({ bytes, stream }: StoredFile): Promise<Buffer> {
  if (bytes > photoBytesMax) throw new Error(`an original of ${bytes} bytes`);
  const chunks: Buffer[] = [];
  let left = bytes;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    left -= chunk.length;
    if (left < 0) throw new Error('an original is longer than its length');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
