// Predicts what a load costs. Pure: the load and the facts in, rates and sizes out.
//
// Requests and writes arrive at random (as a Poisson process), spread evenly over keys, pages and processes. Real requests prefer
// some keys and pages, of which more is then found in the cache.
import { type Facts, type Kind, type Part, parts } from './capacity-facts.ts';

export interface Load {
  /** Changes of animals a second. */
  readonly writes: number;
  /** Applications that are submitted a second. Of these the model says what is stored. */
  readonly applications: number;
  /** Photos that are added, a second. */
  readonly photos: number;
  /** Pictures that are requested a second, behind a cache that has most of them. */
  readonly pictures: number;
  readonly clients: number;
  readonly keys: number;
  /** Lists and searches a second. */
  readonly requests: number;
  /** The share of these that search listings. */
  readonly searches: number;
  /** Different pages of lists that are requested. */
  readonly pages: number;
  /** The share of these pages that a write changes. */
  readonly touched: number;
  /** Different searches that are requested. */
  readonly searched: number;
  /** The share of these that a write or a photo changes. */
  readonly searchTouched: number;
  readonly shelters: number;
  /** Each wants the events of one shelter. */
  readonly endpoints: number;
  /** Endpoints that want every event. */
  readonly unfiltered: number;
  readonly processes: number;
}

export interface Prediction {
  /** How often each kind of work is done, a second. */
  readonly rates: Readonly<Record<Kind, number>>;
  /** The parts of lists and of searches that are not found in the cache. */
  readonly missShare: number;
  readonly searchMissShare: number;
  /** Replacements of the catalogue's token, a second. */
  readonly replacements: number;
  /** Workers that the deliveries need. */
  readonly workers: number;
  /** Cores that are busy, by the measured costs. */
  readonly cores: Readonly<Record<Part, number>>;
  /** The share of their time in which the connections for searches are busy. */
  readonly searchSlots: number;
  /** Of `serve`, and of all workers. Consoles and commands have more. */
  readonly connections: { readonly serve: number; readonly workers: number };
  /** Bytes of the caches of one process, and of Redis. */
  readonly bytes: { readonly keys: number; readonly pages: number; readonly clients: number; readonly redis: number };
  /** Bytes in PostgreSQL and of files: by a year, and of usage as long as it is kept. `peak` times less is done on average. */
  readonly stored: {
    readonly historyRows: number;
    readonly history: number;
    readonly applications: number;
    readonly answers: number;
    readonly photos: number;
    readonly usage: number;
  };
}

/** The world's peak is so many times its average. */
const peak = 5;
const yearSeconds = 365 * 86_400;

export function predict(load: Load, facts: Facts): Prediction {
  const { writes, applications, photos, clients, keys, requests, pages, searched, processes } = load;
  const searches = requests * load.searches;
  const lists = requests - searches;
  const { pageAgeMs: ageMs, memory } = facts;
  const missShare = Math.max(
    missShareOf(lists / (pages * processes), { writes: writesToPage(load, facts), ageMs }),
    evictedShare(pages, memory.pagesMax),
  );
  const searchMissShare = Math.max(
    missShareOf(searches / (searched * processes), { writes: (writes + photos) * load.searchTouched, ageMs }),
    evictedShare(searched, memory.pagesMax),
  );
  const replacements = writes * facts.replacementsPerWrite;
  const rates = {
    list: lists * (1 - missShare) + searches * (1 - searchMissShare),
    miss: lists * missShare,
    search: searches * searchMissShare,
    create: writes,
    delivery: writes * facts.eventsPerWrite * wantedBy(load),
    photo: photos,
    picture: load.pictures,
    usageRow: usageRows(load, facts),
    keyRead: keyReads(load, facts),
    look: processes * Math.min(1_000 / facts.lookIntervalMs, requests / processes),
    logRead: processes * Math.min(replacements, requests / processes),
  };
  const workers = Math.max(Math.ceil(rates.delivery / facts.deliveriesOfWorker), 1);
  const pictureWorkers = Math.ceil((rates.photo * (facts.cpuUs.photo.worker ?? 0)) / 1e6 / facts.imagesOfWorker);
  return {
    rates,
    missShare,
    searchMissShare,
    replacements,
    workers,
    cores: coresOf(rates, facts),
    searchSlots: (rates.search * searchSecondsOf(facts)) / (processes * facts.searchConnections),
    connections: {
      serve: processes * (facts.poolSize + facts.furtherConnections),
      workers: (workers + pictureWorkers) * (facts.poolSize / 2 + facts.furtherWorkerConnections),
    },
    bytes: {
      keys: Math.min(keys, memory.keysMax) * memory.key,
      pages: Math.min(pages + searched, memory.pagesMax) * memory.page,
      clients: Math.min(clients, memory.clientsMax) * memory.client,
      redis: clients * memory.clientInRedis,
    },
    stored: {
      historyRows: (writes * facts.historyRowsPerWrite * yearSeconds) / peak,
      history: (writes * facts.historyRowsPerWrite * yearSeconds * memory.historyRow) / peak,
      applications: (applications * yearSeconds * memory.application) / peak,
      answers: (applications * facts.answersDays * 86_400 * memory.answers) / peak,
      photos: (photos * yearSeconds * memory.photo) / peak,
      usage: keys * 24 * facts.usageDays * memory.usageHour,
    },
  };
}

function coresOf(rates: Readonly<Record<Kind, number>>, { cpuUs }: Facts): Record<Part, number> {
  const busy = (part: Part) => (Object.keys(rates) as Kind[]).reduce((us, kind) => us + rates[kind] * (cpuUs[kind][part] ?? 0), 0);
  return Object.fromEntries(parts.map((part) => [part, busy(part) / 1e6])) as Record<Part, number>;
}

/** The time that a search has a connection for: PostgreSQL's, and that of the process for what it has found. */
const searchSecondsOf = ({ cpuUs: { search } }: Facts) => ((search.serve ?? 0) + (search.postgres ?? 0)) / 1e6;

/** Endpoints that want an event. Each of the others wants another shelter's. */
const wantedBy = ({ endpoints, unfiltered, shelters }: Load) =>
  Math.min(unfiltered, endpoints) + Math.max(endpoints - unfiltered, 0) / shelters;

/** One for each key that a process has seen since it wrote the last ones. */
function usageRows({ keys, processes, requests, writes }: Load, { usageIntervalMs }: Facts): number {
  const seconds = usageIntervalMs / 1_000;
  const uses = (requests + writes) / (keys * processes);
  return (keys * processes * -Math.expm1(-uses * seconds)) / seconds;
}

function keyReads({ keys, processes, requests, writes }: Load, facts: Facts): number {
  const uses = (requests + writes) / (keys * processes);
  return keys * processes * Math.max(keyReadRate(uses, facts), uses * evictedShare(keys, facts.memory.keysMax));
}

/** What a store whose processes have just started reads in its first `seconds`. */
export function predictRun(load: Load, facts: Facts, seconds: number): { pageReads: number; keyReads: number; replacements: number } {
  const { rates, replacements } = predict(load, facts);
  const { keys, processes, requests, writes } = load;
  const perKey = firstReads((requests + writes) / (keys * processes), { seconds, ttlSeconds: facts.keyTtlMs / 1_000 });
  return {
    pageReads: rates.miss * seconds,
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
