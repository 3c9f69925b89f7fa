// Lists read from four processes while animals change: each must show the last change that was acknowledged before it was asked for.
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, castOf } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import { plantMutant } from '../../testkit/mutant.ts';
import { type Key, Store } from '../../testkit/store.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { Shelf } from './shelf.ts';

const processCount = 4;
const shelfCount = 6;
const readerCount = 12;
const firstCategoryId = 1_000;
/** Between two changes of a shelf, so that pages are also read while nothing changes. */
const pauseMsMax = 60;
/** PostgreSQL's own counts are complete after this time without work. */
const statisticsMs = 1_500;

export const freshness: Proof = {
  name: 'freshness',
  promise: 'a list, from whichever process, shows every change that was acknowledged before it was asked for',
  hasMutant: true,
  run,
};

interface Read {
  readonly shelf: Shelf;
  /** What had been acknowledged when it was sent. */
  readonly from: number;
  readonly list: string;
}

interface Run {
  readonly endsAtMs: number;
  reads: number;
  /** Those that showed nothing that was known when they came: a change that was not acknowledged yet, or an old one. */
  readonly open: Read[];
}

async function run({ short, mutant, progress }: ProofContext): Promise<Claim[]> {
  // The mutant replaces the token before the commit: a page that is read in between is cached under it, without the change.
  using tree = mutant
    ? plantMutant([
        { file, from: query, to: `await this.invalidate();\n    ${query}` },
        { file, from: 'if (result.rowCount) await this.invalidate();', to: '' },
        { file, from: `${commit}\n    await this.invalidate();`, to: `await this.invalidate();\n    ${commit}` },
      ])
    : undefined;
  await using store = await Store.open({ processes: processCount, root: tree?.root, env: { LOG_LEVEL: 'warn' } });
  const { manager, partners } = await castOf(store, 4);
  const shelves = Array.from({ length: shelfCount }, (_, i) => new Shelf(firstCategoryId + i));
  const seconds = short ? 10 : 120;
  const run: Run = { endsAtMs: Date.now() + seconds * 1_000, reads: 0, open: [] };
  using http = new HttpClient(readerCount + shelfCount);
  const ticker = setInterval(() => progress(`${run.reads} reads`), 500);
  await Promise.all([
    ...shelves.map((shelf) => write(http, store, shelf, manager, run)),
    ...Array.from({ length: readerCount }, (_, i) => read(http, store, shelves, partners[i % partners.length] ?? manager, run)),
  ]);
  clearInterval(ticker);
  return await judge(store, shelves, run);
}

const file = 'pets/catalogue.ts';
const query = 'const result = await this.#db.query<Row>(statement);';
const commit = 'const result = await this.#db.transaction((tx) => work(new CatalogueTransaction(tx)), clientId);';

async function write(http: HttpClient, store: Store, shelf: Shelf, manager: Key, run: Run): Promise<void> {
  while (Date.now() < run.endsAtMs) {
    await shelf.change(http, anyUrl(store), manager);
    await sleep(randomInt(pauseMsMax));
  }
}

async function read(http: HttpClient, store: Store, shelves: readonly Shelf[], { key }: Key, run: Run): Promise<void> {
  while (Date.now() < run.endsAtMs) {
    const shelf = shelves[randomInt(shelves.length)] as Shelf;
    const from = shelf.acknowledged;
    const response = await http.send(`${anyUrl(store)}/pets?limit=100&categoryId=${shelf.categoryId}`, { key });
    if (response.status !== 200) throw new Error(`a list was answered ${response.status}: ${response.text}`);
    run.reads += 1;
    if (shelf.versionOf(response.text, from) === undefined) run.open.push({ shelf, from, list: response.text });
  }
}

const anyUrl = (store: Store) => store.processes[randomInt(processCount)]?.url ?? '';

async function judge(store: Store, shelves: readonly Shelf[], run: Run): Promise<Claim[]> {
  // All changes are acknowledged by now: what a list showed before its time is known too.
  const wrong = run.open.filter(({ shelf, from, list }) => shelf.versionOf(list, from) === undefined);
  const stale = wrong.filter(({ shelf, list }) => shelf.wasEver(list));
  const changes = shelves.reduce((sum, shelf) => sum + shelf.acknowledged, 0);
  await sleep(statisticsMs);
  const [scans] = await ask<{ count: number }>(
    store,
    // Of one animal the primary key is read, of a list another index, or, while it is small, the whole table.
    `select (seq_scan + (select sum(idx_scan) from pg_stat_user_indexes where relname = 'pets' and indexrelname <> 'pets_pkey'))::int as count
      from pg_stat_user_tables where relname = 'pets'`,
  );
  const kept = run.reads - (scans?.count ?? run.reads);
  const grouped = (count: number) => count.toLocaleString('en');
  return [
    {
      claim: `Lists that lack a change acknowledged before they were asked for, over ${processCount} processes, with ${grouped(changes)} changes by ${shelves.length} writers`,
      bar: '0',
      figure: `${grouped(stale.length)} of ${grouped(run.reads)}`,
      holds: stale.length === 0 && run.reads > 1_000 && changes > 100,
    },
    {
      claim: 'Lists that show what never was',
      bar: '0',
      figure: String(wrong.length - stale.length),
      holds: wrong.length === stale.length,
    },
    {
      claim: 'Lists answered without a query of their own, so that the above says something',
      bar: 'at least one in ten',
      figure: `${grouped(kept)} of ${grouped(run.reads)}`,
      holds: kept >= run.reads / 10,
    },
  ];
}
