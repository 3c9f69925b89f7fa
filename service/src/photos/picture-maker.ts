import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import type { Result } from './image-process.ts';
import type { PhotoFailure } from './photo-failures.ts';
import type { StoredFile } from './photo-store.ts';

export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly hash: string;
  readonly content: Buffer;
}

/** What became of an image. `crashed`: the process has ended without a result; the next attempt may succeed. */
export type Outcome =
  | { readonly failure: PhotoFailure }
  | { readonly crashed: string }
  | { readonly placeholder: string; readonly pictures: readonly Picture[] };

interface Bounds {
  readonly deadlineMs: number;
  readonly memoryMax: number;
}

const script = fileURLToPath(new URL('./image-process.ts', import.meta.url));
const defaultBounds: Bounds = { deadlineMs: 30_000, memoryMax: 280_000_000 };
const heapMegabytesMax = 64;
const memoryIntervalMs = 10;
const outputBytesMax = 32_000_000;
const pageBytes = 4_096;

/** Makes the pictures of an image in a process of its own, which is killed if it takes too long or too much memory. */
export async function makePictures(original: StoredFile, signal?: AbortSignal, bounds: Bounds = defaultBounds): Promise<Outcome> {
  // Without the environment, which has the passwords of the store: the process decodes what strangers send.
  const child = spawn(process.execPath, [`--max-old-space-size=${heapMegabytesMax}`, script, String(original.bytes)], {
    env: { MALLOC_ARENA_MAX: '2' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let isTooExpensive = false;
  const stop = () => {
    isTooExpensive = true;
    child.kill('SIGKILL');
  };
  const deadline = setTimeout(stop, bounds.deadlineMs);
  const memory = setInterval(() => void memoryOf(child.pid).then((bytes) => bytes > bounds.memoryMax && stop()), memoryIntervalMs);
  const abort = () => child.kill('SIGKILL');
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  lowerPriority(child.pid);
  try {
    const ended = Promise.withResolvers<string>();
    child.once('error', (error) => ended.resolve(String(error)));
    child.once('close', (code, by) => ended.resolve(by ?? `exit status ${code}`));
    // If the original can't be read, that error is thrown. One that the child has not read to its end is no error.
    const sent = pipeline(original.stream, child.stdin).catch((error: NodeJS.ErrnoException) => {
      if (original.stream.errored && original.stream.errored === error) throw error;
    });
    const [output, end] = await Promise.all([readBounded(child.stdout, stop), ended.promise, sent]);
    if (isTooExpensive) return { failure: 'too_expensive' };
    return end === 'exit status 0' ? readOutput(output) : { crashed: end };
  } finally {
    clearTimeout(deadline);
    clearInterval(memory);
    signal?.removeEventListener('abort', abort);
    child.kill('SIGKILL');
  }
}

async function readBounded(output: Readable, stop: () => void): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of output as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > outputBytesMax) stop();
    else chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function readOutput(output: Buffer): Outcome {
  const end = output.indexOf('\n');
  const result = JSON.parse(output.toString('utf8', 0, end)) as Result;
  if ('failure' in result) return result;
  let from = end + 1;
  const pictures = result.pictures.map(({ width, height, bytes }) => {
    const content = output.subarray(from, from + bytes);
    from += bytes;
    return { width, height, hash: hash('sha256', content, 'hex'), content };
  });
  return { placeholder: result.placeholder, pictures };
}

/** The resident memory of a process, in bytes; 0 if it has ended, or on a system without /proc. */
async function memoryOf(pid: number | undefined): Promise<number> {
  const [, resident] = (await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => '')).split(' ');
  return Number(resident ?? 0) * pageBytes;
}

/** Webhooks and the expiry of orders go first. */
function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has already ended, or the system does not allow it.
  }
}
