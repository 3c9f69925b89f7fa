import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import type { ListTokens, ListVersion } from '../../domain/caches.ts';
import { oncePerTurn } from '../../platform/bounded/joined-runs.ts';
import type { Clock } from '../../platform/clock.ts';
import { type RedisKeys, type RedisLink, RedisLost } from '../../platform/redis/redis-link.ts';
import type { TraceScope, Tracing } from '../../platform/tracing/tracing.ts';
import type { DecisionTally } from './limiter.ts';
import type { Debt, LocalLimiter } from './local-limiter.ts';
import { banLengthsMinutes, type Charge, type ChargeOutcome, type Counts, strikesUntilBan, type Verdict } from './plans.ts';

/** One line of a call to consume.lua. */
export interface ChargeLine {
  readonly charge: Charge;
  readonly seen?: Counts;
  readonly owed?: Counts;
}

/** The reply of consume.lua: the time, the tokens of lists, and a line for each request. */
export interface ScriptReply {
  readonly nowMs: number;
  readonly tokens: ListTokens;
  readonly lines: readonly string[];
}

const lua = readFileSync(new URL('./consume.lua', import.meta.url), 'utf8');
const banLengths = banLengthsMinutes.map((minutes) => minutes * 60_000).join(' ');

/** consume.lua as a function: writes its arguments, and reads its reply. */
export class ConsumeScript {
  readonly #redisKeys: RedisKeys;
  readonly #clock: Clock;
  readonly #seenBy: (subject: string) => Counts | undefined;

  /** `seenBy` returns what this process has seen of a subject's counts, which is sent with every line. */
  constructor(redisKeys: RedisKeys, clock: Clock, seenBy: (subject: string) => Counts | undefined) {
    this.#redisKeys = redisKeys;
    this.#clock = clock;
    this.#seenBy = seenBy;
  }

  static define(client: Redis): void {
    client.defineCommand('consume', { lua });
  }

  async call(client: object, lines: readonly ChargeLine[]): Promise<ScriptReply> {
    const keys: string[] = [];
    let requests = '';
    for (const { charge, seen, owed } of lines) {
      const { subject, quota, cost, key } = charge;
      keys.push(
        this.#redisKeys.counts(subject),
        this.#redisKeys.banState(key ? `${subject}:${key.id}` : subject),
        this.#redisKeys.epoch(subject),
      );
      const limits = `${quota.perMinute} ${quota.perDay ?? 0} ${cost} ${key ? strikesUntilBan(quota) : 0}`;
      const epoch = key ? (key.epoch ?? '') : '*';
      requests += `${limits};${epoch};${writeCounts(seen ?? this.#seenBy(subject))};${writeCounts(owed)}\n`;
    }
    keys.push(this.#redisKeys.bans, this.#redisKeys.catalogueToken, this.#redisKeys.listingsToken);
    // Redis's clock, which all processes share, unless a test has injected one.
    const now = this.#clock.isReal ? '' : String(this.#clock.now());
    const { consume } = client as { consume(...args: unknown[]): Promise<string> };
    const [head = '', ...replies] = (await consume.call(client, keys.length, ...keys, now, newEpoch(), banLengths, requests)).split('\n');
    const [time, catalogue, listings] = head.split(' ');
    return { nowMs: Number(time), tokens: { catalogue: catalogue || undefined, listings: listings || undefined }, lines: replies };
  }
}

const processId = randomBytes(9).toString('base64url');
let epochCount = 0;

/** Never an epoch that was used before: that would make stale cache entries valid again. */
const newEpoch = () => `${processId}${(epochCount++).toString(36)}`;

const writeCounts = (counts: Counts | undefined) => (counts ? `${counts.minute} ${counts.inMinute} ${counts.day} ${counts.inDay}` : '');

const stale = 'stale ';

/** The current epoch, if the line says that the cache entry is stale. */
export const staleEpochOf = (line: string): string | undefined => (line.startsWith(stale) ? line.slice(stale.length) : undefined);

/** What a line says about a request. */
export function readVerdict(line: string, nowMs: number): Verdict {
  const [outcome, ...numbers] = line.split(' ');
  const [minute = 0, inMinute = 0, day = 0, inDay = 0, strikes = 0, bannedUntilMs = 0, banLevel = 0] = numbers.map(Number);
  return { outcome: outcome as ChargeOutcome, nowMs, minute, inMinute, day, inDay, strikes, bannedUntilMs, banLevel };
}

/** The cached client is stale. Read it again, and cache it under this epoch, which is the current one. */
export interface Stale {
  readonly epoch: string;
}

export type RedisDecision =
  | { readonly by: 'redis'; readonly stale: Stale }
  | {
      readonly by: 'redis';
      readonly verdict: Verdict;
      /** As of a time after the request arrived; undefined: no list may be served from the cache. */
      readonly listVersion: ListVersion | undefined;
    };

/** The version of lists for the tokens that are read along with each batch of decisions. */
export type VersionOf = (tokens: ListTokens) => ListVersion | undefined | Promise<ListVersion | undefined>;

/** A request that waits for its decision. Callbacks, not a promise: one promise per request was the costliest step. */
export interface PendingDecision {
  readonly charge: Charge;
  resolve(response: LimiterDecision): void;
  reject(error: unknown): void;
  /** Redis didn't reply in time, and this process admitted the request by itself: it is part of the client's debt. */
  isOwed?: boolean;
}

export type LimiterDecision =
  | RedisDecision
  | {
      readonly by: 'process';
      readonly verdict: Verdict;
      readonly listVersion: ListVersion | undefined;
      /** The process has looked for changes in PostgreSQL since the request arrived. */
      readonly hasLooked: boolean;
    };

interface Parts {
  readonly link: RedisLink;
  readonly redisKeys: RedisKeys;
  readonly local: LocalLimiter;
  readonly tally: DecisionTally;
  readonly clock: Clock;
  readonly versionOf: VersionOf;
  readonly tracing: Tracing | undefined;
  /** Receives each decision that Redis did not make. */
  onLost(pending: PendingDecision): void;
}

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
  readonly #parts: Parts;
  readonly #local: LocalLimiter;
  readonly #script: ConsumeScript;
  /** Traced requests that the next call is for. */
  #traced: TraceScope[] = [];
  #pending: PendingDecision[] = [];
  /** The calls that got no reply in time, and may still get one. */
  #inDoubt = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#local = parts.local;
    this.#script = new ConsumeScript(parts.redisKeys, parts.clock, (subject) => parts.local.seen(subject));
    ConsumeScript.define(parts.link.client);
  }

  decide(pending: PendingDecision): void {
    if (!this.#parts.link.up) {
      this.#parts.onLost(pending);
      return;
    }
    const scope = this.#parts.tracing?.current;
    if (scope) this.#traced.push(scope);
    this.#pending.push(pending);
    if (this.#pending.length === batchSizeMax) this.#sendPending();
    else void this.#endTurn();
  }

  /**
   * Adds to Redis what this process admitted without it. Batches are sent one after another, so that each has the whole
   * deadline. While a reply may still come late, nothing is sent: it may say that Redis has counted a part of the debts.
   */
  async settleDebts(): Promise<void> {
    if (this.#inDoubt > 0) return;
    const debts = this.#local.takeDebts();
    for (let start = 0; start < debts.length; start += batchSizeMax) {
      const batch = debts.slice(start, start + batchSizeMax);
      let sent: Promise<ScriptReply> | undefined;
      try {
        await this.#parts.link.call((client) => {
          sent = this.#script.call(client, batch.map(lineOfDebt));
          return sent;
        });
      } catch {
        const returnAll = (unpaid: readonly Debt[]) => {
          for (const debt of unpaid) this.#local.returnDebt(debt);
        };
        returnAll(debts.slice(sent ? start + batchSizeMax : start));
        // If the connection is lost, nobody knows. Counted twice is too strict, not counted would be too lax.
        if (sent) this.#whenKnown(sent, undefined, () => returnAll(batch));
        return;
      }
    }
  }

  readonly #endTurn = oncePerTurn(() => {
    if (this.#pending.length > 0) this.#sendPending();
  });

  #sendPending(): void {
    const batch = this.#pending;
    this.#pending = [];
    void this.#send(batch);
  }

  async #send(batch: readonly PendingDecision[]): Promise<void> {
    const span = this.#startSpan(batch.length);
    let reply: ScriptReply;
    let sent: Promise<ScriptReply> | undefined;
    try {
      reply = await this.#parts.link
        .call((client) => {
          sent = this.#script.call(client, batch);
          return sent;
        })
        .finally(() => span?.end());
    } catch (error) {
      for (const pending of batch) {
        if (error instanceof RedisLost) this.#parts.onLost(pending);
        else pending.reject(error);
      }
      if (sent) this.#whenKnown(sent, (late) => this.#takeLate(batch, late));
      return;
    }
    // Before anything waits: a request that is decided without Redis meanwhile must know of these.
    const verdicts = batch.map((pending, i) => this.#learn(pending.charge, reply.lines[i], reply.nowMs));
    const settle = (index: number, listVersion: ListVersion | undefined) =>
      this.#settle(batch[index] as PendingDecision, reply.lines[index], verdicts[index], listVersion);
    const version = this.#parts.versionOf(reply.tokens);
    const waiting: number[] = [];
    for (const [index, { charge }] of batch.entries()) {
      if (!(version instanceof Promise)) settle(index, version);
      // Only a request with a key that is not stale can get a list. The others don't wait for the version.
      else if (charge.key && verdicts[index]) waiting.push(index);
      else settle(index, undefined);
    }
    const listVersion = await version;
    for (const index of waiting) settle(index, listVersion);
  }

  /** One span for the requests of a call that are traced; undefined: none is. */
  #startSpan(size: number): { end(): void } | undefined {
    if (this.#traced.length === 0) return undefined;
    const scopes = this.#traced;
    this.#traced = [];
    return this.#parts.tracing?.startShared('redis consume', { 'db.system.name': 'redis', 'db.operation.batch.size': size }, scopes);
  }

  /** Undefined: Redis has not decided. */
  #learn(charge: Charge, line: string | undefined, nowMs: number): Verdict | undefined {
    if (!line || staleEpochOf(line) !== undefined) return undefined;
    const verdict = readVerdict(line, nowMs);
    const isNewBan = this.#local.learn(charge, verdict);
    if (isNewBan) this.#parts.tally.noteBan(verdict);
    return verdict;
  }

  #settle(pending: PendingDecision, line: string | undefined, verdict: Verdict | undefined, listVersion: ListVersion | undefined): void {
    const epoch = line && staleEpochOf(line);
    if (epoch) pending.resolve({ by: 'redis', stale: { epoch } });
    else if (!verdict) pending.reject(new Error('consume.lua returned fewer lines than requests'));
    else {
      this.#parts.tally.count(pending.charge, verdict, 'redis');
      pending.resolve({ by: 'redis', verdict, listVersion });
    }
  }

  /** Waits for the outcome of a call that got no reply in time: a late reply, or the end of the connection. Then settles the debts. */
  #whenKnown(sent: Promise<ScriptReply>, onLate?: (reply: ScriptReply) => void, onUnknown: () => void = () => {}): void {
    this.#inDoubt += 1;
    void sent.then(onLate, onUnknown).then(() => {
      this.#inDoubt -= 1;
      void this.settleDebts();
    });
  }

  /** Redis replied after this process had decided. What both admitted is no longer owed. */
  #takeLate(batch: readonly PendingDecision[], { nowMs, lines }: ScriptReply): void {
    for (const [index, { charge, isOwed }] of batch.entries()) {
      const line = lines[index];
      if (!line || staleEpochOf(line) !== undefined || !isOwed) continue;
      const verdict = readVerdict(line, nowMs);
      if (verdict.outcome === 'admitted') this.#local.cancelDebt(charge, verdict);
    }
  }
}

const lineOfDebt = ({ subject, quota, seen, owed }: Debt): ChargeLine => ({ charge: { subject, quota, cost: 0 }, seen, owed });
