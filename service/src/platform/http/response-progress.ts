import { type IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply } from 'fastify';
import { oncePerTurn } from '../bounded/joined-runs.ts';
import { addressSubject, requestSubject } from '../caller-addresses.ts';

const defaultBounds = {
  /** For a reader to take a byte while bytes wait. */
  stalledMs: 10_000,
  /** For a whole response that is no stream of events, and 1 s more for each `bytesPerSecondMin` of it. */
  responseMs: 60_000,
  bytesPerSecondMin: 16_000,
  clientBytesMax: 8_000_000,
  processBytesMax: 64_000_000,
  /** Requests on a connection that wait for an earlier one. */
  pipelinedMax: 50,
  sweepMs: 500,
};
export type ProgressBounds = typeof defaultBounds;

/** The bounds that a connection can be closed for. */
type Reason = 'stalled' | 'overdue' | 'client_bytes' | 'process_bytes' | 'pipelined';

/** What Node.js and Fastify hold for a response besides its bytes, measured. */
const responseBytes = 4_000;
/** If the process has too many unsent bytes, it is brought down to this share of the bound, so that the next response finds room. */
const roomyShare = 7 / 8;
/** Responses that a sweep looks at before others get a turn of the event loop. */
const sweepSliceMax = 1_000;
/** Node.js copies a longer string to send it. As a buffer it is copied as often, but its unsent bytes can be counted. */
const stringLengthMax = 16_384;
const logIntervalMs = 10_000;
const loggedClientsMax = 5;

/** Whose unsent bytes they are. Known to the fast path by the client, to Fastify's requests by their reply. */
type Reader = { readonly clientId: bigint } | FastifyReply;

interface WatchedResponse extends ServerResponse {
  /** Undefined: only the address is known. */
  reader?: Reader | undefined;
}

/** The unsent responses of a connection. With pipelining there are several, of which one is being sent. */
interface Backlog {
  readonly socket: Socket;
  readonly owner: Owner;
  readonly responses: Map<WatchedResponse, Sending>;
  bytes: number;
  /** That the operating system has taken from this connection since it was opened. */
  takenBytes: number;
  takenAtMs: number;
}

interface Sending {
  /** Unsent, with `responseBytes`, as counted in `Backlog.bytes`. */
  bytes: number;
  /** Of the whole response, as far as it is known. */
  size: number;
  /** Undefined: it waits for earlier responses on its connection. */
  sinceMs: number | undefined;
}

/** A client, or an address without a valid key. */
interface Owner {
  readonly name: string;
  readonly clientId: bigint | undefined;
  readonly backlogs: Set<Backlog>;
  bytes: number;
}

/**
 * Makes sure that every response progresses or ends, and bounds the memory that unsent responses take.
 *
 * A connection is in one of two states. Unwatched: the operating system has taken all that was written. Watched, with a backlog: a
 * response was written, and bytes of it are left. The class of responses that `createServer` gets notices that at each write, so a
 * response that is taken at once costs two comparisons. A sweep looks at the connections that are watched, and at no others.
 *
 * Invariants:
 * - A backlog is in `#backlogs` and in its owner's set, or in neither. An owner without backlogs is deleted.
 * - The bytes of an owner are the sum of its backlogs', and `#bytes` is the sum of all. They are not above their bounds once a
 *   response is written.
 * - A connection has `pipelinedMax` responses that wait for an earlier one at most, so the work of a sweep is bounded too.
 * - What a response writes in several parts is counted once the event loop has handed them over, since they are held back until then.
 */
export class ResponseProgress {
  /** For `createServer`. */
  readonly Response: typeof ServerResponse;
  readonly closed: Record<Reason, number> = { stalled: 0, overdue: 0, client_bytes: 0, process_bytes: 0, pipelined: 0 };
  readonly #bounds: ProgressBounds;
  readonly #log: Pick<FastifyBaseLogger, 'warn'>;
  readonly #backlogs = new Map<Socket, Backlog>();
  readonly #owners = new Map<string, Owner>();
  readonly #written = new Set<WatchedResponse>();
  /** The number of requests that wait for an earlier one. */
  readonly #pipelined = new WeakMap<Socket, number>();
  #bytes = 0;
  #isSweeping = false;
  #unlogged: { readonly counts: Partial<Record<Reason, number>>; readonly clients: Set<string> } | undefined;

  constructor(log: Pick<FastifyBaseLogger, 'warn'>, bounds: Partial<ProgressBounds> = {}) {
    this.#log = log;
    this.#bounds = { ...defaultBounds, ...bounds };
    this.Response = watchedResponse(
      (response) => this.#onEnd(response),
      (response) => this.#onWrite(response),
    );
  }

  /** Bytes of responses that are not sent yet, and what else they hold. A part of a response counts until all of it is sent. */
  get unsentBytes(): number {
    return this.#bytes;
  }

  /** A listener that closes a connection on which too many requests wait: Node.js handles all that arrive in one packet. */
  boundPipelining(listener: RequestListener): RequestListener {
    return (request, response) => {
      // Only a response that waits for an earlier one has no socket.
      if (response.socket || this.#addPipelined(request.socket, response)) listener(request, response);
    };
  }

  #addPipelined(socket: Socket, response: ServerResponse): boolean {
    if (socket.destroyed) return false;
    const count = (this.#pipelined.get(socket) ?? 0) + 1;
    this.#pipelined.set(socket, count);
    if (count > this.#bounds.pipelinedMax) {
      this.#reset(socket, undefined, 'pipelined');
      return false;
    }
    response.once('close', () => this.#pipelined.set(socket, (this.#pipelined.get(socket) ?? 1) - 1));
    return true;
  }

  #onEnd(response: WatchedResponse): void {
    const backlog = this.#count(response);
    if (backlog) this.#enforce(backlog.owner);
  }

  #onWrite(response: WatchedResponse): void {
    this.#written.add(response);
    void this.#countWritten();
  }

  readonly #countWritten = oncePerTurn(() => {
    for (const response of this.#written) {
      this.#written.delete(response);
      if (response.writableLength > 0) this.#onEnd(response);
    }
  });

  /** Returns the backlog that the response belongs to; undefined: all of it is sent, or nobody reads it any more. */
  #count(response: WatchedResponse): Backlog | undefined {
    const { socket } = response.req;
    if (response.writableLength === 0 || socket.destroyed) return undefined;
    const backlog = this.#backlogs.get(socket) ?? this.#open(response);
    const sending = backlog.responses.get(response) ?? { bytes: 0, size: 0, sinceMs: undefined };
    backlog.responses.set(response, sending);
    this.#update(backlog, response, sending);
    return backlog;
  }

  #open(response: WatchedResponse): Backlog {
    const { socket } = response.req;
    const owner = this.#ownerOf(response);
    const backlog = { socket, owner, responses: new Map(), bytes: 0, takenBytes: takenBytesOf(socket), takenAtMs: performance.now() };
    this.#backlogs.set(socket, backlog);
    owner.backlogs.add(backlog);
    if (!this.#isSweeping) this.#sweepLater();
    return backlog;
  }

  #ownerOf({ reader, req }: WatchedResponse): Owner {
    const clientId = clientOf(reader);
    const name = clientId === undefined ? addressOf(reader, req) : `c${clientId}`;
    const owner = this.#owners.get(name) ?? { name, clientId, backlogs: new Set(), bytes: 0 };
    this.#owners.set(name, owner);
    return owner;
  }

  #update(backlog: Backlog, response: WatchedResponse, sending: Sending): void {
    const unsent = response.writableLength;
    const bytes = unsent === 0 ? 0 : unsent + responseBytes;
    this.#add(backlog, bytes - sending.bytes);
    sending.bytes = bytes;
    sending.size = Math.max(sending.size, unsent, lengthOf(response.reader));
    // Only the response that is being sent has the socket.
    if (response.socket) sending.sinceMs ??= performance.now();
  }

  #add(backlog: Backlog, bytes: number): void {
    backlog.bytes += bytes;
    backlog.owner.bytes += bytes;
    this.#bytes += bytes;
  }

  #forget(backlog: Backlog): void {
    this.#add(backlog, -backlog.bytes);
    this.#backlogs.delete(backlog.socket);
    backlog.owner.backlogs.delete(backlog);
    if (backlog.owner.backlogs.size === 0) this.#owners.delete(backlog.owner.name);
  }

  /** Closes the slowest connections of the owner, and then of all, until the bounds hold. */
  #enforce(owner: Owner): void {
    const { clientBytesMax, processBytesMax } = this.#bounds;
    if (owner.bytes > clientBytesMax) this.#closeSlowest(owner.backlogs, () => owner.bytes <= clientBytesMax, 'client_bytes');
    if (this.#bytes <= processBytesMax) return;
    const everyone = this.#backlogs.values();
    this.#closeSlowest(everyone, () => this.#bytes <= processBytesMax * roomyShare, 'process_bytes');
  }

  /** The slowest is the one that has taken nothing for the longest time; of those, the one with the most unsent bytes. */
  #closeSlowest(backlogs: Iterable<Backlog>, isEnough: () => boolean, reason: Reason): void {
    const nowMs = performance.now();
    const slowestFirst = [...backlogs]
      .filter((backlog) => this.#refresh(backlog, nowMs))
      .toSorted((a, b) => a.takenAtMs - b.takenAtMs || b.bytes - a.bytes);
    for (const backlog of slowestFirst) {
      if (isEnough()) return;
      this.#close(backlog, reason);
    }
  }

  #sweepLater(): void {
    this.#isSweeping = true;
    setTimeout(() => this.#sweep(this.#backlogs.values()), this.#bounds.sweepMs).unref();
  }

  /** `backlogs` is an iterator, so that a sweep continues where its last slice ended. */
  #sweep(backlogs: Iterable<Backlog>): void {
    const nowMs = performance.now();
    let slice = sweepSliceMax;
    for (const backlog of backlogs) {
      slice -= backlog.responses.size;
      const reason = this.#refresh(backlog, nowMs) && this.#brokenBound(backlog, nowMs);
      if (reason) this.#close(backlog, reason);
      if (slice <= 0) {
        setImmediate(() => this.#sweep(backlogs));
        return;
      }
    }
    this.#isSweeping = false;
    if (this.#backlogs.size > 0) this.#sweepLater();
  }

  /** Counts again what is unsent. Returns false, and forgets the backlog, if that is nothing. */
  #refresh(backlog: Backlog, nowMs: number): boolean {
    const { socket, responses } = backlog;
    for (const [response, sending] of responses) {
      this.#update(backlog, response, sending);
      if (sending.bytes === 0) responses.delete(response);
    }
    if (responses.size === 0 || socket.destroyed) {
      this.#forget(backlog);
      return false;
    }
    const takenBytes = takenBytesOf(socket);
    // With an empty socket the others wait for a response that is not written yet: the reader is not slow.
    if (takenBytes !== backlog.takenBytes || socket.writableLength === 0) {
      backlog.takenBytes = takenBytes;
      backlog.takenAtMs = nowMs;
    }
    return true;
  }

  #brokenBound({ responses, takenAtMs }: Backlog, nowMs: number): Reason | undefined {
    const { stalledMs, responseMs, bytesPerSecondMin } = this.#bounds;
    if (nowMs - takenAtMs >= stalledMs) return 'stalled';
    for (const [{ reader }, { size, sinceMs = nowMs }] of responses) {
      if (nowMs - sinceMs >= responseMs + (size / bytesPerSecondMin) * 1_000 && !isStream(reader)) return 'overdue';
    }
    return undefined;
  }

  #close(backlog: Backlog, reason: Reason): void {
    this.#forget(backlog);
    this.#reset(backlog.socket, backlog.owner.clientId, reason);
  }

  /** Not an ordinary close: after that the operating system would keep what it has taken, and offer it to the reader for minutes. */
  #reset(socket: Socket, clientId: bigint | undefined, reason: Reason): void {
    this.closed[reason] += 1;
    this.#logLater(clientId, reason);
    socket.resetAndDestroy();
  }

  /** One line for all connections that are closed within `logIntervalMs`. */
  #logLater(clientId: bigint | undefined, reason: Reason): void {
    if (!this.#unlogged) setTimeout(() => this.#logClosed(), logIntervalMs).unref();
    this.#unlogged ??= { counts: {}, clients: new Set() };
    const { counts, clients } = this.#unlogged;
    counts[reason] = (counts[reason] ?? 0) + 1;
    if (clientId !== undefined && clients.size < loggedClientsMax) clients.add(String(clientId));
  }

  #logClosed(): void {
    const { counts, clients } = this.#unlogged ?? {};
    this.#unlogged = undefined;
    this.#log.warn({ closed: counts, clients: [...(clients ?? [])] }, 'closed connections whose readers were too slow');
  }
}

/** Says whose the response's unsent bytes are, for one that Fastify does not handle. */
export function setReader(response: ServerResponse, client: { readonly clientId: bigint }): void {
  (response as WatchedResponse).reader = client;
}

/** Says whose the unsent bytes are, for every response that Fastify handles. */
export function setReaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_, reply, done) => {
    (reply.raw as WatchedResponse).reader = reply;
    done();
  });
}

/** A class of responses that calls `onEnd` and `onWrite` if bytes are left after a write. */
function watchedResponse(onEnd: (response: WatchedResponse) => void, onWrite: (response: WatchedResponse) => void): typeof ServerResponse {
  return class extends ServerResponse implements WatchedResponse {
    reader: Reader | undefined = undefined;

    override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
      super.end(countable(chunk), encoding as BufferEncoding, callback as () => void);
      // Without a socket it waits for earlier responses on its connection.
      if (!this.socket || this.socket.writableLength > 0) onEnd(this);
      return this;
    }

    override write(chunk: unknown, encoding?: unknown, callback?: unknown): boolean {
      const hasRoom = super.write(countable(chunk), encoding as BufferEncoding, callback as () => void);
      onWrite(this);
      return hasRoom;
    }
  } as typeof ServerResponse;
}

/** Every text here is sent in UTF-8. */
const countable = (chunk: unknown) => (typeof chunk === 'string' && chunk.length > stringLengthMax ? Buffer.from(chunk) : chunk);

/**
 * The bytes that the operating system has taken from the connection. Node.js has no public figure for that: a write counts as a whole.
 * Its own timeouts of connections use the same.
 */
function takenBytesOf(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { readonly _handle?: { readonly bytesWritten: number; readonly writeQueueSize: number } };
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}

function clientOf(reader: Reader | undefined): bigint | undefined {
  if (!reader) return undefined;
  return 'clientId' in reader ? reader.clientId : reader.request.caller?.clientId;
}

const addressOf = (reader: Reader | undefined, { socket }: IncomingMessage) =>
  reader && 'request' in reader ? requestSubject(reader.request) : addressSubject(socket.remoteAddress);

const lengthOf = (reader: Reader | undefined) => (reader && 'request' in reader ? Number(reader.getHeader('content-length') ?? 0) : 0);

const isStream = (reader: Reader | undefined) => reader !== undefined && 'request' in reader && reader.request.isStream;
