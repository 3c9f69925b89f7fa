import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Redis, ReplyError } from 'ioredis';
import { type Explained, explainTlsFault, findTlsFault } from '../tls-faults.ts';
import { createRedis, readGreeting } from './redis-client.ts';
import { isNotPermitted, NoPrimary, primaryRole, watchedServersOf } from './sentinels.ts';

/** The longest that a request waits for Redis. */
export const redisDeadlineMs = 50;
const probeIntervalMs = 100;
const heartbeatIntervalMs = 500;
const reconnectDelayMaxMs = 500;
/** Without a reply for this long, the connection is closed. */
const probeTimeoutMs = 3_000;
/** With Sentinels: another server may be the primary by then. */
const watchedProbeTimeoutMs = 1_000;
/** Never set: the probe writes to it only if it exists. */
const probeKey = 'hw:probe';
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

class NotPrimary extends Error {}

interface LinkEvents {
  /** A call got no reply by its deadline. The link may still be up. */
  late: [];
  /** The duration of each call that Redis has replied to, also of late ones. */
  reply: [ms: number];
  lost: [];
  /** The link is up again. Commands that a listener sends arrive before all others. */
  restored: [];
}

/**
 * The connection to Redis, with a circuit breaker. The link is up or lost:
 * - Up: a call that gets no reply by its deadline is rejected.
 * - It becomes lost after `silenceMaxMs` without any reply, when Redis rejects a command (out of memory, read-only after a
 *   failover), when it is no longer a primary, or when the connection is closed.
 * - Lost: every call is rejected at once, so that a frozen Redis costs only a few requests their deadline. The first
 *   probe that a primary replies to, and that it would let write, makes the link up again: one that rejects writes would
 *   be lost again with the next call.
 *
 * A server that can't be the primary now, as it says itself, is left: the connection is closed, and the next one goes wherever the
 * name, the proxy or the Sentinels lead then. So while the link is up, its server was a primary that accepts writes at most a heartbeat ago.
 */
export class RedisLink extends EventEmitter<LinkEvents> {
  readonly client: Redis;
  #up = false;
  #closed = false;
  /** The connection is being closed. */
  #isLeaving = false;
  /** This server does not permit ROLE: then PING has to do. */
  #isRoleForbidden = false;
  #probeSent: { reply: Promise<void>; sentAt: number } | undefined;
  readonly #deadlineMs: number;
  readonly #probeTimeoutMs: number;
  #connectedAtMs = 0;
  #repliedAtMs = 0;
  /** Since the link was up. */
  #reconnects = 0;
  #failure: Error | undefined;
  #hasAsked = false;

  /** The password is that of the Sentinels, if the URL has any. */
  constructor(redisUrl: string, sentinelPassword = '', deadlineMs = redisDeadlineMs) {
    super();
    this.#deadlineMs = deadlineMs;
    const watched = watchedServersOf(redisUrl, sentinelPassword);
    this.#probeTimeoutMs = watched ? watchedProbeTimeoutMs : probeTimeoutMs;
    this.client = createRedis(redisUrl, watched, {
      connectTimeout: 1_000,
      // The probe finds out more.
      enableReadyCheck: false,
      // The library must not queue, resend or retry a command: counting twice is worse than not counting.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: () => this.#nextDelayMs(),
    });
    this.client.on('error', (error: Error) => {
      // What tells the reason may be followed by the end of the connection, which does not.
      const isTold = this.#failure !== undefined && (this.#failure instanceof ReplyError || findTlsFault(this.#failure) !== undefined);
      if (!(isTold && saysOnlyClosed(error))) this.#failure = error;
      if (this.#failure === error && saysOnlyClosed(error) && !watched && !this.#hasAsked) void this.#findReason(error);
      this.#lose();
      // Here the library does not try again.
      if (error instanceof NoPrimary) void this.#connectLater();
    });
    this.client.on('connect', () => (this.#connectedAtMs = performance.now()));
    this.client.on('close', () => {
      this.#isLeaving = false;
      this.#isRoleForbidden = false;
      this.#lose();
    });
  }

  get up(): boolean {
    return this.#up;
  }

  /** Once in an outage, for an error that does not tell why the connection was closed. */
  async #findReason(error: Error): Promise<void> {
    this.#hasAsked = true;
    const said = await readGreeting(this.client.options);
    if (said && this.#failure === error) this.#failure = said;
  }

  /** Why there is no connection, if that is known. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Connects, waits up to `waitMs` for Redis, and probes it from then on. */
  async open(waitMs: number): Promise<void> {
    this.client.connect().catch(() => {});
    void this.#watch();
    const deadline = performance.now() + waitMs;
    while (!this.#up && performance.now() < deadline) await sleep(10);
  }

  /** `onLate` receives a reply that arrives after the deadline, when the call is already rejected. */
  async call<T>(send: (client: Redis) => Promise<T>, onLate?: (value: T) => void): Promise<T> {
    if (!this.#up) throw new RedisLost('the connection to Redis is lost', { sent: false, cause: this.#failure });
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
            if (this.#up) this.emit('late');
            if (performance.now() - this.#repliedAtMs > silenceMaxMs) this.#lose();
            reject(new RedisLost(`Redis did not reply within ${this.#deadlineMs} ms`, { sent: true }));
          }),
        );
      }, this.#deadlineMs);
      send(this.client).then(
        (value) => {
          this.#repliedAtMs = performance.now();
          this.emit('reply', this.#repliedAtMs - calledAtMs);
          if (settled) onLate?.(value);
          else settle(() => resolve(value));
        },
        (error) => {
          if (isNoPrimaryNow(error)) this.#leave();
          settle(() => {
            this.#lose();
            // A command that Redis rejected was not executed. After a broken connection, nobody knows.
            reject(new RedisLost('Redis rejected a command', { sent: !(error instanceof ReplyError), cause: error }));
          });
        },
      );
    });
  }

  #lose(): void {
    if (!this.#up) return;
    this.#up = false;
    this.emit('lost');
  }

  /** Closes the connection, also one that the server does not close. The library then connects again. */
  #leave(): void {
    this.#lose();
    if (this.#isLeaving || !['connect', 'ready'].includes(this.client.status)) return;
    this.#isLeaving = true;
    this.client.disconnect(true);
  }

  async #connectLater(): Promise<void> {
    await sleep(this.#nextDelayMs(), undefined, { ref: false });
    if (!this.#closed) this.client.connect().catch(() => {});
  }

  #nextDelayMs(): number {
    this.#reconnects += 1;
    return Math.min(50 * this.#reconnects, reconnectDelayMaxMs);
  }

  async #watch(): Promise<void> {
    while (!this.#closed) {
      if ((await this.#probe()) && !this.#up && !this.#closed && !this.#isLeaving) {
        this.#up = true;
        this.#reconnects = 0;
        this.#failure = undefined;
        this.#hasAsked = false;
        this.emit('restored');
      }
      await sleep(this.#up ? heartbeatIntervalMs : probeIntervalMs, undefined, { ref: false });
    }
  }

  /** At most one is in flight, so that they don't pile up in a frozen Redis. One without a reply for long closes the connection. */
  async #probe(): Promise<boolean> {
    if (!this.#probeSent) {
      const sentAt = performance.now();
      const reply = this.#examine().finally(() => {
        this.#probeSent = undefined;
      });
      reply.catch(() => {});
      this.#probeSent = { reply, sentAt };
    } else if (performance.now() - this.#probeSent.sentAt > this.#probeTimeoutMs) {
      this.#leave();
    }
    // A server that accepted the connection and then froze gets no probe at all.
    if (this.client.status === 'connect' && performance.now() - this.#connectedAtMs > this.#probeTimeoutMs) this.#leave();
    const { reply } = this.#probeSent;
    return this.#withDeadline(() => reply).then(
      () => true,
      () => false,
    );
  }

  /**
   * Resolves if the server is a primary and accepts writes. After a planned failover the old primary has that role for some seconds more,
   * but its replicas have left it.
   */
  async #examine(): Promise<void> {
    const writing = this.client.set(probeKey, '', 'XX').catch(unlessNotPermitted);
    await Promise.all([this.#isRoleForbidden ? this.client.ping() : this.#examineRole(), writing]);
  }

  async #examineRole(): Promise<void> {
    const reply = await this.client.role().catch(unlessNotPermitted);
    if (!reply) {
      this.#isRoleForbidden = true;
      await this.client.ping();
    } else if (reply[0] !== primaryRole) {
      throw new NotPrimary(`the server is a ${reply[0]}, not a primary`);
    }
  }
}

function unlessNotPermitted(error: unknown): undefined {
  if (!isNotPermitted(error)) throw error;
}

/** A replica; a primary that no replica follows, which may have been replaced; one that has just started, empty or with old data. */
const isNoPrimaryNow = (error: unknown): boolean =>
  error instanceof NotPrimary ||
  (error instanceof ReplyError && /^(READONLY|NOREPLICAS|MASTERDOWN|LOADING)\b/.test((error as Error).message));

/** Explains why Redis can't be used; undefined: it has not replied in time. The problem is the rest of a sentence about the server. */
export function explainRedisFailure(error: Error | undefined, redisUrl: string): Explained {
  if (error instanceof NoPrimary) return { problem: `${error.message}.`, fix: '' };
  return explainReply(error) ?? explainTls(error, redisUrl) ?? explainNetwork(error, redisUrl);
}

function explainReply(error: Error | undefined): Explained | undefined {
  if (!(error instanceof ReplyError)) return undefined;
  const { message } = error as Error;
  const howToWrite = 'redis://USER:PASSWORD@HOST:PORT; without USER, it is the user "default"';
  if (message.startsWith('WRONGPASS'))
    return {
      problem: 'it rejects the user or the password.',
      fix: `Correct REDIS_URL, ${howToWrite}. In both, special characters are percent-encoded.`,
    };
  if (message.startsWith('NOAUTH'))
    return { problem: 'it demands a password, and REDIS_URL has none.', fix: `Write REDIS_URL as ${howToWrite}.` };
  if (message.startsWith('NOPERM'))
    return {
      problem: `it does not permit the user of REDIS_URL what the store needs (${message}).`,
      fix: 'Permit it in the ACL: docs/operations/redis.md says what the store uses.',
    };
  if (/max number of clients/.test(message))
    return {
      problem: 'it has too many clients, as many as maxclients allows.',
      fix: 'Raise maxclients in its configuration, or find who opens so many.',
    };
  if (message.startsWith('BUSY'))
    return {
      problem: `a script runs without an end (${message})`,
      fix: 'End the script: redis-cli SCRIPT KILL. If that is rejected, since it has written: restart Redis, which needs nothing that it stores.',
    };
  return { problem: message, fix: 'Look at the log of Redis.' };
}

function explainTls(error: Error | undefined, redisUrl: string): Explained | undefined {
  const fault = error && findTlsFault(error);
  return fault && explainTlsFault(fault, { variable: 'REDIS_URL', trust, clientCertificate, withoutTls: otherScheme(redisUrl) });
}

/** REDIS_URL has no parameter for it. */
const trust = 'Set NODE_EXTRA_CA_CERTS to the file with the certificate of the CA, for every process and command.';
const clientCertificate = 'Set tls-auth-clients no in the configuration of Redis: this program logs in by a password.';

function otherScheme(redisUrl: string): string {
  const [, tls = '', sentinels = ''] = /^redis(s?)(\+sentinel)?:/.exec(redisUrl) ?? [];
  return tls
    ? `If it has no TLS, write redis${sentinels}:// in REDIS_URL.`
    : `If it demands TLS, write rediss${sentinels}:// in REDIS_URL.`;
}

function explainNetwork(error: Error | undefined, redisUrl: string): Explained {
  const { code = '' } = (error ?? {}) as { code?: string };
  if (code === 'ECONNREFUSED' || code === 'ENOENT')
    return {
      problem: 'nothing is listening there.',
      fix: 'Start Redis, or correct REDIS_URL. Meanwhile each process counts limits by itself.',
    };
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return { problem: 'the host was not found.', fix: 'Correct the host in REDIS_URL, or the name server of this machine.' };
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH')
    return { problem: 'no network leads there.', fix: 'Correct the host in REDIS_URL, or the routes and firewall of this machine.' };
  const usesTls = redisUrl.startsWith('rediss');
  if (error && saysOnlyClosed(error)) {
    // What the server says of it may be lost, since it closes the connection at once.
    const orCertificate = usesTls ? 'If it demands a certificate of the client, set tls-auth-clients no in its configuration. ' : '';
    return { problem: 'it closes the connection.', fix: `${orCertificate}${otherScheme(redisUrl)} Is this the port of Redis?` };
  }
  const isRunning = 'Is Redis running, is REDIS_URL correct, and does a firewall let this machine through?';
  return usesTls
    ? { problem: 'it does not reply by TLS.', fix: `${otherScheme(redisUrl)} ${isRunning}` }
    : { problem: 'it does not reply.', fix: isRunning };
}

/** The server has closed the connection, or it was closed before: that does not say why. */
export const saysOnlyClosed = ({ message, code = '' }: Error & { code?: string }): boolean =>
  code === 'ECONNRESET' || code === 'EPIPE' || message === 'Connection is closed.';

export type RedisKeys = ReturnType<typeof redisKeysOf>;

/**
 * Every key that a deployment uses in Redis. Keys begin with the deployment's id, so that two deployments can share a
 * server. The part in braces is what Redis Cluster would place them by.
 */
export function redisKeysOf(deploymentId: string) {
  const [prefix, catalogue] = [`hw:${deploymentId}:{0}`, `hw:${deploymentId}:{catalogue}`];
  return {
    /** The requests that a subject has used in the current windows. */
    counts: (subject: string) => `${prefix}:counts:${subject}`,
    /** The strikes and the ban of a key. */
    banState: (subject: string) => `${prefix}:guard:${subject}`,
    epoch: (subject: string) => `${prefix}:epoch:${subject}`,
    /** All bans, by their end. */
    bans: `${prefix}:bans`,
    /** A simulated error that a key has requested, on staging. */
    rehearsal: (keyId: bigint, kind: string) => `${prefix}:rehearsal:${keyId}:${kind}`,
    /** The links to sign in that were mailed today, by address, network and device. */
    links: (share: string) => `${prefix}:links:${share}`,
    catalogueToken: `${catalogue}:token`,
    /** What has changed from each token of the catalogue to the next. */
    catalogueLog: `${catalogue}:log`,
    /** Changes with what only listings show: profiles, photos, shelters. */
    listingsToken: `${catalogue}:listings-token`,
    /** What has changed from each token of listings to the next. */
    listingsLog: `${catalogue}:listings-log`,
    /** The transactions whose changes are in the log, or were. */
    announcedTransactions: `${catalogue}:announced`,
  };
}

/** The keys that have no expiry. All others are gone a day after they were last used. */
export const lastingKeysOf = ({ bans, catalogueToken, listingsToken }: RedisKeys): string[] => [bans, catalogueToken, listingsToken];
