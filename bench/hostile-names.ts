// How long searches with misspelt words take in a store with animals that were named to disturb them, and in one without, side by side, and
// whether a name changes a correction:
// npm run bench -- hostile-names [--names 54000] [--animals 20000] [--samples 1000] [--json]
import { parseArgs } from 'node:util';
import { breedSpellings, colorSpellings } from '../service/src/domain/label-spellings.ts';
import { HttpClient } from '../testkit/http.ts';
import { fillListings } from '../testkit/listings-fill.ts';
import { connectTo } from '../testkit/postgres.ts';
import { quantile } from '../testkit/quantile.ts';
import { Store } from '../testkit/store.ts';
import { insertKeys } from './seed.ts';

const ratioMax = 1.2;
const warmUps = 100;
const pageLength = 100;
/** Of the animals that are searched for. */
const ownPrefix = 'A ';
const letters = 'abcdefghijklmnopqrstuvwxyz';

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      names: { type: 'string', default: '54000' },
      animals: { type: 'string', default: '20000' },
      samples: { type: 'string', default: '1000' },
      json: { type: 'boolean', default: false },
    },
  });
  const [names = 0, animals = 0, samples = 0] = [values.names, values.animals, values.samples].map(Number);
  if (![names, animals, samples].every((count) => Number.isSafeInteger(count) && count > 0)) {
    console.error('Usage: npm run bench -- hostile-names [--names 54000] [--animals 20000] [--samples 1000] [--json]');
    return 2;
  }
  const figures = await measure(names, animals, samples);
  print(figures);
  if (values.json) console.log(JSON.stringify(figures));
  return figures.holds ? 0 : 1;
}

interface Figures {
  readonly names: number;
  readonly samples: number;
  readonly p50Ms: readonly [without: number, beside: number];
  readonly p99Ms: readonly [without: number, beside: number];
  readonly corrected: number;
  /** Searches whose corrections are others beside the names, or that no longer find what they find without. */
  readonly changed: number;
  readonly holds: boolean;
}

async function measure(names: number, animals: number, samples: number): Promise<Figures> {
  await using plain = await openStore(animals);
  await using attacked = await openStore(animals);
  say(`Adding ${names.toLocaleString('en')} names`);
  const hostile = hostileNames(names);
  await addNames(attacked.store, hostile);
  using http = new HttpClient(1);
  const times: [number[], number[]] = [[], []];
  let [corrected, changes] = [0, 0];
  for (let i = -warmUps; i < samples; i += 1) {
    const typed = hostile[((i + warmUps) * 7_919) % hostile.length] ?? '';
    const found: Array<{ notes: string | undefined; names: string[] }> = [];
    // Which of them is the first alternates.
    for (const n of i % 2 === 0 ? [0, 1] : [1, 0]) {
      const { store, key } = n === 0 ? plain : attacked;
      const startMs = performance.now();
      const { status, text, headers } = await http.send(`${store.processes[0]?.url}/listings?q=${typed}&limit=${pageLength}`, { key });
      if (status !== 200) throw new Error(`${typed} got ${status} ${text}`);
      if (i >= 0) times[n]?.push(performance.now() - startMs);
      found[n] = { notes: headers['search-notes']?.toString(), names: namesOf(text) };
    }
    if (i < 0) continue;
    const [without, beside] = found;
    // The other animals are drawn for each store, so only those that both have are compared.
    const isFound = without?.names.every((name) => !name.startsWith(ownPrefix) || beside?.names.includes(name));
    const isEmpty = without?.names.length === 0 ? beside?.names.some((name) => name.startsWith(ownPrefix)) : beside?.names.length === 0;
    if (without?.notes !== undefined) corrected += 1;
    if (without?.notes !== beside?.notes || !isFound || isEmpty) changes += 1;
  }
  const quantiles = (share: number) => [quantile(times[0], share), quantile(times[1], share)] as const;
  const p99Ms = quantiles(0.99);
  const holds = changes === 0 && p99Ms[1] <= ratioMax * p99Ms[0];
  return { names: hostile.length, samples, p50Ms: quantiles(0.5), p99Ms, corrected, changed: changes, holds };
}

const namesOf = (text: string) => (JSON.parse(text) as Array<{ pet: { name: string } }>).map(({ pet }) => pet.name);

/** With animals of every breed and color that is meant, and others. */
async function openStore(animals: number) {
  const store = await Store.open({
    processes: 1,
    settings: { shared_buffers: '512MB' },
    env: { HOMEWARD_PAGE_CACHE: 'off', LOG_LEVEL: 'warn' },
  });
  try {
    const { url } = store.postgres;
    say(`Filling a store with ${animals.toLocaleString('en')} animals`);
    await fillListings(url, animals);
    await using client = await connectTo(url);
    await client.query(
      `with added as (insert into pets (name, category_id, status) select $2 || breed, 1, 'available' from unnest($1::text[]) breed returning id, name)
        insert into profiles (pet_id, shelter_id, breed_primary) select id, 1, substr(name, 1 + char_length($2)) from added`,
      [words(), ownPrefix],
    );
    const [key] = await insertKeys(url, { clients: 1, perClient: 1 });
    return { store, key: key?.key ?? '', [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
  } catch (error) {
    await store[Symbol.asyncDispose]();
    throw error;
  }
}

/** Those of breeds and colors. */
const words = () =>
  [...new Set([breedSpellings, colorSpellings].flatMap((one) => Object.keys(one).flatMap((name) => name.split(' '))))].filter(
    (word) => word.length >= 5,
  );

/** Near misses of words that are meant: one letter is replaced, or two are dropped, doubled or swapped. */
function hostileNames(count: number): string[] {
  const meant = words();
  const names = new Set(meant.flatMap((word) => [...replaced(word), ...changed(word).flatMap(changed)]));
  for (const word of meant) names.delete(word);
  // Spread over all words.
  const all = [...names];
  return Array.from(
    { length: Math.min(count, all.length) },
    (_, i) => all[Math.floor((i * all.length) / Math.min(count, all.length))] ?? '',
  );
}

const places = (word: string) => Array.from({ length: word.length - 1 }, (_, i) => i + 1);
const replaced = (word: string) =>
  places(word).flatMap((at) => [...letters].map((letter) => word.slice(0, at) + letter + word.slice(at + 1)));
const changed = (word: string) =>
  places(word).flatMap((at) => [
    word.slice(0, at) + word.slice(at + 1),
    word.slice(0, at + 1) + word.slice(at),
    word.slice(0, at) + (word[at + 1] ?? '') + (word[at] ?? '') + word.slice(at + 2),
  ]);

async function addNames({ postgres: { url } }: Store, names: readonly string[]): Promise<void> {
  await using client = await connectTo(url);
  await client.query(`insert into pets (name, category_id, status) select name, 1, 'available' from unnest($1::text[]) name`, [names]);
  await client.query('vacuum (analyze) pets');
}

function print({ names, samples, p50Ms, p99Ms, changed: changes, corrected, holds }: Figures): void {
  const pair = ([without, beside]: readonly [number, number]) => `${without.toFixed(1)} ms without and ${beside.toFixed(1)} ms beside`;
  console.log(
    `${samples.toLocaleString('en')} searches for misspelt words, ${corrected.toLocaleString('en')} of which are corrected, beside ${names.toLocaleString('en')} animals with names that are spelt so.`,
  );
  console.log(`Corrections that the names change: ${changes}.`);
  console.log(`Median ${pair(p50Ms)}; 99th percentile ${pair(p99Ms)}, ${(p99Ms[1] / p99Ms[0]).toFixed(2)} times (${ratioMax} may be).`);
  console.log(holds ? 'All hold.' : 'BROKEN');
}

const say = (sentence: string) => void process.stderr.write(`${sentence}\n`);

process.exitCode = await main();
