// What the capacity model knows of the program. Constants are read from the source, so that the model follows them.
import { readFileSync } from 'node:fs';

export interface Facts {
  /** A page is read again after this time, even if nothing has changed. */
  readonly pageAgeMs: number;
  /** Whether a write invalidates every cached page, or only the pages that it changes. */
  readonly invalidates: 'every page' | 'changed pages';
  /** Replacements of the catalogue's token for each write. */
  readonly replacementsPerWrite: number;
  /** A key is read again after this time, even if its client has not changed. */
  readonly keyTtlMs: number;
  /** Reads of a key that is not cached. */
  readonly readsPerUncachedKey: number;
  /** How often a busy process looks for changes in PostgreSQL. */
  readonly lookIntervalMs: number;
  /** Connections of `serve` in addition to `HOMEWARD_POOL_SIZE`: for searches, for looks, and for the probe. */
  readonly furtherConnections: number;
  readonly poolSize: number;
  /** With those of orders. */
  readonly eventsPerWrite: number;
  /** A second, as `npm run prove -- many-endpoints` has measured. */
  readonly deliveriesOfWorker: number;
  readonly memory: MemoryFacts;
  readonly cpuUs: CpuFacts;
}

/** In bytes, of one process unless another is named. */
interface MemoryFacts {
  readonly key: number;
  readonly keysMax: number;
  readonly page: number;
  readonly pagesMax: number;
  readonly client: number;
  readonly clientsMax: number;
  /** In Redis: the counts and the epoch. */
  readonly clientInRedis: number;
}

/** CPU time in µs, measured on the machine of docs/performance.md. Another machine differs, mostly by one factor for all. */
interface CpuFacts {
  /** `serve`, for a cached list. */
  readonly list: number;
  /** Redis, for a list. */
  readonly redisDecision: number;
  /** PostgreSQL. */
  readonly pageRead: number;
  readonly keyRead: number;
  readonly look: number;
  readonly write: number;
}

const source = (file: string) => readFileSync(new URL(`../service/src/${file}`, import.meta.url), 'utf8');

/** The number that a file gives a name, as in `const name = 1_000`. */
function constant(file: string, name: string): number {
  const [, text] = new RegExp(`\\b${name} = ([\\d_ *]+)`).exec(source(file)) ?? [];
  if (text === undefined) throw new Error(`${file} has no constant ${name}`);
  return text
    .replaceAll('_', '')
    .split('*')
    .reduce((product, factor) => product * Number(factor), 1);
}

export const readFacts = (): Facts => ({
  pageAgeMs: constant('store/list-cache/page-cache.ts', 'pageAgeMaxMs'),
  invalidates: 'changed pages',
  replacementsPerWrite: 1,
  keyTtlMs: constant('partners/clients/key-cache.ts', 'ttlSeconds') * 1_000,
  readsPerUncachedKey: 1,
  lookIntervalMs: constant('platform/db/change-watch.ts', 'lookIntervalMs'),
  furtherConnections: constant('platform/db/pool.ts', 'searchConnections') + 2,
  poolSize: Number(/POOL_SIZE: \{ fallback: '(\d+)'/.exec(source('platform/config.ts'))?.[1]),
  eventsPerWrite: 1.6,
  deliveriesOfWorker: 3_400,
  memory: {
    key: constant('partners/clients/key-cache.ts', 'entryBytes'),
    keysMax: Math.floor(constant('partners/clients/key-cache.ts', 'bytesMax') / constant('partners/clients/key-cache.ts', 'entryBytes')),
    page: 3_000 + constant('store/list-cache/page-cache.ts', 'entryBytes'),
    pagesMax: constant('store/list-cache/page-cache.ts', 'pagesMax'),
    client: 240,
    clientsMax: constant('partners/rate-limit/local-limiter.ts', 'subjectsMax'),
    clientInRedis: 360,
  },
  cpuUs: { list: 60, redisDecision: 25, pageRead: 150, keyRead: 80, look: 60, write: 400 },
});
