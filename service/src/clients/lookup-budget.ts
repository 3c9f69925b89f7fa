const addressesMax = 10_000;
const waitingMax = 1_000;
const burst = 60;
const perSecond = 1;

interface Bucket {
  tokens: number;
  atMs: number;
  /** Look-ups under way: each may turn out to cost a token. */
  underWay: number;
  waiting: Array<() => void>;
}

/** One look-up that may be made; it must be given back, with what it found. */
export interface Lookup {
  end(exists: boolean): void;
}

/**
 * How many keys that don't exist an address may have looked up: a flood of well-formed inventions must not become a
 * flood of queries. Keys that exist cost nothing, however many come at once: they wait for each other's outcome.
 */
export class LookupBudget {
  readonly #buckets = new Map<string, Bucket>();

  /** Undefined where the address has spent what it may. */
  async begin(address: string): Promise<Lookup | undefined> {
    const bucket = this.#bucketOf(address);
    for (;;) {
      const lookup = take(bucket);
      if (lookup) return lookup;
      if (bucket.underWay === 0 || bucket.waiting.length >= waitingMax) return undefined;
      await new Promise<void>((resolve) => bucket.waiting.push(resolve));
    }
  }

  /** As `begin`, for who can't wait: undefined also where the outcome of others must be awaited first. */
  tryBegin(address: string): Lookup | undefined {
    return take(this.#bucketOf(address));
  }

  #bucketOf(address: string): Bucket {
    const bucket = this.#buckets.get(address) ?? { tokens: burst, atMs: performance.now(), underWay: 0, waiting: [] };
    this.#buckets.delete(address);
    this.#buckets.set(address, bucket);
    if (this.#buckets.size > addressesMax) this.#dropOldest();
    return bucket;
  }

  #dropOldest(): void {
    for (const oldest of this.#buckets.keys()) {
      this.#buckets.delete(oldest);
      return;
    }
  }
}

function take(bucket: Bucket): Lookup | undefined {
  refill(bucket);
  if (bucket.tokens - bucket.underWay < 1) return undefined;
  bucket.underWay += 1;
  return {
    end(exists) {
      bucket.underWay -= 1;
      if (!exists) bucket.tokens -= 1;
      for (const wake of bucket.waiting.splice(0)) wake();
    },
  };
}

function refill(bucket: Bucket): void {
  const nowMs = performance.now();
  bucket.tokens = Math.min(bucket.tokens + ((nowMs - bucket.atMs) / 1_000) * perSecond, burst);
  bucket.atMs = nowMs;
}
