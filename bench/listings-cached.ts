// Cached pages of listings beside cached pages of animals, from the same process: npm run bench -- listings-cached [--seconds N] [--rounds N] [--json]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { HttpClient } from '../testkit/http.ts';
import { fillListings } from '../testkit/listings-fill.ts';
import { quantile } from '../testkit/quantile.ts';
import { Store } from '../testkit/store.ts';
import { type Page, writeRequests } from './mix.ts';
import { requireTools } from './requirements.ts';
import { describeLost, type Measure, runRounds, type Sample } from './rounds.ts';
import { type BenchKey, insertKeys } from './seed.ts';
import { runWrk } from './wrk.ts';

const animals = 10_000;
const categories = Array.from({ length: 20 }, (_, i) => i + 1);
const ratioMin = 0.9;
/** The pages of listings that are compared with pages of animals: as many animals on each, or about as many bytes. */
const comparisons = [
  { name: 'with 20 animals each', pets: 20, listings: 20 },
  { name: 'with about as many bytes', pets: 100, listings: 'bytes' },
] as const;

interface Result {
  readonly name: string;
  readonly ratios: readonly number[];
  readonly pets: readonly Sample[];
  readonly listings: readonly Sample[];
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { seconds: { type: 'string', default: '4' }, rounds: { type: 'string', default: '7' }, json: { type: 'boolean' } },
  });
  const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)];
  if (![seconds, rounds].every((value) => Number.isSafeInteger(value) && value > 0)) {
    console.error('Usage: npm run bench -- listings-cached [--seconds 4] [--rounds 7] [--json]');
    return 2;
  }
  requireTools();
  await using store = await Store.open({ processes: 0, env: { NODE_ENV: 'production', LOG_LEVEL: 'warn' } });
  await fillListings(store.postgres.url, animals);
  const keys = await insertKeys(store.postgres.url);
  const { url } = await store.serve();
  const results = await compareAll(new URL(url).origin, keys, { seconds, rounds });
  return report(results, { seconds, rounds, asJson: values.json ?? false });
}

async function compareAll(origin: string, keys: readonly BenchKey[], options: { seconds: number; rounds: number }): Promise<Result[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'homeward-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const key = keys[0]?.key ?? '';
  const measures = new Map<string, Measure>();
  for (const { name, ...limits } of comparisons) {
    const pets = await readPages(origin, key, 'pets', limits.pets);
    const limit = limits.listings === 'bytes' ? await limitFor(origin, key, bytesOf(pets)) : limits.listings;
    const listings = await readPages(origin, key, 'listings', limit);
    for (const [list, pages] of Object.entries({ pets, listings })) {
      const file = path.join(folder, `${list} ${name}`);
      writeRequests(file, { keys, pages, load: 'list' });
      measures.set(`${list} ${name}`, (forSeconds) => runWrk(origin, file, forSeconds));
    }
  }
  const progress = (text: string) => void process.stderr.write(`${text}\n`);
  const { samples, lost } = await runRounds(measures, { ...options, progress });
  for (const turn of lost) console.log(describeLost(turn));
  return comparisons.map(({ name }) => {
    const [pets, listings] = [samples.get(`pets ${name}`) ?? [], samples.get(`listings ${name}`) ?? []];
    // Those of the same round, so that other load on the machine affects both.
    const ratios = listings.map(({ perSecond }, i) => perSecond / (pets[i]?.perSecond ?? Number.NaN));
    return { name, ratios, pets, listings };
  });
}

async function readPages(origin: string, key: string, list: 'pets' | 'listings', limit: number): Promise<Page[]> {
  using http = new HttpClient();
  return await Promise.all(
    categories.map(async (categoryId) => {
      const pagePath = `/v1/${list}?categoryId=${categoryId}&limit=${limit}`;
      const { status, headers, text } = await http.send(origin + pagePath, { key });
      if (status !== 200) throw new Error(`${pagePath} got ${status}: ${text}`);
      return { path: pagePath, body: text, etag: String(headers.etag) };
    }),
  );
}

/** How many listings have about so many bytes. */
async function limitFor(origin: string, key: string, bytes: number): Promise<number> {
  return Math.max(Math.round(bytes / (bytesOf(await readPages(origin, key, 'listings', 20)) / 20)), 1);
}

const bytesOf = (pages: readonly Page[]) => pages.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0) / pages.length;

function report(results: readonly Result[], { seconds, rounds, asJson }: { seconds: number; rounds: number; asJson: boolean }): number {
  const middle = (values: readonly number[]) => quantile(values, 0.5);
  const figures = results.map(({ name, ratios, pets, listings }) => ({
    name,
    ratio: middle(ratios),
    ratioMin: Math.min(...ratios),
    ratioMax: Math.max(...ratios),
    pets: { perSecond: middle(pets.map((one) => one.perSecond)), bytes: middle(pets.map((one) => one.bytesPerAnswer ?? 0)) },
    listings: { perSecond: middle(listings.map((one) => one.perSecond)), bytes: middle(listings.map((one) => one.bytesPerAnswer ?? 0)) },
  }));
  console.log(`Cached pages of listings and of animals in turns, ${rounds} rounds of ${seconds} s. Medians; bytes with headers.\n`);
  const of = ({ perSecond, bytes }: { perSecond: number; bytes: number }) =>
    `${Math.round(perSecond).toLocaleString('en')}/s of ${Math.round(bytes).toLocaleString('en')} bytes`;
  for (const one of figures) {
    console.log(`${one.name}: /listings ${of(one.listings)}, /pets ${of(one.pets)}`);
    const verdict = one.ratio >= ratioMin ? 'reached' : 'MISSED';
    const spread = `${one.ratioMin.toFixed(2)}–${one.ratioMax.toFixed(2)} in single rounds`;
    console.log(`  ${one.ratio.toFixed(2)} times as many (${spread}); ${ratioMin} is ${verdict}`);
  }
  const holds = figures.every(({ ratio }) => ratio >= ratioMin);
  if (asJson) console.log(JSON.stringify({ seconds, rounds, figures, holds }));
  return holds ? 0 : 1;
}

process.exitCode = await main();
