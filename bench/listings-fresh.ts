// Searches beside changes of profiles and photos, before and now: what share of them is served from the cache, and what the others cost.
// npm run bench -- listings-fresh [--base REVISION] [--animals N] [--seconds N] [--reads N] [--rounds N] [--json]
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { HttpClient } from '../testkit/http.ts';
import { drawSamples, mixed, type Samples, type SearchTarget, timeSearch } from '../testkit/listing-searches.ts';
import { fillListings } from '../testkit/listings-fill.ts';
import { queryAt } from '../testkit/postgres.ts';
import { cpuMs, treeCpuMs } from '../testkit/process-cpu.ts';
import { quantile } from '../testkit/quantile.ts';
import { checkOut, commitOf, ownRoot } from '../testkit/revision-checkout.ts';
import { Store } from '../testkit/store.ts';
import { type Program, startProgram } from './program.ts';
import { type BenchKey, insertKeys } from './seed.ts';

const writesPerSecond = 50;
const shareMin = 0.6;
const missRatioMax = 0.5;
const readers = 8;
/** So many that a slow one does not reduce the rate. */
const writers = 32;
const warmUpSeconds = 5;
const warmUpRounds = 3;
/** Of each kind, in a round. */
const searchesOfKind = 5;
/** The animals whose photos are changed, and the descriptions that profiles are changed to: those of others. */
const photosCount = 5_000;
const descriptionsCount = 1_000;
const searchesMade = `select coalesce(sum(calls), 0)::int as count from pg_stat_statements
  where query like 'begin isolation level repeatable read read only%'`;

const kinds = Object.values(mixed);
/** Of each kind, that many clients ask for. */
const popularOfKind = 4;

const phases = [
  ['before', writesPerSecond],
  ['now', writesPerSecond],
  ['now', 0],
] as const;

interface Bench {
  readonly store: Store;
  readonly animals: number;
  readonly samples: Samples;
  readonly keys: readonly BenchKey[];
  readonly manager: string;
  readonly photos: ReadonlyArray<{ readonly id: string; readonly petId: string }>;
  readonly descriptions: readonly string[];
  serve(tree: Tree, env: Readonly<Record<string, string>>): Promise<Program>;
}

type Tree = 'before' | 'now';

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      base: { type: 'string', default: '8fc20e3' },
      animals: { type: 'string', default: '1000000' },
      seconds: { type: 'string', default: '60' },
      reads: { type: 'string', default: '40' },
      rounds: { type: 'string', default: '10' },
      json: { type: 'boolean' },
    },
  });
  const [animals, seconds, reads, rounds] = [values.animals, values.seconds, values.reads, values.rounds].map(Number) as [
    number,
    number,
    number,
    number,
  ];
  if (![animals, seconds, reads, rounds].every((value) => Number.isSafeInteger(value) && value > 0)) {
    console.error(
      'Usage: npm run bench -- listings-fresh [--base 8fc20e3] [--animals 1000000] [--seconds 60] [--reads 40] [--rounds 10] [--json]',
    );
    return 2;
  }
  using checkout = checkOut(values.base);
  await using resources = new AsyncDisposableStack();
  const bench = await open(resources, animals, checkout.root);
  const misses = await compareMisses(bench, rounds);
  const shares = [];
  const popular = kinds.flatMap((queryOf) => Array.from({ length: popularOfKind }, () => queryOf(bench.samples)));
  for (const [tree, writes] of phases) {
    shares.push(await measureShare(bench, tree, { writes, reads, seconds, draw: () => drawOne(kinds)(bench.samples), isPopular: false }));
    shares.push(await measureShare(bench, tree, { writes, reads, seconds, draw: () => drawOne(popular), isPopular: true }));
  }
  return report({ base: commitOf(values.base), animals, seconds, rounds, misses, shares }, values.json ?? false);
}

async function open(resources: AsyncDisposableStack, animals: number, baseRoot: string): Promise<Bench> {
  const settings = {
    shared_buffers: '2GB',
    max_wal_size: '8GB',
    wal_level: 'minimal',
    max_wal_senders: '0',
    shared_preload_libraries: 'pg_stat_statements',
  };
  const store = resources.use(await Store.open({ processes: 0, settings }));
  const { url } = store.postgres;
  await queryAt(url, 'create extension pg_stat_statements');
  await fillListings(url, animals, { progress: (step) => say(`Filling a store with ${count(animals)} animals: ${step}`) });
  const [manager] = await insertKeys(url, { clients: 1, perClient: 1, named: 'manager', scopes: ['pets:read', 'store:manage'] });
  const photos = await queryAt<{ id: string; petId: string }>(
    url,
    `insert into photos (pet_id, client_id, position, alt, original_hash, original_name, status, width, height, placeholder, files)
      select 1 + (n * 7919 % $1::bigint), (select min(id) from clients), 0, 'A photo', lpad(n::text, 64, '0'), 'originals/1', 'ready', 320, 240, 'x', '[]'
      from generate_series(1, $2::int) n returning id::text, pet_id::text as "petId"`,
    [animals, Math.min(photosCount, animals)],
  );
  const texts = await queryAt<{ description: string }>(url, `select description from profiles limit ${descriptionsCount}`);
  const roots = { before: baseRoot, now: ownRoot };
  return {
    store,
    animals,
    photos,
    samples: await drawSamples(url, animals),
    keys: await insertKeys(url, { clients: readers, perClient: 1 }),
    manager: manager?.key ?? '',
    descriptions: texts.map(({ description }) => description),
    serve: async (tree, env) => {
      const servers = { DATABASE_URL: url, REDIS_URL: store.redis.url, HOST: '127.0.0.1', HOMEWARD_DRAIN_MS: '0', LOG_LEVEL: 'warn' };
      const main = path.join(roots[tree], 'service/src/main.ts');
      return startProgram([main, 'serve'], { ...process.env, NODE_ENV: 'production', ...servers, ...env });
    },
  };
}

interface Miss {
  readonly processMs: number;
  readonly postgresMs: number;
}

/** What a search costs that is not cached, in alternating rounds. */
async function compareMisses(bench: Bench, rounds: number): Promise<Record<Tree, Miss[]>> {
  await using processes = new AsyncDisposableStack();
  const programs = new Map<Tree, Program>();
  for (const tree of ['before', 'now'] as const) programs.set(tree, processes.use(await bench.serve(tree, { HOMEWARD_PAGE_CACHE: 'off' })));
  const costs: Record<Tree, Miss[]> = { before: [], now: [] };
  using http = new HttpClient(1);
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    say(`Searches that are not cached: round ${round + 1} of ${rounds}`);
    for (const [tree, { origin, pid }] of programs) {
      const before = [cpuMs(pid), treeCpuMs(bench.store.postgres.pid)] as const;
      const target = { url: `${origin}/v1`, key: bench.keys[0]?.key ?? '', samples: bench.samples };
      let searches = 0;
      for (const queryOf of kinds) {
        for (let i = 0; i < searchesOfKind; i += 1, searches += 1) await timeSearch(http, target, queryOf(bench.samples));
      }
      const [processMs, postgresMs] = [cpuMs(pid) - before[0], treeCpuMs(bench.store.postgres.pid) - before[1]];
      if (round >= 0) costs[tree].push({ processMs: processMs / searches, postgresMs: postgresMs / searches });
    }
  }
  return costs;
}

interface Load {
  readonly writes: number;
  readonly reads: number;
  readonly seconds: number;
  /** A search. */
  draw(): string;
  /** It is one of a few. */
  readonly isPopular: boolean;
}

interface Share {
  readonly tree: Tree;
  readonly isPopular: boolean;
  readonly writes: number;
  readonly reads: number;
  readonly cached: number;
  readonly written: number;
}

async function measureShare(bench: Bench, tree: Tree, { writes, reads, seconds, draw, isPopular }: Load): Promise<Share> {
  say(`Searches of the process ${tree}, beside ${writes} changes a second`);
  await using program = await bench.serve(tree, {});
  const url = `${program.origin}/v1`;
  using http = new HttpClient(readers + writers);
  const run = { endsAtMs: performance.now() + (warmUpSeconds + seconds) * 1_000, reads: 0, written: 0 };
  const everyone = [
    ...bench.keys.map(({ key }) => paced(run, reads / readers, () => search(http, { url, key, samples: bench.samples }, draw(), run))),
    ...(writes === 0 ? [] : Array.from({ length: writers }, () => paced(run, writes / writers, () => change(http, url, bench, run)))),
  ];
  await sleep(warmUpSeconds * 1_000);
  const [searchesBefore, before] = [await searchesOf(bench), { ...run }];
  await Promise.all(everyone);
  const made = run.reads - before.reads;
  const cached = made - ((await searchesOf(bench)) - searchesBefore);
  return { tree, isPopular, writes, reads: made, cached, written: (run.written - before.written) / seconds };
}

/** One after the other, so many a second, as Poisson would have it. */
async function paced(run: { endsAtMs: number }, perSecond: number, send: () => Promise<void>): Promise<void> {
  for (let dueMs = performance.now(); dueMs < run.endsAtMs; ) {
    dueMs -= (Math.log(1 - Math.random()) * 1_000) / perSecond;
    await sleep(Math.max(Math.min(dueMs, run.endsAtMs) - performance.now(), 0));
    if (performance.now() < run.endsAtMs) await send();
  }
}

async function search(http: HttpClient, target: SearchTarget, query: string, run: { reads: number }): Promise<void> {
  if ((await timeSearch(http, target, query)) !== undefined) run.reads += 1;
}

/** A profile gets the description of another animal, and a photo another text. */
async function change(http: HttpClient, url: string, { manager, ...bench }: Bench, run: { written: number }): Promise<void> {
  run.written += 1;
  const photo = drawOne(bench.photos);
  const [to, body] =
    run.written % 2 === 0
      ? [`/pets/${1 + Math.floor(Math.random() * bench.animals)}/profile`, { description: drawOne(bench.descriptions) }]
      : [`/pets/${photo.petId}/photos/${photo.id}`, { alt: `A photo ${run.written}` }];
  const { status, text } = await http.send(url + to, { method: 'PATCH', key: manager, body });
  // Cores that do other work too may let it wait for its turn for too long. The report has how many were written.
  if (status === 503) run.written -= 1;
  else if (status !== 200) throw new Error(`PATCH ${to} got ${status}: ${text}`);
}

async function searchesOf({ store }: Bench): Promise<number> {
  const [row] = await queryAt<{ count: number }>(store.postgres.url, searchesMade);
  return row?.count ?? Number.NaN;
}

interface Result {
  readonly base: string;
  readonly animals: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly misses: Record<Tree, Miss[]>;
  readonly shares: readonly Share[];
}

function report({ base, animals, seconds, rounds, misses, shares }: Result, asJson: boolean): number {
  const middle = (tree: Tree, part: keyof Miss) =>
    quantile(
      misses[tree].map((one) => one[part]),
      0.5,
    );
  const sumOf = ({ processMs, postgresMs }: Miss) => processMs + postgresMs;
  // Those of the same round, so that other load on the machine affects both.
  const ratios = misses.now.map((one, i) => sumOf(one) / sumOf(misses.before[i] as Miss));
  const ratio = quantile(ratios, 0.5);
  const share = ({ cached, reads }: Share) => cached / reads;
  const figures = shares.map((one) => ({ ...one, share: share(one) }));
  const reached = figures.find(({ tree, writes, isPopular }) => tree === 'now' && writes > 0 && !isPopular)?.share ?? Number.NaN;
  console.log(`${count(animals)} animals; before is ${base}.\n`);
  console.log(`A search that is not cached, medians of ${rounds} rounds in turns, ms of CPU:`);
  for (const tree of ['before', 'now'] as const) {
    console.log(`  ${tree.padEnd(8)}process ${middle(tree, 'processMs').toFixed(2)}, PostgreSQL ${middle(tree, 'postgresMs').toFixed(2)}`);
  }
  const spread = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)} in single rounds`;
  console.log(`  ${ratio.toFixed(2)} times as much (${spread}); ${missRatioMax} is ${ratio <= missRatioMax ? 'reached' : 'MISSED'}\n`);
  console.log(`Searches that one process serves from its cache, in ${seconds} s each:`);
  for (const { tree, isPopular, writes, written, reads, cached, ...one } of figures) {
    const beside = writes === 0 ? 'beside no changes' : `beside ${written.toFixed(0)} changes a second`;
    const which = isPopular ? `one of ${popularOfKind * kinds.length}` : 'any';
    console.log(`  ${tree.padEnd(8)}${which.padEnd(12)}${beside}: ${one.share.toFixed(2)} (${count(cached)} of ${count(reads)})`);
  }
  console.log(`  Of any, ${shareMin} is ${reached >= shareMin ? 'reached' : 'MISSED'}`);
  const holds = reached >= shareMin || ratio <= missRatioMax;
  console.log(holds ? '\nOne of the two is enough.' : '\nNeither is reached.');
  if (asJson) console.log(JSON.stringify({ base, animals, seconds, rounds, misses, shares: figures, ratio, holds }));
  return holds ? 0 : 1;
}

function drawOne<T>(values: readonly T[]): T {
  return values[Math.floor(Math.random() * values.length)] as T;
}

const count = (value: number) => value.toLocaleString('en');
const say = (sentence: string) => void process.stderr.write(`${sentence}\n`);

process.exitCode = await main();
