import { setTimeout as sleep } from 'node:timers/promises';
import { Redis, ReplyError } from 'ioredis';

/** The longest that a request waits for Redis. */
export const redisDeadlineMs = 50;
const probeIntervalMs = 100;
const heartbeatIntervalMs = 500;
const reconnectDelayMaxMs = 500;
const pingTimeoutMs = 3_000;
/** One late reply is tolerated. Without any reply for this long, Redis counts as lost. */
const silenceMaxMs = 200;

export class RedisLost extends Error {
  /** True if the command was sent, so that it may have been executed. */
  readonly sent: boolean;

  constructor(message: string, options: { sent: boolean; cause?: unknown }) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.sent = options.sent;
  }
}

/**
 * The connection to Redis, with a circuit breaker. The link is up or lost:
 * - Up: a call that gets no reply by its deadline is rejected.
 * - It becomes lost after `silenceMaxMs` without any reply, when Redis rejects a command (out of memory, read-only after a
 *   failover), or when the connection is closed.
 * - Lost: every call is rejected at once, so that a frozen Redis costs only a few requests their deadline. The first
 *   probe that gets a reply makes the link up again.
 */
export class RedisLink {
  readonly client: Redis;
  #up = false;
  #closed = false;
  #ping: { reply: Promise<string>; sentAt: number } | undefined;
  #repliedAtMs = 0;
  readonly #lateListeners: Array<() => void> = [];
  readonly #replyListeners: Array<(ms: number) => void> = [];
  readonly #lostListeners: Array<() => void> = [];
  readonly #restoredListeners: Array<() => void> = [];

  constructor(redisUrl: string) {
    this.client = new Redis(redisUrl, {
      lazyConnect: true,
      connectTimeout: 1_000,
      // The library must not queue, resend or retry a command: counting twice is worse than not counting.
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

  /** Called when a call gets no reply by its deadline. The link may still be up. */
  onLate(listener: () => void): void {
    this.#lateListeners.push(listener);
  }

  /** Called with the duration of each call that Redis has replied to, also of late ones. */
  onReply(listener: (ms: number) => void): void {
    this.#replyListeners.push(listener);
  }

  onLost(listener: () => void): void {
    this.#lostListeners.push(listener);
  }

  /** Called when the link is up again, before any other call: commands that a listener sends arrive first. */
  onRestored(listener: () => void): void {
    this.#restoredListeners.push(listener);
  }

  /** Connects, waits up to `waitMs` for Redis, and probes it from then on. */
  async open(waitMs: number): Promise<void> {
    this.client.connect().catch(() => {});
    void this.#watch();
    const deadline = Date.now() + waitMs;
    while (!this.#up && Date.now() < deadline) await sleep(10);
  }

  /** `onLate` receives a reply that arrives after the deadline, when the call is already rejected. */
  async call<T>(send: (client: Redis) => Promise<T>, onLate?: (value: T) => void): Promise<T> {
    if (!this.#up) throw new RedisLost('the connection to Redis is lost', { sent: false });
    return this.#withDeadline(send, onLate);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#up = false;
    this.client.disconnect();
  }

  #withDeadline<T>(send: (client: Redis) => Promise<T>, onLate?: (value: T) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const calledAtMs = performance.now();
      let settled = false;
      const settle = (finish: () => void) => {
        if (settled) return;
        settled = true;
        clearTimeout(timer);
        finish();
      };
      // Timers run before sockets are read. After a pause of this process the reply may already be in the socket, so
      // wait for one more read before the call times out.
      const timer = setTimeout(() => {
        setImmediate(() =>
          settle(() => {
            // A probe of a lost Redis is late again and again, which is nothing new.
            if (this.#up) for (const listener of this.#lateListeners) listener();
            if (performance.now() - this.#repliedAtMs > silenceMaxMs) this.#lose();
            reject(new RedisLost(`Redis did not reply within ${redisDeadlineMs} ms`, { sent: true }));
          }),
        );
      }, redisDeadlineMs);
      send(this.client).then(
        (value) => {
          this.#repliedAtMs = performance.now();
          for (const listener of this.#replyListeners) listener(this.#repliedAtMs - calledAtMs);
          if (settled) onLate?.(value);
          else settle(() => resolve(value));
        },
        (error) =>
          settle(() => {
            this.#lose();
            // A command that Redis rejected was not executed. After a broken connection, nobody knows.
            reject(new RedisLost('Redis rejected a command', { sent: !(error instanceof ReplyError), cause: error }));
          }),
      );
    });
  }

  #lose(): void {
    if (!this.#up) return;
    this.#up = false;
    for (const listener of this.#lostListeners) listener();
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

  /** At most one PING is in flight, so that they don't pile up in a frozen Redis. One without a reply for long closes the connection. */
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
