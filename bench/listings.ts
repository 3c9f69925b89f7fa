// The latency of searches in a store of ten thousand and of a million animals, without the page cache:
// npm run bench -- listings [--sizes 10000,1000000] [--samples N] [--json]
import { parseArgs } from 'node:util';
import pg from 'pg';
import { HttpClient } from '../testkit/http.ts';
import { fillListings } from '../testkit/listings-fill.ts';
import { quantile } from '../testkit/quantile.ts';
import { Store } from '../testkit/store.ts';

const sizesDefault = [10_000, 1_000_000];
const samplesDefault = 200;
const p50MsMax = 15;
const p99MsMax = 100;
const ratioMax = 2;
const warmUpRounds = 20;
const noLimits = { perMinute: 999_999_999, perDay: 999_999_999 };

const kinds = ['text', 'misspelt', 'text and filters', 'near', 'near and filters', 'three filters', 'rare filters', 'deep cursor'] as const;
type Kind = (typeof kinds)[number];

/** What searches ask for, drawn from the store. */
interface Sample {
  readonly name: string;
  readonly breed: string;
  readonly word: string;
  readonly near: string;
  readonly id: bigint;
}

interface Target {
  readonly animals: number;
  readonly url: string;
  readonly key: string;
  readonly samples: readonly Sample[];
  /** The end of a cursor for the search of `deep cursor`. */
  readonly mark: string;
  readonly timesMs: Record<Kind, number[]>;
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { sizes: { type: 'string' }, samples: { type: 'string' }, json: { type: 'boolean' } } });
  const sizes = values.sizes?.split(',').map(Number) ?? sizesDefault;
  const rounds = Number(values.samples ?? samplesDefault);
  if (![...sizes, rounds].every((value) => Number.isSafeInteger(value) && value > 0)) {
    console.error('Usage: npm run bench -- listings [--sizes 10000,1000000] [--samples 200] [--json]');
    return 2;
  }
  const targets = await measure(
    [...sizes].sort((a, b) => a - b),
    rounds,
  );
  return report(targets, rounds, values.json ?? false) ? 0 : 1;
}

async function measure(sizes: readonly number[], rounds: number): Promise<Target[]> {
  const settings = { shared_buffers: '1GB', max_wal_size: '4GB', autovacuum: 'off', maintenance_work_mem: '256MB' };
  await using store = await Store.open({ processes: 0, settings, env: { HOMEWARD_PAGE_CACHE: 'off', LOG_LEVEL: 'warn' } });
  const { key } = await store.createKey('bench', noLimits);
  const targets: Target[] = [];
  for (const animals of sizes) {
    const databaseUrl = await copyDatabase(store.postgres.url, `animals_${animals}`);
    process.stderr.write(`Filling a store with ${count(animals)} animals.\n`);
    await fillListings(databaseUrl, animals);
    const { url } = await store.serve({ DATABASE_URL: databaseUrl });
    targets.push(await prepare(databaseUrl, { animals, url, key }));
  }
  process.stderr.write('Searching.\n');
  using http = new HttpClient(1);
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    for (const kind of kinds) {
      for (const target of targets) {
        const tookMs = await timeSearch(http, target, kind);
        if (round >= 0) target.timesMs[kind].push(tookMs);
      }
    }
  }
  return targets;
}

/** With the key, so that every store has it. */
async function copyDatabase(url: string, name: string): Promise<string> {
  await withClient(new URL('/template1', url).href, (client) => client.query(`create database ${name} template postgres`));
  return new URL(`/${name}`, url).href;
}

async function prepare(databaseUrl: string, target: Pick<Target, 'animals' | 'url' | 'key'>): Promise<Target> {
  const samples = await withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<Sample>(
      `select pets.id, pets.name, breed_primary as breed, split_part(profiles.description, ' ', 5) as word,
        round(latitude::numeric, 2) || ',' || round(longitude::numeric, 2) as near
        from pets join profiles on pet_id = pets.id join shelters on shelters.id = pets.shelter_id
        where latitude is not null and pets.id % greatest($1::bigint / 500, 1) = 0`,
      [target.animals],
    );
    return rows;
  });
  using http = new HttpClient(1);
  const { headers } = await http.send(`${target.url}/listings?${deepQuery}`, { key: target.key });
  const cursor = /cursor=([\w-]+)/.exec(String(headers['link']))?.[1] ?? '';
  const mark = Buffer.from(cursor, 'base64url').toString('latin1').split('.')[1] ?? '';
  return { ...target, samples, mark, timesMs: Object.fromEntries(kinds.map((kind) => [kind, []])) as unknown as Target['timesMs'] };
}

const deepQuery = 'sex=female&size=small';

function pathOf(kind: Kind, target: Target): string {
  const sample = drawOne(target.samples);
  const one = { name: sample.name, breed: sample.breed, word: sample.word };
  switch (kind) {
    case 'text':
      return `q=${drawOne(Object.values(one))}`;
    case 'misspelt':
      return `q=${misspell(drawOne([sample.name, sample.breed]))}`;
    case 'text and filters':
      return `q=${sample.breed}&status=available&sex=female`;
    case 'near':
      return `near=${sample.near}&withinKm=${drawOne([20, 100, 500])}&status=available`;
    case 'near and filters':
      return `near=${sample.near}&status=available&breed=${sample.breed}&goodWith=children`;
    case 'three filters':
      return `status=available&size=${drawOne(['small', 'large'])}&goodWith=cats&age=${drawOne(['baby', 'young', 'adult', 'senior'])}`;
    case 'rare filters':
      return `breed=${sample.breed}&size=large&coat=wire&goodWith=cats&goodWith=dogs&goodWith=children`;
    case 'deep cursor':
      return `${deepQuery}&cursor=${Buffer.from(`${sample.id}.${target.mark}`).toString('base64url')}`;
  }
}

/** Replaces a letter in the middle. */
const misspell = (word: string) => `${word.slice(0, 3)}k${word.slice(4)}`;

async function timeSearch(http: HttpClient, target: Target, kind: Kind): Promise<number> {
  const path = `/listings?${pathOf(kind, target)}`;
  const startMs = performance.now();
  const { status, text } = await http.send(target.url + path, { key: target.key });
  const tookMs = performance.now() - startMs;
  if (status !== 200) throw new Error(`${path} got ${status} ${text}`);
  return tookMs;
}

function report(targets: readonly Target[], rounds: number, asJson: boolean): boolean {
  const figures = targets.map(({ animals, timesMs }) => ({
    animals,
    all: latencyOf(kinds.flatMap((kind) => timesMs[kind])),
    kinds: Object.fromEntries(kinds.map((kind) => [kind, latencyOf(timesMs[kind])])),
  }));
  const [smallest, largest] = [figures[0], figures.at(-1)];
  if (!smallest || !largest) throw new Error('there must be a size');
  const ratio = largest.all.p50Ms / smallest.all.p50Ms;
  const holds = largest.all.p50Ms <= p50MsMax && largest.all.p99Ms <= p99MsMax && ratio <= ratioMax;
  console.log(`Median and 99th percentile in ms of ${rounds} searches of each kind, one at a time, the page cache off, pages of 20.\n`);
  console.log(`${''.padEnd(18)}${figures.map(({ animals }) => count(animals).padStart(18)).join('')}`);
  for (const kind of kinds) console.log(`${kind.padEnd(18)}${figures.map((one) => text(one.kinds[kind]).padStart(18)).join('')}`);
  console.log(`${'all'.padEnd(18)}${figures.map((one) => text(one.all).padStart(18)).join('')}`);
  console.log(
    `\nAt ${count(largest.animals)} animals the median may be ${p50MsMax} ms, the 99th percentile ${p99MsMax} ms, and the median ${ratioMax} times that at ${count(smallest.animals)}: it is ${ratio.toFixed(2)} times. ${holds ? 'All hold.' : 'BROKEN'}`,
  );
  if (asJson) console.log(JSON.stringify({ rounds, figures, ratio, holds }));
  return holds;
}

interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const latencyOf = (timesMs: readonly number[]): Latency => ({ p50Ms: quantile(timesMs, 0.5), p99Ms: quantile(timesMs, 0.99) });
const text = (latency: Latency | undefined) => (latency ? `${latency.p50Ms.toFixed(2)} / ${latency.p99Ms.toFixed(2)}` : '');
const count = (value: number) => value.toLocaleString('en');

function drawOne<T>(values: readonly T[]): T {
  const value = values[Math.floor(Math.random() * values.length)];
  if (value === undefined) throw new Error('the list is empty');
  return value;
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

process.exitCode = await main();
