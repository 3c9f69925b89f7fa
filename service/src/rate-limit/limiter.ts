import type { Clock } from '../clock.ts';
import type { RedisLink } from '../redis/redis-link.ts';
import { RedisLost } from '../redis/redis-link.ts';
import type { RedisNames } from '../redis/redis-names.ts';
import type { Charge, Verdict } from './decide.ts';
import { LocalLimiter } from './local-limiter.ts';
import { RedisLimiter, type Stale } from './redis-limiter.ts';

export type LimiterAnswer =
  | { readonly by: 'redis'; readonly verdict: Verdict }
  | { readonly by: 'redis'; readonly stale: Stale }
  | { readonly by: 'process'; readonly verdict: Verdict };

/** Exact over all processes while Redis answers; each process on its own, from the counts last seen, while it doesn't. */
export class Limiter {
  readonly #redis: RedisLimiter;
  readonly #local: LocalLimiter;
  readonly #onAlone: () => void;

  /** `onAlone` is called for each request that this process decides without Redis. */
  constructor(link: RedisLink, names: RedisNames, clock: Clock, onAlone: () => void) {
    this.#onAlone = onAlone;
    this.#local = new LocalLimiter(clock);
    this.#redis = new RedisLimiter(link, names, this.#local, clock);
    link.onRestored(() => void this.#redis.settleDebts());
  }

  async consume(charge: Charge): Promise<LimiterAnswer> {
    try {
      const answer = await this.#redis.consume(charge);
      return 'epoch' in answer ? { by: 'redis', stale: answer } : { by: 'redis', verdict: answer };
    } catch (error) {
      if (!(error instanceof RedisLost)) throw error;
      this.#onAlone();
      return { by: 'process', verdict: this.#local.consume(charge) };
    }
  }
}
