import { setTimeout as sleep } from 'node:timers/promises';
import { Redis, ReplyError } from 'ioredis';

/** No request waits longer for Redis. */
export const redisDeadlineMs = 50;
const probeIntervalMs = 100;
const heartbeatIntervalMs = 500;
const reconnectDelayMaxMs = 500;
const pingTimeoutMs = 3_000;
/** One late answer is a hiccup; nothing at all for this long is a loss. */
const silenceMaxMs = 200;

export class RedisLost extends Error {
  /** Whether the command was sent, and may have been carried out. */
  readonly sent: boolean;

  constructor(message: string, options: { sent: boolean; cause?: unknown }) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.sent = options.sent;
  }
}

/**
 * The connection to Redis and whether it can be relied on. A call that is not answered by its deadline is given up, and
 * whoever keeps what only Redis can vouch for is told to drop it. Silence, a refused command (out of memory, read-only
 * after a failover) or a closed connection, and the link is lost: every call is refused at once until a probe is
 * answered, so that a frozen Redis costs few requests their deadline, and the others nothing.
 */
export class RedisLink {
  readonly client: Redis;
  #up = false;
  #closed = false;
  #ping: { reply: Promise<string>; sentAt: number } | undefined;
  #repliedAtMs = 0;
  readonly #invalidateListeners: Array<() => void> = [];
  readonly #lostListeners: Array<() => void> = [];
  readonly #restoredListeners: Array<() => void> = [];

  constructor(redisUrl: string) {
    this.client = new Redis(redisUrl, {
      lazyConnect: true,
      connectTimeout: 1_000,
      // Counting twice is worse than not counting: nothing is queued, sent again or retried by the library.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (times) => Math.min(50 * times, reconnectDelayMaxMs),
    });
    this.client.on('error', () => this.#lose());
    this.client.on('close', () => this.#lose());
  }

  get up(): boolean {
    return this.#up;
  }

  /** Called when an answer came late or the link was lost: what Redis vouched for may have changed unseen. */
  onInvalidate(listener: () => void): void {
    this.#invalidateListeners.push(listener);
  }

  onLost(listener: () => void): void {
    this.#lostListeners.push(listener);
  }

  /** Called with the link usable again, before any other call: what is sent here arrives first. */
  onRestored(listener: () => void): void {
    this.#restoredListeners.push(listener);
  }

  /** Connects, waiting `waitMs` at most, and watches the link from then on. */
  async open(waitMs: number): Promise<void> {
    this.client.connect().catch(() => {});
    void this.#watch();
    const deadline = Date.now() + waitMs;
    while (!this.#up && Date.now() < deadline) await sleep(10);
  }

  /** `onLate` gets the answer that came after the call was given up. */
  async call<T>(send: (client: Redis) => Promise<T>, onLate?: (value: T) => void): Promise<T> {
    if (!this.#up) throw new RedisLost('the link to Redis is down', { sent: false });
    return this.#withDeadline(send, onLate);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#up = false;
    this.client.disconnect();
  }

  #withDeadline<T>(send: (client: Redis) => Promise<T>, onLate?: (value: T) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      let settled = false;
      const settle = (finish: () => void) => {
        if (settled) return;
        settled = true;
        clearTimeout(timer);
        finish();
      };
      // Timers run before sockets are read: after a pause of this process the answer may be waiting already, so it
      // is read once more before the link is given up.
      const timer = setTimeout(() => {
        setImmediate(() =>
          settle(() => {
            this.#invalidate();
            if (performance.now() - this.#repliedAtMs > silenceMaxMs) this.#lose();
            reject(new RedisLost(`Redis did not answer within ${redisDeadlineMs} ms`, { sent: true }));
          }),
        );
      }, redisDeadlineMs);
      send(this.client).then(
        (value) => {
          this.#repliedAtMs = performance.now();
          if (settled) onLate?.(value);
          else settle(() => resolve(value));
        },
        (error) =>
          settle(() => {
            this.#lose();
            // What Redis answers with an error it has not carried out; a connection that broke says nothing.
            reject(new RedisLost('Redis refused a command', { sent: !(error instanceof ReplyError), cause: error }));
          }),
      );
    });
  }

  #lose(): void {
    if (!this.#up) return;
    this.#up = false;
    this.#invalidate();
    for (const listener of this.#lostListeners) listener();
  }

  #invalidate(): void {
    for (const listener of this.#invalidateListeners) listener();
  }

  async #watch(): Promise<void> {
    while (!this.#closed) {
      if ((await this.#probe()) && !this.#up && !this.#closed) {
        this.#up = true;
        for (const listener of this.#restoredListeners) listener();
      }
      await sleep(this.#up ? heartbeatIntervalMs : probeIntervalMs, undefined, { ref: false });
    }
  }

  /** One PING is under way at a time, so that a frozen Redis collects none; one unanswered for long is hung up on. */
  async #probe(): Promise<boolean> {
    if (!this.#ping) {
      const sentAt = performance.now();
      const reply = this.client.ping().finally(() => {
        this.#ping = undefined;
      });
      reply.catch(() => {});
      this.#ping = { reply, sentAt };
    } else if (performance.now() - this.#ping.sentAt > pingTimeoutMs) {
      this.client.disconnect(true);
    }
    const { reply } = this.#ping;
    return this.#withDeadline(() => reply).then(
      () => true,
      () => false,
    );
  }
}
