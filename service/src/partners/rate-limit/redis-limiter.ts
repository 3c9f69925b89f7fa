import type { ListTokens, ListVersion } from '../../domain/list-version.ts';
import { oncePerTurn } from '../../platform/bounded/once-per-turn.ts';
import type { Clock } from '../../platform/clock.ts';
import type { RedisKeys } from '../../platform/redis/redis-keys.ts';
import type { RedisLink } from '../../platform/redis/redis-link.ts';
import { RedisLost } from '../../platform/redis/redis-link.ts';
import type { Scope, Tracing } from '../../platform/tracing/tracing.ts';
import { ConsumeScript, type Decided, type Line, readLine, type ScriptReply, staleEpochOf } from './consume-script.ts';
import { type Charge, minuteMs, type Verdict } from './decide.ts';
import type { Decider, DecisionTally } from './decision-tally.ts';
import type { Ask, Debt, LocalLimiter, Return } from './local-limiter.ts';

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

/** A request in a batch. */
interface Entry {
  readonly pending: PendingDecision;
  /** It asks for a lease. */
  readonly ask: Ask | undefined;
  /** Requests of the same client that came in the same turn, and wait for the lease. */
  readonly joined: PendingDecision[];
}

/** A request that a lease has decided, and that waits for the version of lists. */
interface Leased {
  readonly pending: PendingDecision;
  readonly verdict: Verdict;
}

interface Parts {
  readonly link: RedisLink;
  readonly redisKeys: RedisKeys;
  readonly local: LocalLimiter;
  readonly tally: DecisionTally;
  readonly clock: Clock;
  readonly versionOf: VersionOf;
  readonly leases: boolean;
  readonly tracing: Tracing | undefined;
  /** Receives each decision that Redis did not make. */
  onLost(pending: PendingDecision): void;
}

/** Small enough that Redis decides the first batch while this process still reads the next requests. */
const batchSizeMax = 16;
/** How often leases that have ended are returned. */
const returnIntervalMs = 100;

/**
 * Decides with consume.lua. Requests of the same turn of the event loop are sent in batches: most of a decision's cost is
 * the client library's cost per command. A busy client's requests are decided by a lease, without a call.
 *
 * A decision is in `#pending` until its batch is sent: when the batch is full, or at the end of the turn. Then it is
 * settled exactly once: resolved by Redis's reply, rejected by an error, or, if Redis doesn't reply in time, handed to
 * `onLost`. A reply that comes later only corrects the debts, so that a request is not counted twice.
 *
 * A decision by lease is in `#leased` until the end of the turn: it still needs the catalogue's token, read after the request
 * arrived. The turn's last batch brings it; without a batch, the token is read alone.
 */
export class RedisLimiter {
  readonly #parts: Parts;
  readonly #local: LocalLimiter;
  readonly #script: ConsumeScript;
  /** Traced requests that the next call is for. */
  #traced: Scope[] = [];
  #pending: Entry[] = [];
  #leased: Leased[] = [];
  /** The entries of this turn that ask for a lease, by subject. */
  readonly #asking = new Map<string, Entry>();
  /** The next return is scheduled. */
  #isReturning = false;
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
    const verdict = this.#local.takeLeased(pending.charge);
    if (verdict) this.#leased.push({ pending, verdict });
    else if (!this.#join(pending)) this.#add(pending, this.#parts.leases);
    void this.#endTurn();
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

  /** Lets a request wait for a lease that another one of its client asks for in this turn. */
  #join(pending: PendingDecision): boolean {
    const entry = this.#asking.get(pending.charge.subject);
    if (!entry || entry.joined.length >= this.#local.expectedOf(pending.charge)) return false;
    entry.joined.push(pending);
    return true;
  }

  #add(pending: PendingDecision, mayAsk: boolean): void {
    const ask = mayAsk ? this.#local.ask(pending.charge) : undefined;
    const entry: Entry = { pending, ask, joined: [] };
    if (ask) this.#asking.set(pending.charge.subject, entry);
    this.#pending.push(entry);
    if (this.#pending.length === batchSizeMax) this.#sendPending([]);
  }

  readonly #endTurn = oncePerTurn(() => {
    const leased = this.#leased;
    this.#leased = [];
    if (this.#pending.length > 0) this.#sendPending(leased);
    else if (leased.length > 0) void this.#readVersion(leased);
  });

  #sendPending(leased: readonly Leased[]): void {
    const batch = this.#pending;
    this.#pending = [];
    this.#asking.clear();
    void this.#send(batch, leased);
  }

  async #readVersion(leased: readonly Leased[]): Promise<void> {
    const span = this.#startSpan('redis mget', leased.length);
    let sent: Promise<unknown> | undefined;
    try {
      const { catalogueToken, listingsToken } = this.#parts.redisKeys;
      const reply = await this.#parts.link
        .call((client) => {
          const tokens = client.mget(catalogueToken, listingsToken);
          sent = tokens;
          return tokens;
        })
        .finally(() => span?.end());
      const [catalogue, listings] = reply;
      const listVersion = await this.#parts.versionOf({ catalogue: catalogue ?? undefined, listings: listings ?? undefined });
      for (const { pending, verdict } of leased) this.#resolve(pending, verdict, listVersion, 'lease');
    } catch (error) {
      this.#fail(leased, error);
      // If the lease has ended, the requests are owed.
      if (sent) this.#whenKnown(sent);
    }
  }

  async #send(batch: readonly Entry[], leased: readonly Leased[]): Promise<void> {
    const span = this.#startSpan('redis consume', batch.length);
    let reply: ScriptReply;
    let sent: Promise<ScriptReply> | undefined;
    try {
      reply = await this.#parts.link
        .call((client) => {
          sent = this.#script.call(client, batch.map(lineOfEntry));
          return sent;
        })
        .finally(() => span?.end());
    } catch (error) {
      for (const { pending, ask, joined } of batch) {
        if (ask) this.#local.endAsk(pending.charge);
        for (const one of [pending, ...joined]) this.#failOne(one, error);
      }
      this.#fail(leased, error);
      if (sent) this.#whenKnown(sent, (late) => this.#takeLate(batch, late));
      return;
    }
    // Before anything waits: a request that is decided without Redis meanwhile must know of these.
    const decided = batch.map((entry, i) => this.#learn(entry, reply.lines[i], reply.nowMs));
    const settle = (index: number, version: ListVersion | undefined) =>
      this.#settle(batch[index] as Entry, reply.lines[index], decided[index], version);
    const version = this.#parts.versionOf(reply.tokens);
    const isReady = !(version instanceof Promise);
    // What has no use for the version doesn't wait for it.
    for (let i = 0; i < batch.length; i += 1) {
      if (isReady) settle(i, version);
      else if (!usesVersion(batch[i] as Entry, reply.lines[i])) settle(i, undefined);
    }
    const listVersion = await version;
    if (!isReady) for (let i = 0; i < batch.length; i += 1) if (usesVersion(batch[i] as Entry, reply.lines[i])) settle(i, listVersion);
    for (const { pending, verdict } of leased) this.#resolve(pending, verdict, listVersion, 'lease');
  }

  /** One span for the requests of a call that are traced; undefined: none is. */
  #startSpan(name: string, size: number): { end(): void } | undefined {
    if (this.#traced.length === 0) return undefined;
    const scopes = this.#traced;
    this.#traced = [];
    return this.#parts.tracing?.startShared(name, { 'db.system.name': 'redis', 'db.operation.batch.size': size }, scopes);
  }

  #resolve(pending: PendingDecision, verdict: Verdict, listVersion: ListVersion | undefined, by: Decider): void {
    this.#parts.tally.count(pending.charge, verdict, by);
    pending.resolve({ by: 'redis', verdict, listVersion });
  }

  /** What a lease had paid goes back to it: it pays again when the request is decided without Redis. */
  #fail(leased: readonly Leased[], error: unknown): void {
    for (const { pending } of leased) {
      this.#local.putBack(pending.charge);
      this.#failOne(pending, error);
    }
  }

  #failOne(pending: PendingDecision, error: unknown): void {
    if (error instanceof RedisLost) this.#parts.onLost(pending);
    else pending.reject(error);
  }

  /** Undefined: Redis has not decided. */
  #learn({ pending: { charge } }: Entry, line: string | undefined, nowMs: number): Decided | undefined {
    if (!line || staleEpochOf(line) !== undefined) return undefined;
    const decided = readLine(line, nowMs);
    const isNewBan = this.#local.learn(charge, decided.verdict, decided.ledger);
    if (isNewBan) this.#parts.tally.noteBan(decided.verdict);
    return decided;
  }

  #settle(entry: Entry, line: string | undefined, decided: Decided | undefined, listVersion: ListVersion | undefined): void {
    const { pending, ask, joined } = entry;
    const epoch = line && staleEpochOf(line);
    if (ask) this.#local.endAsk(pending.charge);
    if (epoch) {
      // Nothing in the line was counted.
      if (ask?.back) this.#return([{ ...pending.charge, back: ask.back }]);
      pending.resolve({ by: 'redis', stale: { epoch } });
    } else if (!decided) pending.reject(new Error('consume.lua returned fewer lines than requests'));
    else {
      const { verdict, leaseSize, bannedKeys } = decided;
      if (ask && verdict.outcome === 'admitted') {
        const grant = { askedAtMs: ask.atMs, verdict, epoch: pending.charge.key?.epoch, size: leaseSize - 1, bannedKeys };
        this.#local.addLease(pending.charge, grant, (verdict.minute + 1) * minuteMs - verdict.nowMs);
        this.#returnLater();
      }
      // What Redis has left may be in a lease of this process that came meanwhile.
      const leased = verdict.outcome === 'minute' || verdict.outcome === 'day' ? this.#local.takeLeased(pending.charge) : undefined;
      const shown = ask || verdict.outcome !== 'admitted' ? verdict : this.#local.withoutLease(pending.charge, verdict);
      this.#resolve(pending, leased ?? shown, listVersion, leased ? 'lease' : 'redis');
    }
    // They arrived before the batch was sent, so its version of lists is theirs too.
    for (const one of joined) {
      const verdict = this.#local.takeLeased(one.charge);
      if (verdict) this.#resolve(one, verdict, listVersion, 'lease');
      else {
        this.#add(one, false);
        void this.#endTurn();
      }
    }
  }

  /** Waits for the outcome of a call that got no reply in time: a late reply, or the end of the connection. Then settles the debts. */
  #whenKnown<T>(sent: Promise<T>, onLate?: (reply: T) => void, onUnknown: () => void = () => {}): void {
    this.#inDoubt += 1;
    void sent.then(onLate, onUnknown).then(() => {
      this.#inDoubt -= 1;
      void this.settleDebts();
    });
  }

  /**
   * Redis replied after this process had decided. What both admitted is no longer owed. Of a lease, one request pays for the one that
   * was decided; the others are returned.
   */
  #takeLate(batch: readonly Entry[], { nowMs, lines }: ScriptReply): void {
    const returns: Return[] = [];
    for (const [index, { pending, ask }] of batch.entries()) {
      const { charge, isOwed } = pending;
      const line = lines[index];
      const isStale = line !== undefined && staleEpochOf(line) !== undefined;
      if (isStale && ask?.back) returns.push({ ...charge, back: ask.back });
      if (!line || isStale) continue;
      const { verdict, leaseSize } = readLine(line, nowMs);
      if (verdict.outcome !== 'admitted') continue;
      if (isOwed) this.#local.cancelDebt(charge, verdict);
      const left = leaseSize - 1;
      if (left > 0) {
        const back = { minute: verdict.minute, inMinute: left, day: verdict.day, inDay: left };
        returns.push({ subject: charge.subject, quota: charge.quota, back });
      }
    }
    this.#return(returns);
  }

  /** While there are leases, returns those that have ended. */
  #returnLater(): void {
    if (this.#isReturning) return;
    this.#isReturning = true;
    setTimeout(() => {
      this.#isReturning = false;
      this.#return(this.#local.takeReturns());
      if (this.#local.hasLeases) this.#returnLater();
    }, returnIntervalMs).unref();
  }

  /** A return is sent once: if the reply is lost, it may have been counted. */
  #return(returns: readonly Return[]): void {
    for (let start = 0; start < returns.length; start += batchSizeMax) {
      const lines = returns.slice(start, start + batchSizeMax).map(lineOfReturn);
      this.#parts.link
        .call((client) => this.#script.call(client, lines))
        .then(
          ({ nowMs, lines: replies }) => {
            for (const [index, { charge }] of lines.entries()) {
              const { verdict, ledger } = readLine(replies[index] ?? '', nowMs);
              this.#local.learn(charge, verdict, ledger);
            }
          },
          () => {},
        );
    }
  }
}

/** Only a request with a key that is not stale can get a list. */
const usesVersion = ({ pending }: Entry, line: string | undefined) =>
  pending.charge.key !== undefined && line !== undefined && staleEpochOf(line) === undefined;

const lineOfEntry = ({ pending: { charge }, ask }: Entry): Line => ({ charge, back: ask?.back, asks: ask !== undefined });
const lineOfDebt = ({ subject, quota, seen, owed }: Debt): Line => ({ charge: { subject, quota, cost: 0 }, seen, owed });
const lineOfReturn = ({ subject, quota, back }: Return): Line => ({ charge: { subject, quota, cost: 0 }, back });
