import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { replyBytesMax } from './image-reply.ts';
import type { StoredFile } from './photo-store.ts';

/** `crashed`: the process has ended without a result; the next attempt may succeed. */
export type ChildEnd = { readonly output: Buffer } | { readonly failure: 'too_expensive' } | { readonly crashed: string };

export interface DecoderBounds {
  /** Of processor time. */
  readonly cpuMsMax: number;
  /** On a busy machine, a process may get little processor time: then the image is not to blame. */
  readonly deadlineMs: number;
  readonly memoryMax: number;
}

const script = fileURLToPath(new URL('./image-process.ts', import.meta.url));
export const defaultBounds: DecoderBounds = { cpuMsMax: 30_000, deadlineMs: 120_000, memoryMax: 280_000_000 };
const heapMegabytesMax = 64;
const checkIntervalMs = 10;
const pageBytes = 4_096;
const tickMs = 10;

/** Decodes an image in a process of its own, which is killed if it takes too much time or memory. */
export async function runImageChild(original: StoredFile, signal?: AbortSignal, bounds: DecoderBounds = defaultBounds): Promise<ChildEnd> {
  const options = [`--max-old-space-size=${heapMegabytesMax}`, '--disable-warning=ExperimentalWarning'];
  const child = spawn(process.execPath, [...options, script, String(original.bytes)], {
    // Without the environment of its parent, which may have passwords: the process decodes what strangers send.
    env: { MALLOC_ARENA_MAX: '2', UV_USE_IO_URING: '0' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let isTooExpensive = false;
  const stop = () => {
    isTooExpensive = true;
    child.kill('SIGKILL');
  };
  const check = async () => {
    const { cpuMs, memoryBytes } = await usageOf(child.pid);
    if (cpuMs > bounds.cpuMsMax || memoryBytes > bounds.memoryMax) stop();
  };
  const checking = setInterval(() => void check(), checkIntervalMs);
  const abort = () => child.kill('SIGKILL');
  const deadline = setTimeout(abort, bounds.deadlineMs);
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
    return end === 'exit status 0' ? { output } : { crashed: end };
  } finally {
    clearTimeout(deadline);
    clearInterval(checking);
    signal?.removeEventListener('abort', abort);
    child.kill('SIGKILL');
  }
}

async function readBounded(output: Readable, stop: () => void): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of output as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > replyBytesMax) stop();
    else chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** What a process has used; 0 if it has ended, or on a system without /proc. */
async function usageOf(pid: number | undefined): Promise<{ cpuMs: number; memoryBytes: number }> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The second field, the name of the program, may contain blanks.
  const fields = stat.slice(stat.lastIndexOf(')')).split(' ').map(Number);
  const [user = 0, system = 0, resident = 0] = [fields[12], fields[13], fields[22]];
  return { cpuMs: (user + system) * tickMs, memoryBytes: resident * pageBytes };
}

/** Webhooks and the expiry of orders go first. */
function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has already ended, or the system does not allow it.
  }
}
