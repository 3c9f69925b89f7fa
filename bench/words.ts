// How long searches with misspelt words take beside words that partners chose to make that slow and wrong, and whether they are right:
// npm run bench -- words [--words 3000000] [--clients 150] [--samples 500] [--shared] [--json]
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { Pool } from '../service/src/platform/db/pool.ts';
import { countWords, wordBounds } from '../service/src/search/listings/words.ts';
import { HttpClient } from '../testkit/http.ts';
import { connectTo } from '../testkit/postgres.ts';
import { quantile } from '../testkit/quantile.ts';
import { Store } from '../testkit/store.ts';
import { type BenchKey, insertKeys } from './seed.ts';

const p99MsMax = 60;
const honestWords = 4_000;
const honestAnimals = 500;
const wordsInSearch = 8;
const misspeltInSearch = 3;
/** As many as a name of 200 characters has room for. */
const hostileInName = 16;
const suffixesMax = 26 ** 3;
const warmUps = 50;
const progressMs = 10_000;

interface Options {
  readonly words: number;
  readonly clients: number;
  readonly samples: number;
  /** Each hostile word is used by two clients, so that it may correct others. */
  readonly isShared: boolean;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      words: { type: 'string', default: '3000000' },
      clients: { type: 'string', default: '150' },
      samples: { type: 'string', default: '500' },
      shared: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const [words = 0, clients = 0, samples = 0] = [values.words, values.clients, values.samples].map(Number);
  if (![words, clients, samples].every((count) => Number.isSafeInteger(count) && count > 0) || words > honestWords * suffixesMax) {
    console.error('Usage: npm run bench -- words [--words 3000000] [--clients 150] [--samples 500] [--shared] [--json]');
    return 2;
  }
  const figures = await measure({ words, clients, samples, isShared: values.shared });
  print(figures);
  if (values.json) console.log(JSON.stringify(figures));
  return figures.holds ? 0 : 1;
}

interface Figures extends Options {
  readonly stored: number;
  readonly megabytes: number;
  readonly countedSeconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of the same searches without misspelt words. */
  readonly exactP50Ms: number;
  readonly right: number;
  readonly holds: boolean;
}

async function measure(options: Options): Promise<Figures> {
  const settings = { shared_buffers: '1GB', max_wal_size: '8GB' };
  await using store = await Store.open({ processes: 1, settings, env: { HOMEWARD_PAGE_CACHE: 'off', LOG_LEVEL: 'warn' } });
  const { url } = store.postgres;
  await using client = await connectTo(url);
  const keys = await insertKeys(url, { clients: options.clients + 2, perClient: 1 });
  const names = honestNames();
  say(`Adding animals with ${count(options.words)} words`);
  const honestIds = await addHonest(client, names, keys.slice(0, 2));
  await addHostile(client, options, keys.slice(2));
  await announce(client);
  const countedSeconds = await countAll(url, client);
  await client.query('vacuum (analyze) pets, search_words, word_trigrams, animal_words');
  const key = keys[0]?.key ?? '';
  const { timesMs, exactMs, right } = await search(store.processes[0]?.url ?? '', key, names, honestIds, options.samples);
  const { rows } = await client.query<{ stored: number; megabytes: number }>(
    `select (select count(*)::int from search_words) as stored, (select round(sum(pg_total_relation_size(name)) / 1e6)::int
      from unnest(array['animal_words', 'search_words', 'word_trigrams', 'word_clients']) name) as megabytes`,
  );
  const [p50Ms, p99Ms] = [quantile(timesMs, 0.5), quantile(timesMs, 0.99)];
  const stored = rows[0]?.stored ?? Number.NaN;
  const holds = p99Ms <= p99MsMax && stored <= wordBounds.wordsMax && (right === options.samples || options.isShared);
  const exactP50Ms = quantile(exactMs, 0.5);
  return { ...options, exactP50Ms, stored, megabytes: rows[0]?.megabytes ?? Number.NaN, countedSeconds, p50Ms, p99Ms, right, holds };
}

/** The name of each animal is eight words of eight letters. */
function honestNames(): string[] {
  return Array.from({ length: honestAnimals }, (_, i) =>
    Array.from({ length: wordsInSearch }, (_unused, j) => honestWord((i * wordsInSearch + j) % honestWords)).join(' '),
  );
}

const letters = 'abcdefghijklmnopqrstuvwxyz';

/** The same for the same number, and unlike the others. */
function honestWord(number: number): string {
  let rest = (number + 1) * 48_271;
  return Array.from({ length: 8 }, () => {
    rest = (rest * 48_271) % 2_147_483_647;
    return letters[rest % letters.length];
  }).join('');
}

/** Two clients add each of them: their words may correct others. */
async function addHonest(client: pg.Client, names: readonly string[], keys: readonly BenchKey[]): Promise<number[][]> {
  const ids: number[][] = names.map(() => []);
  for (const key of keys) {
    const added = await addAnimals(
      client,
      `select name, 0::bigint as n from unnest($3::text[]) with ordinality as named (name, n) order by n`,
      [key],
      [names],
    );
    for (const [i, id] of added.entries()) ids[i]?.push(id);
  }
  return ids;
}

/** Each word begins with an honest one, so that it has all of its trigrams but the last. */
async function addHostile(client: pg.Client, { words, isShared }: Options, keys: readonly BenchKey[]): Promise<void> {
  const different = isShared ? Math.ceil(words / 2) : words;
  const letter = (power: number) =>
    `substr('${letters}', 1 + (n / ${honestWords} / ${letters.length ** power} % ${letters.length})::int, 1)`;
  const names = `select string_agg(($3::text[])[1 + n % ${honestWords}] || ${[0, 1, 2].map(letter).join(' || ')}, ' ' order by n) as name, n / ${hostileInName} as n
    from generate_series(0, ${different - 1}::bigint) n group by n / ${hostileInName}`;
  const vocabulary = Array.from({ length: honestWords }, (_, i) => honestWord(i));
  await addAnimals(client, names, keys, [vocabulary]);
  // The next client has the same words.
  if (isShared) await addAnimals(client, names, [...keys.slice(1), ...keys.slice(0, 1)], [vocabulary]);
}

/** Adds animals as the service does; the clients take turns by `n`. Returns their ids in the order of `names`. */
async function addAnimals(client: pg.Client, names: string, keys: readonly BenchKey[], values: unknown[]): Promise<number[]> {
  const { rows } = await client.query<{ id: string }>(
    `with named as materialized (${names}),
      added as (insert into pets (name, category_id, status) select name, 1, 'available' from named returning id),
      numbered as (select id, row_number() over (order by id) - 1 as n from added),
      recorded as (insert into history (pet_id, client_id, key_id, to_status, why)
        select id, ($1::bigint[])[1 + n % $4], ($2::bigint[])[1 + n % $4], 'available', 'added' from numbered)
      select id from numbered order by id`,
    [keys.map(({ clientId }) => clientId), keys.map(({ id }) => id), ...values, keys.length],
  );
  return rows.map(({ id }) => Number(id));
}

/** As the publisher does it. */
async function announce(client: pg.Client): Promise<void> {
  await client.query(
    `insert into events (position, type, pet_id, at, data) select row_number() over (order by id), 'pet.created', id, now(), '{}' from pets`,
  );
  await client.query('update feed set last_position = (select max(position) from events)');
  await client.query('update word_feed set position = 0, filled_to = null');
}

/** As a worker does it. */
async function countAll(url: string, client: pg.Client): Promise<number> {
  const db = new Pool(url, 2, { byIndex: true });
  const startMs = performance.now();
  const ticker = setInterval(() => void progress(client), progressMs);
  try {
    while ((await countWords(db)).count > 0);
  } finally {
    clearInterval(ticker);
    await db.close();
  }
  return (performance.now() - startMs) / 1_000;
}

async function progress(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ position: string; last: string }>('select position, last_position as last from word_feed, feed');
  say(`Counting words: animal ${rows[0]?.position} of ${rows[0]?.last}`);
}

async function search(
  url: string,
  key: string,
  names: readonly string[],
  honestIds: ReadonlyArray<readonly number[]>,
  samples: number,
): Promise<{ timesMs: number[]; exactMs: number[]; right: number }> {
  using http = new HttpClient(1);
  const find = async (words: readonly string[]) => {
    const startMs = performance.now();
    const { status, text } = await http.send(`${url}/listings?q=${words.join('+')}`, { key });
    const tookMs = performance.now() - startMs;
    if (status !== 200) throw new Error(`${words.join(' ')} got ${status} ${text}`);
    return { tookMs, ids: (JSON.parse(text) as Array<{ pet: { id: number } }>).map(({ pet }) => pet.id).sort((a, b) => a - b) };
  };
  const [timesMs, exactMs]: [number[], number[]] = [[], []];
  let right = 0;
  for (let i = -warmUps; i < samples; i += 1) {
    const animal = ((i + warmUps) * 7) % names.length;
    const words = (names[animal] ?? '').split(' ');
    const exact = await find(words);
    const corrected = await find(words.map((word, j) => (j < misspeltInSearch ? misspell(word) : word)));
    if (i < 0) continue;
    exactMs.push(exact.tookMs);
    timesMs.push(corrected.tookMs);
    if (String(corrected.ids) === String(honestIds[animal])) right += 1;
  }
  return { timesMs, exactMs, right };
}

/** Doubles a letter in the middle. */
const misspell = (word: string) => `${word.slice(0, 4)}${word.slice(3)}`;

function print(figures: Figures): void {
  const { words, clients, samples, isShared, stored, megabytes, countedSeconds, p50Ms, p99Ms, exactP50Ms, right, holds } = figures;
  console.log(
    `${count(words)} words of ${clients} clients, ${isShared ? 'each of two of them' : 'none of two of them'}, each with the trigrams of a word of others.`,
  );
  console.log(
    `Counted in ${countedSeconds.toFixed(0)} s. ${count(stored)} words are stored, in ${count(megabytes)} MB; ${count(wordBounds.wordsMax)} may be.`,
  );
  console.log(
    `Searches for ${wordsInSearch} words, of which ${misspeltInSearch} are misspelt: median ${p50Ms.toFixed(1)} ms, 99th percentile ${p99Ms.toFixed(1)} ms (${p99MsMax} ms may be); median without misspelt words ${exactP50Ms.toFixed(1)} ms.`,
  );
  console.log(`${right} of ${samples} found exactly the animals that have the right words. ${holds ? 'All hold.' : 'BROKEN'}`);
}

const count = (value: number) => value.toLocaleString('en');
const say = (sentence: string) => void process.stderr.write(`${sentence}\n`);

process.exitCode = await main();
