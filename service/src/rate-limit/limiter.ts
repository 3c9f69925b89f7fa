import type { Clock } from '../clock.ts';
import type { RedisKeys } from '../redis/redis-keys.ts';
import type { RedisLink } from '../redis/redis-link.ts';
import type { Charge } from './decide.ts';
import { LocalLimiter } from './local-limiter.ts';
import { type LimiterDecision, type PendingDecision, type ReadToken, RedisLimiter } from './redis-limiter.ts';

/** While Redis is up, limits are exact across all processes. While it is down, each process counts by itself, from the counts last seen. */
export class Limiter {
  readonly #redis: RedisLimiter;
  readonly #local: LocalLimiter;
  readonly #onLocalDecision: () => void;

  /** `onLocalDecision` is called for each request that this process decides without Redis. */
  constructor(link: RedisLink, redisKeys: RedisKeys, clock: Clock, readToken: ReadToken, onLocalDecision: () => void) {
    this.#onLocalDecision = onLocalDecision;
    this.#local = new LocalLimiter(clock);
    this.#redis = new RedisLimiter({ link, redisKeys, local: this.#local, clock, readToken }, (pending) => this.#decideLocally(pending));
    link.onRestored(() => void this.#redis.settleDebts());
  }

  consume(charge: Charge): Promise<LimiterDecision> {
    return new Promise((resolve, reject) => this.#redis.decide({ charge, resolve, reject }));
  }

  /** Like `consume`, with callbacks: a promise for each request is too expensive on the fast path. */
  decide(pending: PendingDecision): void {
    this.#redis.decide(pending);
  }

  #decideLocally(pending: PendingDecision): void {
    this.#onLocalDecision();
    const verdict = this.#local.consume(pending.charge);
    pending.admittedLocally = verdict.outcome === 'admitted';
    pending.resolve({ by: 'process', verdict });
  }
}
