import { LRUCache } from 'lru-cache';
import { growingTo } from '../../platform/bounded/growing-to.ts';

/** Who has asked for how much lately. */
interface Bucket {
  tokens: number;
  atMs: number;
}

/** More than a page with a hundred photos needs at once; and for each second after that. */
const burst = 400;
const perSecond = 50;
const addressesMax = 10_000;

/**
 * A token bucket for each address, in this process. Of more than `addressesMax` addresses the oldest are forgotten, so that memory is
 * bounded: then they start again with a full bucket.
 */
export class AddressBudget {
  readonly #buckets = new LRUCache<string, Bucket>(growingTo(addressesMax));

  /** Returns the seconds to wait; 0: the request is admitted. */
  take(address: string, nowMs: number): number {
    const bucket = this.#buckets.get(address) ?? { tokens: burst, atMs: nowMs };
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) / 1_000) * perSecond);
    bucket.atMs = nowMs;
    this.#buckets.set(address, bucket);
    if (bucket.tokens < 1) return 1;
    bucket.tokens -= 1;
    return 0;
  }
}
