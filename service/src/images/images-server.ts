// What `homeward images` does: decodes images for the workers that connect to its socket, each in a process of its own.
import { once } from 'node:events';
import { lstat, unlink } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { FairTurns } from '../platform/bounded/fair-turns.ts';
import { ConfigError } from '../platform/config.ts';
import { type ChildEnd, runImageChild } from './image-child.ts';
import { readReply } from './image-reply.ts';
import { headBytes, photoBytesMax, readUnavailable, readyLine, unavailableLine } from './image-types.ts';
import { areImagesServed } from './images-client.ts';

type Log = Readonly<Record<'info' | 'warn', (facts: object, text: string) => void>>;

/** Images that are decoded at once. Another waits, and its bytes are not read until it is its turn. */
const decodesMax = 2;
/** Connections at once. Another is told to come again. */
const connectionsMax = 32;
const decodes = { turnsMax: decodesMax, turnsOfOwnerMax: decodesMax, pendingOfOwnerMax: connectionsMax };
/** In which a worker must have sent its image, once it is its turn, or taken the reply. */
const transferTimeoutMs = 10_000;
/** For images that are being decoded when the process is told to end. */
const drainTimeoutMs = 3_000;
/** The owner and the group may connect. */
const socketUmask = 0o117;

/** Listens until it is disposed of, which takes some seconds at most. */
export async function listenForImages(path: string, log: Log, { drainMs = drainTimeoutMs } = {}): Promise<AsyncDisposable> {
  await removeStaleSocket(path);
  const parts = { turns: new FairTurns(decodes), stopping: new AbortController(), killing: new AbortController(), log };
  const connections = new Set<Promise<void>>();
  const server = createServer((connection) => {
    // An error is followed by 'close'.
    connection.on('error', () => {});
    if (connections.size >= connectionsMax) return reply(connection, unavailableLine('busy'));
    const serving = serveConnection(connection, parts).finally(() => connections.delete(serving));
    connections.add(serving);
  });
  await listen(server, path);
  return {
    async [Symbol.asyncDispose]() {
      server.close();
      parts.stopping.abort();
      await Promise.race([Promise.all(connections), sleep(drainMs, undefined, { ref: false })]);
      parts.killing.abort();
      await Promise.all(connections);
    },
  };
}

interface Parts {
  readonly turns: FairTurns;
  /** Aborted when no further image is begun. */
  readonly stopping: AbortController;
  /** Aborted when those that are being decoded end too. */
  readonly killing: AbortController;
  readonly log: Log;
}

async function serveConnection(connection: Socket, parts: Parts): Promise<void> {
  const gone = new AbortController();
  connection.once('close', () => gone.abort());
  try {
    const text = await respond(connection, gone.signal, parts);
    if (!gone.signal.aborted) reply(connection, text);
  } catch {
    // The worker has left, or is too slow.
    connection.destroy();
  }
}

async function respond(connection: Socket, gone: AbortSignal, { turns, stopping, killing, log }: Parts): Promise<string | Buffer> {
  const ended = AbortSignal.any([gone, killing.signal]);
  const head = await readExactly(connection, headBytes, ended);
  const bytes = head.readUInt32BE();
  if (bytes === 0) return readyLine;
  if (bytes > photoBytesMax) return crashedLine('the image is too long');
  using turn = await turns.take(undefined, { signal: AbortSignal.any([gone, stopping.signal]) });
  if (!turn) return unavailableLine('stopping');
  const image = await readExactly(connection, bytes, ended);
  // Reads on, to notice that the worker has left.
  connection.resume();
  const startedAtMs = performance.now();
  const end = await runImageChild({ bytes, stream: Readable.from([image]) }, ended);
  if (killing.signal.aborted) return unavailableLine('stopping');
  if (!gone.aborted) logFailure(log, end, { bytes, ms: Math.round(performance.now() - startedAtMs) });
  return replyTo(end);
}

/** What an image that has taken over its process says must not be taken for what this process says. */
export function replyTo(end: ChildEnd): string | Buffer {
  if ('output' in end) return readUnavailable(end.output) ? crashedLine('a forged reply') : end.output;
  return 'failure' in end ? `${JSON.stringify(end)}\n` : crashedLine(end.crashed);
}

const crashedLine = (crashed: string) => `${JSON.stringify({ crashed })}\n`;

/** Nothing of the image is logged. */
function logFailure(log: Log, end: ChildEnd, facts: { readonly bytes: number; readonly ms: number }): void {
  const outcome = 'output' in end ? readReply(end.output) : end;
  if ('failure' in outcome) log.info({ ...facts, failure: outcome.failure }, 'image rejected');
  if ('crashed' in outcome) log.warn({ ...facts, crashed: outcome.crashed }, 'image not decoded');
}

/** Sends it all, and closes. What still arrives is dropped: a connection that is closed over unread bytes would lose the reply. */
function reply(connection: Socket, text: string | Buffer): void {
  connection.resume();
  connection.end(text);
  const late = setTimeout(() => connection.destroy(), transferTimeoutMs);
  connection.once('close', () => clearTimeout(late));
}

/** Throws if the bytes don't arrive in time: then the connection is closed. */
async function readExactly(connection: Socket, bytes: number, signal: AbortSignal): Promise<Buffer> {
  const read = Buffer.allocUnsafeSlow(bytes);
  const late = setTimeout(() => connection.destroy(), transferTimeoutMs);
  try {
    for (let offset = 0; offset < bytes; ) {
      // Not more at once than is there: the stream would hold all of it, and meanwhile call again and again.
      const chunk = connection.read(Math.min(bytes - offset, connection.readableLength)) as Buffer | null;
      if (chunk) offset += chunk.copy(read, offset);
      else if (connection.readableEnded) throw new Error('the connection was closed');
      else await once(connection, 'readable', { signal });
    }
    return read;
  } finally {
    clearTimeout(late);
  }
}

/** A process that was killed has left its socket. */
async function removeStaleSocket(path: string): Promise<void> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!found) return;
  if (!found.isSocket()) throw new ConfigError(`HOMEWARD_IMAGES_SOCKET: ${path} exists and is not a socket. Name another path.`);
  if (await areImagesServed(path)) throw new ConfigError(`HOMEWARD_IMAGES_SOCKET: another process listens on ${path}. Stop it first.`);
  await unlink(path);
}

async function listen(server: Server, path: string): Promise<void> {
  const listening = once(server, 'listening');
  const before = process.umask(socketUmask);
  try {
    // The socket is made in this call.
    server.listen(path);
  } finally {
    process.umask(before);
  }
  await listening;
}
