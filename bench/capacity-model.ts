// Predicts what a load costs. Pure: the load and the facts in, rates and sizes out.
//
// Requests and writes arrive at random (as a Poisson process), spread evenly over keys, pages and processes. Real requests prefer
// some keys and pages, of which more is then found in the cache.
import type { Facts } from './capacity-facts.ts';

export interface Load {
  /** Changes of animals a second. */
  readonly writes: number;
  readonly clients: number;
  readonly keys: number;
  /** Lists a second. */
  readonly requests: number;
  /** Different pages that are requested. */
  readonly pages: number;
  /** The share of these pages that a write changes. */
  readonly touched: number;
  readonly endpoints: number;
  /** The share of endpoints that an event is for. */
  readonly subscribed: number;
  readonly processes: number;
}

export interface Prediction {
  /** Pages read from PostgreSQL, a second. */
  readonly pageReads: number;
  /** The part of lists that is not found in the cache. */
  readonly missShare: number;
  /** Keys read from PostgreSQL, a second. */
  readonly keyReads: number;
  /** Replacements of the catalogue's token, a second. */
  readonly replacements: number;
  /** Looks for changes in PostgreSQL, a second. */
  readonly looks: number;
  /** Deliveries to endpoints, a second. */
  readonly deliveries: number;
  /** Workers that these need. */
  readonly workers: number;
  /** Cores that are busy, by the measured costs. */
  readonly cores: { readonly serve: number; readonly redis: number; readonly postgres: number };
  readonly connections: number;
  /** Bytes of the caches of one process, and of Redis. */
  readonly bytes: { readonly keys: number; readonly pages: number; readonly clients: number; readonly redis: number };
}

export function predict(load: Load, facts: Facts): Prediction {
  const { writes, clients, keys, requests, pages, processes } = load;
  const missShare = Math.max(
    missShareOf(requests / (pages * processes), { writes: writesToPage(load, facts), ageMs: facts.pageAgeMs }),
    evictedShare(pages, facts.memory.pagesMax),
  );
  const pageReads = requests * missShare;
  const uses = (requests + writes) / (keys * processes);
  const keyReads = keys * processes * Math.max(keyReadRate(uses, facts), uses * evictedShare(keys, facts.memory.keysMax));
  const looks = processes * Math.min(1_000 / facts.lookIntervalMs, requests / processes);
  const deliveries = writes * facts.eventsPerWrite * load.endpoints * load.subscribed;
  const { cpuUs, memory } = facts;
  return {
    pageReads,
    missShare,
    keyReads,
    replacements: writes * facts.replacementsPerWrite,
    looks,
    deliveries,
    workers: Math.max(Math.ceil(deliveries / facts.deliveriesOfWorker), 1),
    cores: {
      serve: (requests * cpuUs.list) / 1e6,
      redis: (requests * cpuUs.redisDecision) / 1e6,
      postgres: (pageReads * cpuUs.pageRead + keyReads * cpuUs.keyRead + looks * cpuUs.look + writes * cpuUs.write) / 1e6,
    },
    connections: processes * (facts.poolSize + facts.furtherConnections),
    bytes: {
      keys: Math.min(keys, memory.keysMax) * memory.key,
      pages: Math.min(pages, memory.pagesMax) * memory.page,
      clients: Math.min(clients, memory.clientsMax) * memory.client,
      redis: clients * memory.clientInRedis,
    },
  };
}

/** What a store whose processes have just started reads in its first `seconds`. */
export function predictRun(load: Load, facts: Facts, seconds: number): { pageReads: number; keyReads: number; replacements: number } {
  const { pageReads, replacements } = predict(load, facts);
  const { keys, processes, requests, writes } = load;
  const perKey = firstReads((requests + writes) / (keys * processes), { seconds, ttlSeconds: facts.keyTtlMs / 1_000 });
  return {
    pageReads: pageReads * seconds,
    keyReads: keys * processes * perKey * facts.readsPerUncachedKey,
    replacements: replacements * seconds,
  };
}

/** The part of what is used that has no room in a cache. */
const evictedShare = (used: number, roomFor: number) => Math.max(1 - roomFor / used, 0);

/** Invalidations of one page, a second. */
function writesToPage({ writes, touched }: Load, { invalidates, replacementsPerWrite }: Facts): number {
  return invalidates === 'every page' ? writes * replacementsPerWrite : writes * touched;
}

/**
 * A page that was read is served until it is invalidated, or is too old: for (1 − e^(−age × writes)) / writes seconds on average. The
 * first request after that is the next miss.
 */
export function missShareOf(requests: number, { writes, ageMs }: { writes: number; ageMs: number }): number {
  const age = ageMs / 1_000;
  const servedSeconds = writes === 0 ? age : -Math.expm1(-age * writes) / writes;
  return 1 / (1 + requests * servedSeconds);
}

/** Reads of one key in one process, a second: at its first use after each `keyTtlMs`. */
function keyReadRate(uses: number, { keyTtlMs, readsPerUncachedKey }: Facts): number {
  return uses === 0 ? 0 : readsPerUncachedKey / (keyTtlMs / 1_000 + 1 / uses);
}

/**
 * How often a key that is used `uses` times a second is found missing or expired in the first `seconds` of a process. It happens for
 * the n-th time when n uses, each after the end of the time to live before it, have come.
 */
export function firstReads(uses: number, { seconds, ttlSeconds }: { seconds: number; ttlSeconds: number }): number {
  let sum = 0;
  for (let n = 1; seconds > (n - 1) * ttlSeconds; n += 1) sum += probabilityOfEvents(n, uses * (seconds - (n - 1) * ttlSeconds));
  return sum;
}

/** That at least `n` events happen where `mean` are expected (Poisson). */
function probabilityOfEvents(n: number, mean: number): number {
  // As a logarithm, since e^(−mean) may be too small for a number.
  let logOfTerm = -mean;
  let fewer = 0;
  for (let i = 0; i < n; i += 1) {
    fewer += Math.exp(logOfTerm);
    logOfTerm += Math.log(mean / (i + 1));
  }
  return Math.max(1 - fewer, 0);
}
