// Lists that are read from every process while they change: each must include every change acknowledged before its request.
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cast, queryStore } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import type { Key, Store } from '../../testkit/store.ts';
import { grouped, none } from '../claims.ts';
import type { Claim } from '../proof.ts';

const readerCount = 12;
/** On cores that others use too. */
const readsPerSecondMin = 20;
const changesPerSecondMin = 3;
/** The pause between two changes of a list, so that pages are also read while nothing changes. */
const pauseMsMax = 60;
/** PostgreSQL's statistics are complete after this time without work. */
const statisticsMs = 1_500;
/** A page is cached plain and in each coding, and none of them may be stale. */
const codings = ['identity', 'gzip', 'br'];

/** A list that one writer changes, so that every version that it may show is known. */
export interface TrackedList {
  /** Path and query below /v1. */
  readonly path: string;
  /** The newest version whose change was acknowledged to the writer. */
  readonly acknowledged: number;
  /** The version that a list shows, if it is `from` or newer; undefined if it is older or not known yet. */
  versionOf(list: string, from: number): number | undefined;
  wasEver(list: string): boolean;
  /** Makes one change and waits for its response. */
  change(http: HttpClient, url: string, manager: Key): Promise<void>;
}

interface Read {
  readonly list: TrackedList;
  /** The version that had been acknowledged when the request was sent. */
  readonly from: number;
  readonly text: string;
}

interface Run {
  readonly endsAtMs: number;
  reads: number;
  /** Reads whose response was compressed. */
  compressed: number;
  /** Reads whose list matched no version known at the time: it has a change that was not acknowledged yet, or it is stale. */
  readonly unmatched: Read[];
}

interface Options {
  readonly cast: Cast;
  /** An expression of SQL: how often PostgreSQL has looked for the animals of a list. */
  readonly scans: string;
  readonly seconds: number;
  readonly progress: (text: string) => void;
}

export async function followLists(
  store: Store,
  lists: readonly TrackedList[],
  { cast, scans, seconds, progress }: Options,
): Promise<Claim[]> {
  const scansBefore = await countScans(store, scans);
  const { manager, partners } = cast;
  const run: Run = { endsAtMs: Date.now() + seconds * 1_000, reads: 0, compressed: 0, unmatched: [] };
  using http = new HttpClient(readerCount + lists.length);
  const ticker = setInterval(() => progress(`${run.reads} reads`), 500);
  await Promise.all([
    ...lists.map((list) => write(http, store, list, manager, run)),
    ...Array.from({ length: readerCount }, (_, i) => read(http, store, lists, partners[i % partners.length] ?? manager, run)),
  ]);
  clearInterval(ticker);
  return judge(store, lists, run, { seconds, scans: (await countScans(store, scans)) - scansBefore });
}

async function write(http: HttpClient, store: Store, list: TrackedList, manager: Key, run: Run): Promise<void> {
  while (Date.now() < run.endsAtMs) {
    await list.change(http, anyUrl(store), manager);
    await sleep(randomInt(pauseMsMax));
  }
}

async function read(http: HttpClient, store: Store, lists: readonly TrackedList[], { key }: Key, run: Run): Promise<void> {
  while (Date.now() < run.endsAtMs) {
    const list = lists[randomInt(lists.length)] as TrackedList;
    const from = list.acknowledged;
    const headers = { 'accept-encoding': codings[randomInt(codings.length)] ?? '' };
    const response = await http.send(anyUrl(store) + list.path, { key, headers });
    if (response.status === 409) {
      // On slow cores a partner's searches pause; it waits as it is told to.
      await sleep(Number(response.headers['retry-after']) * 1_000);
      continue;
    }
    if (response.status !== 200) throw new Error(`a list got ${response.status}: ${response.text}`);
    run.reads += 1;
    if (response.headers['content-encoding']) run.compressed += 1;
    if (list.versionOf(response.text, from) === undefined) run.unmatched.push({ list, from, text: response.text });
  }
}

const anyUrl = ({ processes }: Store) => processes[randomInt(processes.length)]?.url ?? '';

async function countScans(store: Store, scans: string): Promise<number> {
  await sleep(statisticsMs);
  const [row] = await queryStore<{ count: number }>(store, `select (${scans})::int as count`);
  return row?.count ?? Number.NaN;
}

function judge(
  { processes }: Store,
  lists: readonly TrackedList[],
  run: Run,
  { seconds, scans }: { readonly seconds: number; readonly scans: number },
): Claim[] {
  const [readsMin, changesMin] = [seconds * readsPerSecondMin, seconds * changesPerSecondMin];
  // All changes are acknowledged by now, so versions that a list showed before their acknowledgement are known too.
  const wrong = run.unmatched.filter(({ list, from, text }) => list.versionOf(text, from) === undefined);
  const stale = wrong.filter(({ list, text }) => list.wasEver(text));
  const changes = lists.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
  const cached = run.reads - scans;
  return [
    none(
      `Lists, from ${processes.length} processes, that miss a change acknowledged before the request, with ${grouped(changes)} changes by ${lists.length} writers`,
      stale.length,
      { of: run.reads },
    ),
    {
      claim: 'Control: lists read, and changes',
      bar: `${grouped(readsMin)}, ${grouped(changesMin)}`,
      figure: `${grouped(run.reads)}, ${grouped(changes)}`,
      holds: run.reads >= readsMin && changes >= changesMin,
      isTimed: true,
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
      isTimed: true,
    },
    {
      claim: 'Control: lists sent compressed',
      bar: 'at least one in ten',
      figure: `${grouped(run.compressed)} of ${grouped(run.reads)}`,
      holds: run.compressed >= run.reads / 10,
    },
  ];
}
