import type { ListVersion } from '../../domain/caches.ts';
import type { Clock } from '../../platform/clock.ts';
import type { RedisKeys, RedisLink } from '../../platform/redis/redis-link.ts';
import type { Tracing } from '../../platform/tracing/tracing.ts';
import { LocalLimiter } from './local-limiter.ts';
import {
  addressQuotas,
  banLengthsMinutes,
  type Charge,
  type ChargeOutcome,
  msUntilAdmitted,
  ownerOf,
  personQuotas,
  type Quota,
  type QuotaOwner,
  quotaOwners,
  type Verdict,
} from './plans.ts';
import { type LimiterDecision, type PendingDecision, RedisLimiter, type VersionOf } from './redis-limiter.ts';

interface Parts {
  readonly link: RedisLink;
  readonly redisKeys: RedisKeys;
  readonly clock: Clock;
  readonly versionOf: VersionOf;
  readonly tracing: Tracing | undefined;
  /** Looks for what has changed in PostgreSQL, once for all requests of a turn. Returns the version of lists without Redis. */
  readonly look: () => Promise<ListVersion | undefined>;
  /** Called for each request that this process decides without Redis. */
  readonly onLocalDecision: () => void;
}

/** While Redis is up, limits are exact across all processes. While it is down, each process counts by itself, from the counts last seen. */
export class Limiter {
  /** What was decided so far. */
  readonly tally = new DecisionTally();
  readonly #redis: RedisLimiter;
  readonly #local: LocalLimiter;
  readonly #look: Parts['look'];
  readonly #onLocalDecision: () => void;

  constructor({ look, onLocalDecision, ...parts }: Parts) {
    this.#look = look;
    this.#onLocalDecision = onLocalDecision;
    this.#local = new LocalLimiter(parts.clock);
    const onLost = (pending: PendingDecision) => this.#decideLocally(pending);
    this.#redis = new RedisLimiter({ ...parts, local: this.#local, tally: this.tally, onLost });
    parts.link.on('restored', () => void this.#redis.settleDebts());
  }

  consume(charge: Charge): Promise<LimiterDecision> {
    return new Promise((resolve, reject) => this.#redis.decide({ charge, resolve, reject }));
  }

  /** Like `consume`, with callbacks: a promise for each request is too expensive on the fast path. */
  decide(pending: PendingDecision): void {
    this.#redis.decide(pending);
  }

  /** The epoch of a client, in the same call as the decisions of this turn. Undefined without Redis. Nothing is counted. */
  readEpoch(subject: string, keyId: bigint): Promise<string | undefined> {
    return new Promise((resolve, reject) => this.#redis.decide(new EpochRead(subject, keyId, resolve, reject)));
  }

  /** Counts at once, so that a late reply of Redis is not counted twice. Then looks, so that the request may use the caches. */
  #decideLocally(pending: PendingDecision): void {
    if (pending instanceof EpochRead) {
      pending.onEpoch(undefined);
      return;
    }
    this.#onLocalDecision();
    const verdict = this.#local.consume(pending.charge);
    pending.isOwed = verdict.outcome === 'admitted';
    this.tally.count(pending.charge, verdict, 'process');
    const resolve = (hasLooked: boolean, listVersion?: ListVersion) => pending.resolve({ by: 'process', verdict, listVersion, hasLooked });
    // Only a client's request uses caches. If the look fails, so will the request, when it reads the key.
    if (!pending.charge.key) resolve(false);
    else
      this.#look().then(
        (version) => resolve(true, version),
        () => resolve(false),
      );
  }
}

/** Asks the script about a cache entry without an epoch, which is always stale: the reply is the current epoch. */
class EpochRead implements PendingDecision {
  readonly charge: Charge;
  readonly onEpoch: (epoch: string | undefined) => void;
  readonly reject: (error: unknown) => void;

  constructor(subject: string, keyId: bigint, onEpoch: (epoch: string | undefined) => void, reject: (error: unknown) => void) {
    // The limits don't matter, since nothing is counted.
    this.charge = { subject, quota: addressQuotas.api, cost: 0, key: { id: keyId, epoch: undefined } };
    this.onEpoch = onEpoch;
    this.reject = reject;
  }

  resolve(decision: LimiterDecision): void {
    this.onEpoch('stale' in decision ? decision.stale.epoch : undefined);
  }
}

/** Who pays for a request. Addresses and people have a count for each purpose. */
export type Payer =
  | { readonly clientId: bigint; readonly quota: Quota }
  /** As `requestSubject` writes it. */
  | { readonly address: string; readonly purpose: keyof typeof addressQuotas }
  | { readonly personId: bigint; readonly purpose: keyof typeof personQuotas };

type Consume = Pick<Limiter, 'consume'>;

/**
 * Charges a payer for a request; cost 0 only reads the counts. The charge has no key, so a rejection is neither a strike nor a ban: those
 * are for programs with a key, and no person or address is banned.
 */
export async function charge(limiter: Consume, payer: Payer, cost: 0 | 1 = 1): Promise<Verdict> {
  const decision = await limiter.consume({ ...accountOf(payer), cost });
  if ('stale' in decision) throw new Error('a charge without a key has no epoch');
  return decision.verdict;
}

/** Charges a payer. Returns the ms to wait before the next attempt, which cost nothing; 0: admitted. */
export const chargeOrWait = async (limiter: Consume, payer: Payer): Promise<number> => msUntilAdmitted(await charge(limiter, payer));

/** The name of a client in Redis keys: of its counts and its epoch. */
export const clientSubject = (clientId: bigint) => `c${clientId}`;

/** The names of the counts are keys in Redis: those of wrong keys have the bare address. */
function accountOf(payer: Payer): Pick<Charge, 'subject' | 'quota'> {
  if ('clientId' in payer) return { subject: clientSubject(payer.clientId), quota: payer.quota };
  if ('personId' in payer) return { subject: `p${payer.personId}:${payer.purpose}`, quota: personQuotas[payer.purpose] };
  const { address, purpose } = payer;
  return { subject: purpose === 'api' ? address : `${purpose}:${address}`, quota: addressQuotas[purpose] };
}

/** Who decided: Redis, or the process by itself. */
type Decider = 'redis' | 'process';

export interface DecisionCount {
  readonly plan: QuotaOwner;
  readonly outcome: ChargeOutcome;
  readonly by: Decider;
  count: number;
}

const outcomes: readonly ChargeOutcome[] = ['admitted', 'minute', 'day', 'banned'];
/** Only keys are banned, and an address has no limit per day. */
const impossible: Partial<Record<QuotaOwner, readonly ChargeOutcome[]>> = { none: ['day', 'banned'], person: ['banned'] };

type Counts = Partial<Record<ChargeOutcome, DecisionCount>>;

/** Counts the decisions of a process. Plain numbers: the whole decision takes some microseconds. */
export class DecisionTally {
  readonly #byPlan = new Map<QuotaOwner, Record<Decider, Counts>>();
  #bansStarted = 0;

  constructor() {
    for (const plan of quotaOwners) {
      const possible = outcomes.filter((outcome) => !impossible[plan]?.includes(outcome));
      const counts = (by: Decider): Counts => Object.fromEntries(possible.map((outcome) => [outcome, { plan, outcome, by, count: 0 }]));
      this.#byPlan.set(plan, { redis: counts('redis'), process: counts('process') });
    }
  }

  get bansStarted(): number {
    return this.#bansStarted;
  }

  /** What only reads the counts is no decision. */
  count({ quota, cost }: Charge, { outcome }: Verdict, by: Decider): void {
    const entry = cost === 0 ? undefined : this.#byPlan.get(ownerOf(quota))?.[by][outcome];
    if (entry) entry.count += 1;
  }

  /** Counts a ban that this process sees for the first time, if it began with this decision: another process may have seen it begin. */
  noteBan({ bannedUntilMs, nowMs, banLevel }: Verdict): void {
    const lengthMs = (banLengthsMinutes[banLevel - 1] ?? 0) * 60_000;
    if (bannedUntilMs === nowMs + lengthMs) this.#bansStarted += 1;
  }

  *[Symbol.iterator](): Iterator<DecisionCount> {
    for (const byDecider of this.#byPlan.values()) for (const counts of Object.values(byDecider)) yield* Object.values(counts);
  }
}
