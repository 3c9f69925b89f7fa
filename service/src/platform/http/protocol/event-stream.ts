import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { AppError } from '../../errors.ts';

const streamsMax = 5_000;
/** How long a reader waits before it reconnects. */
const retryMs = 1_000;
/** The buffer of a stream. With more unsent bytes it is full. */
const bufferedBytesMax = 65_536;

const defaultTimes = {
  /** Heartbeats also show proxies that the connection is in use. */
  heartbeatMs: 15_000,
  /** After this the reader reconnects with the last id that it has seen, and its key is authenticated again. */
  lifetimeMs: 300_000,
  /** For a reader to read the end of the stream. */
  endTimeoutMs: 1_000,
};
type Times = typeof defaultTimes;

/** Formats one server-sent event. */
export const eventText = (id: string, type: string, data: string): string => `${idText(id)}event: ${type}\ndata: ${data}\n\n`;

/** Sets the reader's last event id. If a blank line follows it directly, the reader gets no event. */
const idText = (id: string) => `id: ${id}\n`;

/** The open streams of server-sent events of a process. */
export class EventStreams {
  readonly #streams = new Map<EventStream, bigint>();
  readonly #times: Times;
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(times: Partial<Times> = {}) {
    this.#times = { ...defaultTimes, ...times };
  }

  get size(): number {
    return this.#streams.size;
  }

  /** Takes the response over from Fastify, with the headers that are set so far. */
  open(
    reply: FastifyReply,
    { clientId, bounds }: { readonly clientId: bigint; readonly bounds: { readonly streams: number } },
  ): EventStream {
    this.#rejectTooMany(clientId, bounds.streams);
    const stream = new EventStream(reply, this.#times);
    reply.request.isStream = true;
    this.#streams.set(stream, clientId);
    this.#heartbeat ??= setInterval(() => this.#sendHeartbeats(), this.#times.heartbeatMs).unref();
    stream.onClose(() => this.#streams.delete(stream));
    return stream;
  }

  closeAll(): void {
    clearInterval(this.#heartbeat);
    this.#heartbeat = undefined;
    for (const stream of this.#streams.keys()) stream.close();
  }

  #sendHeartbeats(): void {
    for (const stream of this.#streams.keys()) stream.sendHeartbeat();
  }

  #rejectTooMany(clientId: bigint, ofClientMax: number): void {
    const ofClient = [...this.#streams.values()].filter((one) => one === clientId).length;
    if (this.#streams.size < streamsMax && ofClient < ofClientMax) return;
    const open = ofClient < ofClientMax ? `${streamsMax} streams` : `${ofClientMax} streams of this client`;
    throw new AppError('unavailable', `${open} are already open in this process. Close one, or poll for pages instead.`, {
      headers: { 'retry-after': '1' },
    });
  }
}

/**
 * One stream. It is open until it is closed here (by its lifetime, `close`, or a reader that is too slow) or by its reader,
 * and never opens again; the reader reconnects. While work from `keepOpenDuring` is in progress, the end of the lifetime is
 * postponed.
 */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #times: Times;
  readonly #lifetime: NodeJS.Timeout;
  /** Aborted when the stream is closed, here or by its reader. */
  readonly #closing = new AbortController();
  /** Calls of `keepOpenDuring` in progress. */
  #keepOpenCount = 0;
  /** The lifetime has ended, and the stream closes once `#keepOpenCount` is 0. */
  #isOverdue = false;
  /** The reader's new last event id, to be sent with the next heartbeat. Undefined if the reader already has it. */
  #unsentLastId: (() => string) | undefined;

  constructor(reply: FastifyReply, times: Times) {
    this.#times = times;
    reply.hijack();
    this.#response = reply.raw;
    this.#response.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // Without this, nginx would buffer the events.
      'x-accel-buffering': 'no',
    });
    this.#response.write(`retry: ${retryMs}\n\n`);
    // With jitter, so that streams that were opened together don't end together.
    this.#lifetime = setTimeout(() => this.#endLifetime(), times.lifetimeMs * (0.9 + Math.random() / 10)).unref();
    this.onClose(() => {
      this.#closing.abort();
      clearTimeout(this.#lifetime);
    });
  }

  get isOpen(): boolean {
    return !this.#closing.signal.aborted;
  }

  /** True if the reader is too slow: don't send more now, and catch up later from the database. */
  get isFull(): boolean {
    return this.#response.writableLength > bufferedBytesMax;
  }

  /** Returns the function that removes the listener. */
  onClose(listener: () => void): () => void {
    // The reader may have disconnected before its stream was opened.
    if (this.#response.destroyed) queueMicrotask(listener);
    else this.#response.once('close', listener);
    return () => void this.#response.off('close', listener);
  }

  /** `lastId` returns the id of the last event, or of a later one that this reader may not see. Called at the next heartbeat. */
  send(text: string, lastId: () => string): void {
    if (!this.isOpen) return;
    if (text !== '') this.#response.write(text);
    this.#unsentLastId = lastId;
  }

  sendHeartbeat(): void {
    if (!this.isOpen || this.isFull) return;
    this.#response.write(this.#unsentLastId === undefined ? ':\n\n' : `${idText(this.#unsentLastId())}\n`);
    this.#unsentLastId = undefined;
  }

  /** Resolves once the reader has read the buffer, or is disconnected since it reads nothing: response-progress.ts. */
  async drained(): Promise<void> {
    if (this.isOpen && this.isFull) await once(this.#response, 'drain', { signal: this.#closing.signal }).catch(() => {});
  }

  /** Postpones the end of the lifetime until `work` is done: a reader that is out of requests would reconnect too early and be banned. */
  async keepOpenDuring<T>(work: () => Promise<T>): Promise<T> {
    this.#keepOpenCount += 1;
    try {
      return await work();
    } finally {
      this.#keepOpenCount -= 1;
      if (this.#isOverdue && this.#keepOpenCount === 0) this.close();
    }
  }

  /** Waits for `ms`, or until the stream closes. */
  async sleep(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#closing.signal, ref: false }).catch(() => {});
  }

  #endLifetime(): void {
    if (this.#keepOpenCount > 0) this.#isOverdue = true;
    else this.close();
  }

  close(): void {
    if (!this.isOpen) return;
    this.#closing.abort();
    this.#response.end();
    const timeout = setTimeout(() => this.#response.destroy(), this.#times.endTimeoutMs).unref();
    this.onClose(() => clearTimeout(timeout));
  }
}
