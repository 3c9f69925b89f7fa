import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { AppError } from '../errors.ts';
import type { Bounds } from '../rate-limit/plans.ts';

const streamsMax = 5_000;
/** When a reader comes back that has lost its stream. */
const retryMs = 1_000;
/** What may wait for a reader, beside what is being sent at once. */
const bufferedBytesMax = 65_536;

const defaultTimes = {
  /** Between signs of life, which also tell a proxy that the connection is in use. */
  heartbeatMs: 15_000,
  /** Then the reader comes back with the last id that it has seen, and its key is looked at anew. */
  lifetimeMs: 300_000,
  /** For a reader to take what waits for it. */
  drainTimeoutMs: 10_000,
  /** For a reader to take the end. */
  endTimeoutMs: 1_000,
};
type Times = typeof defaultTimes;

/** One server-sent event. */
export const eventText = (id: string, type: string, data: string): string => `${idText(id)}event: ${type}\ndata: ${data}\n\n`;

/** Moves the last id on without an event, where a blank line follows. */
const idText = (id: string) => `id: ${id}\n`;

/** The streams of server-sent events that are open at a process. */
export class EventStreams {
  readonly #streams = new Map<EventStream, bigint>();
  readonly #times: Times;
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(times: Partial<Times> = {}) {
    this.#times = { ...defaultTimes, ...times };
  }

  /** Takes the response over from Fastify, with the headers that it has by now. */
  open(reply: FastifyReply, { clientId, bounds }: { readonly clientId: bigint; readonly bounds: Pick<Bounds, 'streams'> }): EventStream {
    this.#rejectTooMany(clientId, bounds.streams);
    const stream = new EventStream(reply, this.#times);
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
    throw new AppError('unavailable', `${open} are open at this process already. Close one, or read pages.`, {
      headers: { 'retry-after': '1' },
    });
  }
}

export class EventStream {
  readonly #response: ServerResponse;
  readonly #times: Times;
  readonly #lifetime: NodeJS.Timeout;
  #isOpen = true;
  /** What must end before its lifetime may. */
  #keepOpenCount = 0;
  /** Its lifetime ended meanwhile. */
  #isOverdue = false;
  /** Up to where the reader has everything that it is to see, sent with the next sign of life; undefined: it knows. */
  #unsentLastId: (() => string) | undefined;

  constructor(reply: FastifyReply, times: Times) {
    this.#times = times;
    reply.hijack();
    this.#response = reply.raw;
    this.#response.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // Nginx would otherwise collect them.
      'x-accel-buffering': 'no',
    });
    this.#response.write(`retry: ${retryMs}\n\n`);
    // Not all at the same time, where they were opened at the same time.
    this.#lifetime = setTimeout(() => this.#endLifetime(), times.lifetimeMs * (0.9 + Math.random() / 10)).unref();
    this.onClose(() => {
      this.#isOpen = false;
      clearTimeout(this.#lifetime);
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether its reader does not keep up: what comes now is better read for it later. */
  get isFull(): boolean {
    return this.#response.writableLength > bufferedBytesMax;
  }

  /** Returns what takes the listener away again. */
  onClose(listener: () => void): () => void {
    // A reader may have gone before its stream was opened.
    if (this.#response.destroyed) queueMicrotask(listener);
    else this.#response.once('close', listener);
    return () => void this.#response.off('close', listener);
  }

  /** `lastId`: of the last event, or of one after it that this reader does not see; asked for with the next sign of life. */
  send(text: string, lastId: () => string): void {
    if (!this.#isOpen) return;
    if (text !== '') this.#response.write(text);
    this.#unsentLastId = lastId;
  }

  sendHeartbeat(): void {
    if (!this.#isOpen || this.isFull) return;
    this.#response.write(this.#unsentLastId === undefined ? ':\n\n' : `${idText(this.#unsentLastId())}\n`);
    this.#unsentLastId = undefined;
  }

  /** Once the reader has taken what waits for it. One that does not is let go: it may come back and read on from where it was. */
  async drained(): Promise<void> {
    if (!this.#isOpen || !this.isFull) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timeout);
        this.#response.off('drain', end).off('close', end);
        resolve();
      };
      const timeout = setTimeout(() => this.#response.destroy(), this.#times.drainTimeoutMs).unref();
      this.#response.once('drain', end).once('close', end);
    });
  }

  /** Its lifetime does not end while `work` is under way: a reader that waits for its requests would come back too early, and be banned. */
  async keepOpenDuring<T>(work: () => Promise<T>): Promise<T> {
    this.#keepOpenCount += 1;
    try {
      return await work();
    } finally {
      this.#keepOpenCount -= 1;
      if (this.#isOverdue && this.#keepOpenCount === 0) this.close();
    }
  }

  /** Waits, or until the stream closes. */
  async sleep(ms: number): Promise<void> {
    if (!this.#isOpen) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        ignoreClose();
        resolve();
      };
      const timer = setTimeout(end, ms).unref();
      const ignoreClose = this.onClose(end);
    });
  }

  #endLifetime(): void {
    if (this.#keepOpenCount > 0) this.#isOverdue = true;
    else this.close();
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#response.end();
    const timeout = setTimeout(() => this.#response.destroy(), this.#times.endTimeoutMs).unref();
    this.onClose(() => clearTimeout(timeout));
  }
}
