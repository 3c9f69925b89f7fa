// Readers follow the feed while transactions of all lengths commit in any order: each reader must receive each event once.
import { setTimeout as sleep } from 'node:timers/promises';
import { addAnimals, castOf, queryStore } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import { Store } from '../../testkit/store.ts';
import { grouped } from '../claims.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { FeedReader } from './feed-reader.ts';
import { FeedWriters } from './feed-writers.ts';

const animalCount = 40;
/** After the writers have finished, the proof waits until no reader has got a new event for this long. */
const idleTimeoutMs = 5_000;

export const feed: Proof = {
  name: 'feed',
  promise: 'every reader of the feed gets every event exactly once, and the events of an animal in order',
  // The mutant uses the outbox's ids as positions; they are assigned before the commit.
  mutant: [
    { file: 'changes/events/event-queries.ts', from: 'before + row_number() over (order by id)', to: 'id' },
    {
      file: 'changes/events/event-queries.ts',
      from: 'last_position = last_position + (select count(*) from moved)',
      to: 'last_position = greatest(last_position, (select max(id) from moved))',
    },
  ],
  isNightly: true,
  about: ['service/src/changes/events', 'proofs/feed'],
  run,
};

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  await using store = await Store.open({ processes: 2, root, env: { LOG_LEVEL: 'warn' } });
  for (let workers = 0; workers < 2; workers += 1) store.work();
  const { manager, partners } = await castOf(store, 2);
  const animals = await addAnimals(store, manager, animalCount);
  using http = new HttpClient();
  const keyOf = (i: number) => (partners[i % partners.length] ?? manager).key;
  const readers = ['?limit=100', '?limit=100', '?limit=17', '?limit=100&type=pet.updated'].map(
    (query, i) => new FeedReader(http, store.processes[i % 2]?.url ?? '', keyOf(i), query),
  );
  const writers = await FeedWriters.open(store, animals, short ? 3_000 : 100_000, short ? 20 : 100);
  const ticker = setInterval(() => progress(`${writers.committed} written, ${readers.map(({ seen }) => seen).join(', ')} read`), 500);
  const reading = Promise.all(readers.map((reader) => reader.follow()));
  await writers.write();
  await untilRead(readers, writers.committed);
  for (const reader of readers) reader.stop();
  await reading;
  clearInterval(ticker);
  await writers[Symbol.asyncDispose]();
  return await judge(store, readers, writers);
}

async function untilRead(readers: readonly FeedReader[], count: number): Promise<void> {
  let [before, sinceMs] = [-1, performance.now()];
  while (performance.now() - sinceMs < idleTimeoutMs && readers.some(({ seen }) => seen < count)) {
    const seen = readers.reduce((sum, reader) => sum + reader.seen, 0);
    if (seen !== before) [before, sinceMs] = [seen, performance.now()];
    await sleep(50);
  }
  // A duplicate may arrive after everything has arrived once.
  await sleep(500);
}

async function judge(store: Store, readers: readonly FeedReader[], writers: FeedWriters): Promise<Claim[]> {
  const verdicts = readers.map((reader) => reader.judge(writers.isCommitted));
  const sum = (what: (verdict: (typeof verdicts)[number]) => number) => verdicts.reduce((total, verdict) => total + what(verdict), 0);
  const rejection = readers.find((reader) => reader.rejection)?.rejection;
  const missed = readers.map(({ seen }) => writers.committed - seen);
  const [overtaken] = await queryStore<{ count: number }>(
    store,
    `select count(*)::int as count from (select at, max(at) over (order by position rows between unbounded preceding and 1 preceding) as newest
      from events) as one where at < newest - interval '1 second'`,
  );
  return [
    {
      claim: `Events that ${readers.length} readers on 2 processes missed, of ${grouped(writers.committed)} by ${writers.count} writers whose transactions last up to 5 s, with two workers`,
      bar: '0',
      figure: `${grouped(missed.reduce((total, count) => total + Math.max(count, 0), 0))} of ${grouped(writers.committed * readers.length)}${rejection ? `; a reader got ${rejection}` : ''}`,
      holds: missed.every((count) => count === 0) && rejection === undefined,
    },
    {
      claim: 'Events that arrived twice; events of a transaction that was rolled back',
      bar: '0',
      figure: `${sum(({ duplicates }) => duplicates)} and ${sum(({ rolledBack }) => rolledBack)}, with ${grouped(writers.rolledBack)} transactions rolled back`,
      holds: sum(({ duplicates, rolledBack }) => duplicates + rolledBack) === 0 && writers.rolledBack > 0,
    },
    {
      claim: 'Events of an animal that arrived out of order',
      bar: '0',
      figure: `${sum(({ outOfOrder }) => outOfOrder)}, of ${animalCount} animals`,
      holds: sum(({ outOfOrder }) => outOfOrder) === 0,
    },
    {
      claim: 'Control: events that were recorded more than 1 s before an event that was published earlier',
      bar: 'at least 1',
      figure: grouped(overtaken?.count ?? 0),
      holds: (overtaken?.count ?? 0) > 0,
    },
  ];
}
