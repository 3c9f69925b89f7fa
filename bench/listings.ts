// The latency of searches in a store of ten thousand and of a million animals, without the page cache:
// npm run bench -- listings [--sizes 10000,1000000] [--words 24,150,400] [--changes N] [--samples N] [--json]
import { parseArgs } from 'node:util';
import { HttpClient } from '../testkit/http.ts';
import { drawSamples, mixed, type SearchTarget, timeSearch, worst } from '../testkit/listing-searches.ts';
import { fillListings } from '../testkit/listings-fill.ts';
import { connectTo, queryAt } from '../testkit/postgres.ts';
import { quantile } from '../testkit/quantile.ts';
import { Store } from '../testkit/store.ts';

const sizesDefault = [10_000, 1_000_000];
const samplesDefault = 200;
const p50MsMax = 15;
const p99MsMax = 100;
const worstP99MsMax = 300;
const ratioMax = 2;
const warmUpRounds = 20;
/** The worst searches are made once in so many rounds. */
const worstEvery = 4;
const noLimits = { perMinute: 999_999_999, perDay: 999_999_999 };
const progressMs = 10_000;
const changesMax = 500;
/** After which a search is 503. */
const searchMsMax = 1_000;

interface Target extends SearchTarget {
  readonly animals: number;
  readonly databaseUrl: string;
  readonly timesMs: Map<string, number[]>;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      sizes: { type: 'string' },
      words: { type: 'string', default: '24' },
      changes: { type: 'string', default: '0' },
      samples: { type: 'string' },
      json: { type: 'boolean' },
    },
  });
  const sizes = values.sizes?.split(',').map(Number) ?? sizesDefault;
  const lengths = values.words.split(',').map(Number);
  const rounds = Number(values.samples ?? samplesDefault);
  const changes = Number(values.changes);
  const isValid = [...sizes, ...lengths, rounds].every((value) => Number.isSafeInteger(value) && value > 0);
  if (!isValid || !(changes >= 0 && changes <= changesMax)) {
    console.error(`Usage: npm run bench -- listings [--sizes 10000,1000000] [--words 24] [--changes 0] [--samples 200] [--json]

  --sizes N,…   animals of the stores that take turns
  --words N,…   words of descriptions; the stores are made once for each length
  --changes N   changes of the status of animals in a second, beside the searches, ${changesMax} at most`);
    return 2;
  }
  let holds = true;
  for (const words of lengths) {
    const targets = await measure(
      [...sizes].sort((a, b) => a - b),
      { rounds, words, changes },
    );
    holds = report(targets, { rounds, words, changes, asJson: values.json ?? false }) && holds;
  }
  return holds ? 0 : 1;
}

interface Options {
  readonly rounds: number;
  readonly words: number;
  readonly changes: number;
}

async function measure(sizes: readonly number[], { rounds, words, changes }: Options): Promise<Target[]> {
  // Nothing else writes without changes. With them, dead rows are a part of what is measured, and so is their vacuum.
  const autovacuum = changes > 0 ? 'on' : 'off';
  const settings = { shared_buffers: '2GB', max_wal_size: '8GB', wal_level: 'minimal', max_wal_senders: '0', autovacuum };
  await using store = await Store.open({ processes: 0, settings, env: { HOMEWARD_PAGE_CACHE: 'off', LOG_LEVEL: 'warn' } });
  const { key } = await store.createKey('bench', noLimits);
  const targets: Target[] = [];
  for (const animals of sizes) {
    const databaseUrl = await copyDatabase(store.postgres.url, `animals_${animals}`);
    const progress = (step: string) => say(`Filling a store with ${count(animals)} animals of ${words} words: ${step}`);
    await fillListings(databaseUrl, animals, { words: [words, words], progress });
    const { url } = await store.serve({ DATABASE_URL: databaseUrl });
    targets.push({ animals, databaseUrl, url, key, samples: await drawSamples(databaseUrl, animals), timesMs: new Map() });
  }
  let round = -warmUpRounds;
  const ticker = setInterval(() => say(`Searching: round ${round} of ${rounds}`), progressMs);
  await using changing = new AsyncDisposableStack();
  for (const target of targets) if (changes > 0) changing.use(await changeStatuses(target, changes));
  using http = new HttpClient(1);
  for (; round < rounds; round += 1) {
    const queries = Object.entries({ ...mixed, ...(round % worstEvery === 0 ? worst : {}) });
    for (const [kind, queryOf] of queries) {
      for (const target of targets) {
        const tookMs = await timeSearch(http, target, queryOf(target.samples));
        if (tookMs === undefined) say(`503 in round ${round}, of ${count(target.animals)} animals: ${kind}`);
        // What is read for the first time may take longer than a search may. Later, it counts as what it may take.
        if (round >= 0) target.timesMs.set(kind, [...(target.timesMs.get(kind) ?? []), tookMs ?? searchMsMax]);
      }
    }
  }
  clearInterval(ticker);
  return targets;
}

/** Changes the status of animals all over the store, so many in a second, until it is disposed of. */
async function changeStatuses({ databaseUrl, animals }: Target, perSecond: number): Promise<AsyncDisposable> {
  const client = await connectTo(databaseUrl);
  let last = Promise.resolve();
  let changed = 0;
  const change = async () => {
    changed += 1;
    const id = 1 + ((changed * 7_919) % animals);
    await client.query(
      `update pets set status = (case status when 'available' then 'pending' else 'available' end)::pet_status where id = $1`,
      [id],
    );
  };
  const ticker = setInterval(() => {
    last = last.then(change);
  }, 1_000 / perSecond);
  return {
    [Symbol.asyncDispose]: async () => {
      clearInterval(ticker);
      await last;
      await client.end();
      say(`${count(changed)} changes of the status in a store of ${count(animals)} animals`);
    },
  };
}

/** With the key, so that every store has it. */
async function copyDatabase(url: string, name: string): Promise<string> {
  await queryAt(new URL('/template1', url).href, `create database ${name} template postgres`);
  return new URL(`/${name}`, url).href;
}

function report(targets: readonly Target[], { rounds, words, changes, asJson }: Options & { readonly asJson: boolean }): boolean {
  const figures = targets.map(({ animals, timesMs }) => {
    const of = (kinds: object) => latencyOf(Object.keys(kinds).flatMap((kind) => timesMs.get(kind) ?? []));
    const kinds = Object.fromEntries([...timesMs].map(([kind, times]) => [kind, latencyOf(times)]));
    return { animals, all: of(mixed), worst: of(worst), kinds };
  });
  const [smallest, largest] = [figures[0], figures.at(-1)];
  if (!smallest || !largest) throw new Error('there must be a size');
  const ratio = largest.all.p50Ms / smallest.all.p50Ms;
  const slowest = Math.max(...Object.keys(worst).map((kind) => largest.kinds[kind]?.p99Ms ?? Number.NaN));
  const holds = largest.all.p50Ms <= p50MsMax && largest.all.p99Ms <= p99MsMax && ratio <= ratioMax && slowest <= worstP99MsMax;
  const row = (name: string, of: (figure: (typeof figures)[number]) => Latency | undefined) =>
    console.log(`${name.padEnd(32)}${figures.map((figure) => text(of(figure)).padStart(18)).join('')}`);
  console.log(`Median and 99th percentile in ms of ${rounds} searches of each kind, one at a time, the page cache off, pages of 20.`);
  console.log(`Descriptions of ${words} words, ${changes} changes of the status a second.\n`);
  console.log(`${''.padEnd(32)}${figures.map(({ animals }) => count(animals).padStart(18)).join('')}`);
  for (const kind of Object.keys(mixed)) row(kind, ({ kinds }) => kinds[kind]);
  row('all of these', ({ all }) => all);
  console.log(`\nChosen to be slow, ${Math.ceil(rounds / worstEvery)} of each kind:\n`);
  for (const kind of Object.keys(worst)) row(kind, ({ kinds }) => kinds[kind]);
  console.log(
    `\nAt ${count(largest.animals)} animals the median may be ${p50MsMax} ms, the 99th percentile ${p99MsMax} ms, the median ${ratioMax} times that at ${count(smallest.animals)} (it is ${ratio.toFixed(2)} times), and the 99th percentile of a slow kind ${worstP99MsMax} ms (it is ${slowest.toFixed(0)} ms). ${holds ? 'All hold.' : 'BROKEN'}`,
  );
  if (asJson) console.log(JSON.stringify({ rounds, words, changes, figures, ratio, slowest, holds }));
  return holds;
}

interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const latencyOf = (timesMs: readonly number[]): Latency => ({ p50Ms: quantile(timesMs, 0.5), p99Ms: quantile(timesMs, 0.99) });
const text = (latency: Latency | undefined) => (latency ? `${latency.p50Ms.toFixed(2)} / ${latency.p99Ms.toFixed(2)}` : '');
const count = (value: number) => value.toLocaleString('en');
const say = (sentence: string) => void process.stderr.write(`${sentence}\n`);

process.exitCode = await main();
