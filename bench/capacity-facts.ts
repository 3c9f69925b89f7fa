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
  /** Connections of a worker in addition to half of `HOMEWARD_POOL_SIZE`: for the probe, and for a standby that is away. */
  readonly furtherWorkerConnections: number;
  readonly poolSize: number;
  /** With those of orders. */
  readonly eventsPerWrite: number;
  /** A second, as `npm run prove -- many-endpoints` has measured. */
  readonly deliveriesOfWorker: number;
  /** Images that a worker has decoded at once. */
  readonly imagesOfWorker: number;
  /** A process writes what its keys have used after so long. */
  readonly usageIntervalMs: number;
  readonly usageDays: number;
  /** From submission to erasure. */
  readonly answersDays: number;
  /** Searches that a process runs at once. */
  readonly searchConnections: number;
  /** The most workers that can share the endpoints. */
  readonly shards: number;
  readonly historyRowsPerWrite: number;
  readonly memory: MemoryFacts;
  readonly cpuUs: Costs;
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
  /** In PostgreSQL, with its indexes: a transition of an animal, and an hour of a key. */
  readonly historyRow: number;
  readonly usageHour: number;
  /** One that is erased, with its history; and what is erased, most of it twelve questions with their answers. */
  readonly application: number;
  readonly answers: number;
  /** The files of a photo. */
  readonly photo: number;
}

/** Which processes the CPU time is spent in. `worker` with the processes that make pictures. */
export const parts = ['serve', 'worker', 'postgres', 'redis'] as const;
export type Part = (typeof parts)[number];

/** What is done. Of those that are measured, `npm run bench -- capacity` compares the cost with a measurement. */
export const kinds = {
  list: 'list from the cache',
  miss: 'list from PostgreSQL',
  search: 'search, from PostgreSQL',
  create: 'animal added, its event published',
  delivery: 'delivery to an endpoint',
  photo: 'photo of 12 megapixels, received and processed',
  picture: 'picture sent',
  usageRow: 'requests of a key in 5 s, counted',
  keyRead: 'key read',
  look: 'look for changes',
  logRead: 'changes of animals read by a process',
} as const;
export type Kind = keyof typeof kinds;

/** CPU time in µs, measured on the machine of docs/performance.md. Another machine differs, mostly by one factor for all. */
type Costs = Readonly<Record<Kind, Readonly<Partial<Record<Part, number>>>>>;

/** The CPU time that the machine of these figures took for the work by which the speed of another is compared, in ms. */
export const referenceMs = 20;

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
  pageAgeMs: constant('animals/list-cache/page-cache.ts', 'pageAgeMaxMs'),
  invalidates: 'changed pages',
  replacementsPerWrite: 1,
  keyTtlMs: constant('access/clients/key-finder.ts', 'ttlSeconds') * 1_000,
  readsPerUncachedKey: 1,
  lookIntervalMs: constant('platform/db/change-watch.ts', 'lookIntervalMs'),
  furtherConnections: constant('platform/db/pool.ts', 'searchConnections') + 2,
  furtherWorkerConnections: 2,
  poolSize: Number(/POOL_SIZE: \{ fallback: '(\d+)'/.exec(source('platform/config.ts'))?.[1]),
  eventsPerWrite: 1.6,
  deliveriesOfWorker: 3_400,
  imagesOfWorker: constant('images/images-server.ts', 'decodesMax'),
  usageIntervalMs: constant('access/usage/usage-tally.ts', 'intervalMs'),
  usageDays: constant('access/usage/usage.ts', 'retentionDays'),
  // Two weeks until the decision, and then those of HOMEWARD_ADOPTER_RETENTION.
  answersDays: 14 + Number(/ADOPTER_RETENTION: \{\s*fallback: '(\d+)'/.exec(source('platform/config.ts'))?.[1]),
  searchConnections: constant('platform/db/pool.ts', 'searchConnections'),
  shards: 256,
  historyRowsPerWrite: 1.9,
  memory: {
    key: constant('access/clients/key-finder.ts', 'entryBytes'),
    keysMax: Math.floor(constant('access/clients/key-finder.ts', 'bytesMax') / constant('access/clients/key-finder.ts', 'entryBytes')),
    page: 3_000 + constant('animals/list-cache/page-cache.ts', 'entryBytes'),
    pagesMax: constant('animals/list-cache/page-cache.ts', 'pagesMax'),
    client: 240,
    clientsMax: constant('access/rate-limit/local-limiter.ts', 'subjectsMax'),
    clientInRedis: 360,
    historyRow: 250,
    usageHour: 800,
    application: 700,
    answers: 2_400,
    photo: 600_000,
  },
  cpuUs: {
    list: { serve: 60, redis: 12 },
    miss: { serve: 295, postgres: 130, redis: 25 },
    search: { serve: 1_650, postgres: 3_060, redis: 90 },
    create: { serve: 580, worker: 130, postgres: 580, redis: 110 },
    delivery: { worker: 175, postgres: 70 },
    photo: { serve: 8_000, worker: 740_000, postgres: 20_000 },
    picture: { serve: 600 },
    usageRow: { postgres: 10 },
    keyRead: { serve: 100, postgres: 80 },
    look: { serve: 60, postgres: 60 },
    logRead: { serve: 60, redis: 15 },
  },
});
