import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { type Clock, systemClock } from '../clock.ts';
import type { RedisKeys } from '../redis/redis-keys.ts';
import type { RedisLink } from '../redis/redis-link.ts';
import { RedisLost } from '../redis/redis-link.ts';
import type { Charge, Counts, Outcome, Verdict } from './decide.ts';
import type { Debt, LocalLimiter } from './local-limiter.ts';
import { banLengthsMinutes, strikesUntilBan } from './plans.ts';

/** The cached client is stale. Read it again, and cache it under this epoch, which is the current one. */
export interface Stale {
  readonly epoch: string;
}

export type RedisDecision =
  | { readonly by: 'redis'; readonly stale: Stale }
  | {
      readonly by: 'redis';
      readonly verdict: Verdict;
      /** The catalogue's token, read after the request arrived; undefined: there is none yet. */
      readonly catalogueToken: string | undefined;
    };

/** Reads the catalogue's token. It is sent along with each batch of decisions, so it costs no extra round trip. */
export type ReadToken = (client: Redis) => Promise<string | undefined>;

/** A request that waits for its decision. Callbacks, not a promise: one promise per request was the costliest step. */
export interface PendingDecision {
  readonly charge: Charge;
  resolve(response: LimiterDecision): void;
  reject(error: unknown): void;
  /** Redis didn't reply in time, and this process admitted the request by itself. */
  admittedLocally?: boolean;
}

export type LimiterDecision = RedisDecision | { readonly by: 'process'; readonly verdict: Verdict };

/** The parts of a charge that never change, as consume.lua expects them. */
interface EncodedCharge {
  readonly keys: readonly [counts: string, banState: string, epoch: string];
  /** The limits and the epoch: the line without its counts. */
  readonly text: string;
}

/** The reply of consume.lua: the time, and a line for each request. */
interface ScriptReply {
  readonly nowMs: number;
  readonly lines: readonly string[];
}

const lua = readFileSync(new URL('./consume.lua', import.meta.url), 'utf8');
const banLengths = banLengthsMinutes.map((minutes) => minutes * 60_000).join(' ');
/** Small enough that Redis decides the first batch while this process still reads the next requests. */
const batchSizeMax = 16;

/**
 * Decides with consume.lua. Requests of the same turn of the event loop are sent in batches: most of a decision's cost is
 * the client library's cost per command.
 *
 * A decision is in `#pending` until its batch is sent: when the batch is full, or at the end of the turn. Then it is
 * settled exactly once: resolved by Redis's reply, rejected by an error, or, if Redis doesn't reply in time, handed to
 * `onLost`. A reply that comes later only corrects the debts, so that a request is not counted twice.
 */
export class RedisLimiter {
  readonly #link: RedisLink;
  readonly #redisKeys: RedisKeys;
  readonly #local: LocalLimiter;
  readonly #clock: Clock;
  readonly #readToken: ReadToken;
  readonly #onLost: (pending: PendingDecision) => void;
  readonly #encodedCharges = new WeakMap<Charge, EncodedCharge>();
  #pending: PendingDecision[] = [];

  /** `onLost` receives each decision that Redis did not make. */
  constructor(
    parts: { link: RedisLink; redisKeys: RedisKeys; local: LocalLimiter; clock: Clock; readToken: ReadToken },
    onLost: (pending: PendingDecision) => void,
  ) {
    this.#link = parts.link;
    this.#redisKeys = parts.redisKeys;
    this.#local = parts.local;
    this.#clock = parts.clock;
    this.#readToken = parts.readToken;
    this.#onLost = onLost;
    this.#link.client.defineCommand('consume', { lua });
  }

  decide(pending: PendingDecision): void {
    if (!this.#link.up) {
      this.#onLost(pending);
      return;
    }
    this.#pending.push(pending);
    if (this.#pending.length === batchSizeMax) this.#flush();
    else if (this.#pending.length === 1) setImmediate(() => this.#flush());
  }

  /**
   * Adds to Redis what this process admitted without it. Batches are sent one after another, so that each has the whole
   * deadline. A batch that may have been counted is not sent again: the counts in `seen`, which are sent with every
   * call, include it too.
   */
  async settleDebts(): Promise<void> {
    const debts = this.#local.takeDebts();
    for (let start = 0; start < debts.length; start += batchSizeMax) {
      const batch = debts.slice(start, start + batchSizeMax);
      const charges = batch.map(({ subject, quota }): Charge => ({ subject, quota, cost: 0 }));
      try {
        await this.#link.call((client) => this.#callScript(client, charges, batch));
      } catch (error) {
        const unsent = error instanceof RedisLost && error.sent ? debts.slice(start + batchSizeMax) : debts.slice(start);
        for (const debt of unsent) this.#local.returnDebt(debt);
        return;
      }
    }
  }

  #flush(): void {
    const batch = this.#pending;
    this.#pending = [];
    if (batch.length > 0) void this.#send(batch);
  }

  async #send(batch: readonly PendingDecision[]): Promise<void> {
    const charges = batch.map(({ charge }) => charge);
    const send = (client: Redis) => Promise.all([this.#readToken(client), this.#callScript(client, charges)]);
    let results: Awaited<ReturnType<typeof send>>;
    try {
      results = await this.#link.call(send, ([, late]) => this.#takeLate(batch, late));
    } catch (error) {
      for (const pending of batch) {
        if (error instanceof RedisLost) this.#onLost(pending);
        else pending.reject(error);
      }
      return;
    }
    const [catalogueToken, { nowMs, lines }] = results;
    for (let i = 0; i < batch.length; i += 1) this.#settle(batch[i] as PendingDecision, lines[i], nowMs, catalogueToken);
  }

  #settle(pending: PendingDecision, line: string | undefined, nowMs: number, catalogueToken: string | undefined): void {
    if (!line) pending.reject(new Error('consume.lua returned fewer lines than requests'));
    else if (isStale(line)) pending.resolve({ by: 'redis', stale: { epoch: line.slice(stale.length) } });
    else {
      const verdict = readVerdict(line, nowMs);
      this.#local.learn(pending.charge, verdict);
      pending.resolve({ by: 'redis', verdict, catalogueToken });
    }
  }

  /** Redis replied after this process had decided. What both admitted is no longer owed; the other debts are sent now. */
  #takeLate(batch: readonly PendingDecision[], { nowMs, lines }: ScriptReply): void {
    for (const [index, { charge, admittedLocally }] of batch.entries()) {
      const line = lines[index];
      if (!line || isStale(line) || !admittedLocally) continue;
      const verdict = readVerdict(line, nowMs);
      if (verdict.outcome === 'admitted') this.#local.cancelDebt(charge, verdict);
    }
    void this.settleDebts();
  }

  async #callScript(client: object, charges: readonly Charge[], debts?: readonly Debt[]): Promise<ScriptReply> {
    const keys: string[] = [];
    let requests = '';
    for (let i = 0; i < charges.length; i += 1) {
      const charge = charges[i] as Charge;
      const debt = debts?.[i];
      const encoded = this.#encode(charge);
      keys.push(encoded.keys[0], encoded.keys[1], encoded.keys[2]);
      requests += `${encoded.text}${writeCounts(debt?.seen ?? this.#local.seen(charge.subject))};${writeCounts(debt?.owed)}\n`;
    }
    keys.push(this.#redisKeys.bans);
    // Redis's clock, which all processes share, unless a test has injected one.
    const now = this.#clock === systemClock ? '' : String(this.#clock.now());
    const { consume } = client as { consume(...args: unknown[]): Promise<string> };
    const [time, ...lines] = (await consume.call(client, keys.length, ...keys, now, newEpoch(), banLengths, requests)).split('\n');
    return { nowMs: Number(time), lines };
  }

  /** Encoded once per cached key: its charge object is the same for every request. */
  #encode(charge: Charge): EncodedCharge {
    const cached = this.#encodedCharges.get(charge);
    if (cached) return cached;
    const { subject, quota, cost, key } = charge;
    const banSubject = key ? `${subject}:${key.id}` : subject;
    const encoded: EncodedCharge = {
      keys: [this.#redisKeys.counts(subject), this.#redisKeys.banState(banSubject), this.#redisKeys.epoch(subject)],
      text: `${quota.perMinute} ${quota.perDay ?? 0} ${cost} ${key ? strikesUntilBan(quota) : 0};${key ? (key.epoch ?? '') : '*'};`,
    };
    this.#encodedCharges.set(charge, encoded);
    return encoded;
  }
}

const processId = randomBytes(9).toString('base64url');
let epochCount = 0;

/** Never an epoch that was used before: that would make stale cache entries valid again. */
const newEpoch = () => `${processId}${(epochCount++).toString(36)}`;

const writeCounts = (counts: Counts | undefined) => (counts ? `${counts.minute} ${counts.inMinute} ${counts.day} ${counts.inDay}` : '');

const stale = 'stale ';
const isStale = (line: string) => line.startsWith(stale);

function readVerdict(line: string, nowMs: number): Verdict {
  const [outcome, minute, inMinute, day, inDay, strikes, bannedUntilMs, banLevel] = line.split(' ');
  return {
    outcome: outcome as Outcome,
    nowMs,
    minute: Number(minute),
    inMinute: Number(inMinute),
    day: Number(day),
    inDay: Number(inDay),
    strikes: Number(strikes),
    bannedUntilMs: Number(bannedUntilMs),
    banLevel: Number(banLevel),
  };
}
