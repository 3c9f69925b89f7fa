import type { Clock } from '../clock.ts';
import type { RedisLink } from '../redis/redis-link.ts';
import type { RedisNames } from '../redis/redis-names.ts';
import type { Charge } from './decide.ts';
import { LocalLimiter } from './local-limiter.ts';
import { type LimiterAnswer, type ReadToken, RedisLimiter, type Waiting } from './redis-limiter.ts';

/** Exact over all processes while Redis answers; each process on its own, from the counts last seen, while it doesn't. */
export class Limiter {
  readonly #redis: RedisLimiter;
  readonly #local: LocalLimiter;
  readonly #onAlone: () => void;

  /** `onAlone` is called for each request that this process decides without Redis. */
  constructor(link: RedisLink, names: RedisNames, clock: Clock, readToken: ReadToken, onAlone: () => void) {
    this.#onAlone = onAlone;
    this.#local = new LocalLimiter(clock);
    this.#redis = new RedisLimiter({ link, names, local: this.#local, clock, readToken }, (waiting) => this.#decideAlone(waiting));
    link.onRestored(() => void this.#redis.settleDebts());
  }

  consume(charge: Charge): Promise<LimiterAnswer> {
    return new Promise((resolve, reject) => this.#redis.decide({ charge, resolve, reject }));
  }

  /** The same for many requests a turn, without a promise for each. */
  decide(waiting: Waiting): void {
    this.#redis.decide(waiting);
  }

  #decideAlone(waiting: Waiting): void {
    this.#onAlone();
    const verdict = this.#local.consume(waiting.charge);
    waiting.admittedAlone = verdict.outcome === 'admitted';
    waiting.resolve({ by: 'process', verdict });
  }
}
