// Lists are read from four processes while animals change: each list must include every change acknowledged before its request.
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { castOf, queryStore } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import { plantMutant } from '../../testkit/mutant.ts';
import { type Key, Store } from '../../testkit/store.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { cutOffWriter } from './cut-off-writer.ts';
import { TrackedCategory } from './tracked-category.ts';

const processCount = 4;
const categoryCount = 6;
const readerCount = 12;
const firstCategoryId = 1_000;
/** The pause between two changes of a category, so that pages are also read while nothing changes. */
const pauseMsMax = 60;
/** PostgreSQL's statistics are complete after this time without work. */
const statisticsMs = 1_500;

export const freshness: Proof = {
  name: 'freshness',
  promise: 'a list from any process includes every change that was acknowledged before the request',
  hasMutant: true,
  run,
};

interface Read {
  readonly category: TrackedCategory;
  /** The version that had been acknowledged when the request was sent. */
  readonly from: number;
  readonly list: string;
}

interface Run {
  readonly endsAtMs: number;
  reads: number;
  /** Reads whose response was compressed. */
  compressed: number;
  /** Reads whose list matched no version known at the time: it has a change that was not acknowledged yet, or it is stale. */
  readonly unmatched: Read[];
}

async function run({ short, mutant, progress }: ProofContext): Promise<Claim[]> {
  // The mutants announce a change before it is committed, so that a page that is read in between is cached without it; and they
  // acknowledge a change that Redis was not told of without waiting for the other processes.
  using tree = mutant
    ? plantMutant([
        { file, from: query, to: `await this.#announce(everything, []);\n    ${query}` },
        { file, from: announceWritten, to: '' },
        {
          file,
          from: 'return { result: await work(tx), tx };',
          to: `const result = await work(tx);\n      ${announce}\n      return { result, tx };`,
        },
        { file, from: `if (tx.changes.length > 0) ${announce}`, to: '' },
        { file, from: 'await settleUnannounced(this.#db).catch(() => sleep(pageAgeMaxMs));', to: '' },
      ])
    : undefined;
  await using store = await Store.open({ processes: processCount, root: tree?.root, env: { LOG_LEVEL: 'warn' } });
  const { manager, partners } = await castOf(store, 4);
  const categories = Array.from({ length: categoryCount }, (_, i) => new TrackedCategory(firstCategoryId + i));
  const seconds = short ? 10 : 120;
  const run: Run = { endsAtMs: Date.now() + seconds * 1_000, reads: 0, compressed: 0, unmatched: [] };
  using http = new HttpClient(readerCount + categoryCount);
  const ticker = setInterval(() => progress(`${run.reads} reads`), 500);
  await Promise.all([
    ...categories.map((category) => write(http, store, category, manager, run)),
    ...Array.from({ length: readerCount }, (_, i) => read(http, store, categories, partners[i % partners.length] ?? manager, run)),
  ]);
  clearInterval(ticker);
  const claims = await judge(store, categories, run);
  progress('one process is cut off from Redis');
  return [...claims, await cutOffWriter(store, http, manager, short ? 3 : 12)];
}

const file = 'pets/catalogue.ts';
const query = 'const { rows, transactionId } = readWritten(await this.#db.query<Row & Written>(statement));';
const announceWritten = 'if (transactionId !== undefined) await this.#announce(rows.map(changeOf), [transactionId]);';
const announce = 'await this.#announce(tx.changes, [...tx.transactionIds]);';

async function write(http: HttpClient, store: Store, category: TrackedCategory, manager: Key, run: Run): Promise<void> {
  while (Date.now() < run.endsAtMs) {
    await category.change(http, anyUrl(store), manager);
    await sleep(randomInt(pauseMsMax));
  }
}

async function read(http: HttpClient, store: Store, categories: readonly TrackedCategory[], { key }: Key, run: Run): Promise<void> {
  while (Date.now() < run.endsAtMs) {
    const category = categories[randomInt(categories.length)] as TrackedCategory;
    const from = category.acknowledged;
    const headers = { 'accept-encoding': codings[randomInt(codings.length)] ?? '' };
    const response = await http.send(`${anyUrl(store)}/pets?limit=100&categoryId=${category.categoryId}`, { key, headers });
    if (response.status !== 200) throw new Error(`a list got ${response.status}: ${response.text}`);
    run.reads += 1;
    if (response.headers['content-encoding']) run.compressed += 1;
    if (category.versionOf(response.text, from) === undefined) run.unmatched.push({ category, from, list: response.text });
  }
}

/** A page is cached plain and in each coding, and none of them may be stale. */
const codings = ['identity', 'gzip', 'br'];

const anyUrl = (store: Store) => store.processes[randomInt(processCount)]?.url ?? '';

async function judge(store: Store, categories: readonly TrackedCategory[], run: Run): Promise<Claim[]> {
  // All changes are acknowledged by now, so versions that a list showed before their acknowledgement are known too.
  const wrong = run.unmatched.filter(({ category, from, list }) => category.versionOf(list, from) === undefined);
  const stale = wrong.filter(({ category, list }) => category.wasEver(list));
  const changes = categories.reduce((sum, category) => sum + category.acknowledged, 0);
  await sleep(statisticsMs);
  const [scans] = await queryStore<{ count: number }>(
    store,
    // A single animal is read by an index of ids; a list of a category by another index or, while the table is small, by a sequential scan.
    `select (seq_scan + (select sum(idx_scan) from pg_stat_user_indexes where relname = 'pets' and indexrelname not in ('pets_pkey', 'pets_listed')))::int as count
      from pg_stat_user_tables where relname = 'pets'`,
  );
  const cached = run.reads - (scans?.count ?? run.reads);
  const grouped = (count: number) => count.toLocaleString('en');
  return [
    {
      claim: `Lists, from ${processCount} processes, that miss a change acknowledged before the request, with ${grouped(changes)} changes by ${categories.length} writers`,
      bar: '0',
      figure: `${grouped(stale.length)} of ${grouped(run.reads)}`,
      holds: stale.length === 0 && run.reads > 1_000 && changes > 100,
    },
    {
      claim: 'Lists that show a state that never existed',
      bar: '0',
      figure: String(wrong.length - stale.length),
      holds: wrong.length === stale.length,
    },
    {
      claim: 'Control: lists served without a query',
      bar: 'at least one in ten',
      figure: `${grouped(cached)} of ${grouped(run.reads)}`,
      holds: cached >= run.reads / 10,
    },
    {
      claim: 'Control: lists sent compressed',
      bar: 'at least one in ten',
      figure: `${grouped(run.compressed)} of ${grouped(run.reads)}`,
      holds: run.compressed >= run.reads / 10,
    },
  ];
}
