import type { ListVersion } from '../../domain/caches.ts';
import type { Clock } from '../../platform/clock.ts';
import type { RedisKeys } from '../../platform/redis/redis-keys.ts';
import type { RedisLink } from '../../platform/redis/redis-link.ts';
import type { Tracing } from '../../platform/tracing/tracing.ts';
import type { Charge } from './decide.ts';
import { DecisionTally } from './decision-tally.ts';
import { LocalLimiter } from './local-limiter.ts';
import { addressQuotas } from './plans.ts';
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
