// Many event streams on one process: the memory of each, how soon an event reaches all of them, and what happens to readers that don't
// read.
import { setTimeout as sleep } from 'node:timers/promises';
import { castOf, queryStore } from '../testkit/adopters.ts';
import { HttpClient } from '../testkit/http.ts';
import { MemoryWatch, memoryOf } from '../testkit/memory-watch.ts';
import { quantile } from '../testkit/quantile.ts';
import { type Key, type ServeProcess, Store } from '../testkit/store.ts';
import { StreamReader } from '../testkit/stream-reader.ts';
import { until } from '../testkit/until.ts';
import { grouped, none } from './claims.ts';
import type { Claim, Proof, ProofContext } from './proof.ts';

const streamsOfKey = 50;
const openedAtOnce = 25;
const idleReaderCounts = { short: 5, long: 20 };
/** More than the kernel buffers for a reader that does not read. */
const floodCount = 15_000;
const floodBytes = 2_000;
/** A reader that reads nothing is disconnected after 10 s. */
const disconnectMs = 12_000;
const bytesOfStreamMax = 96 * 1_024;
const growthBytesMax = 128 * 1_048_576;
const reachMsMax = 1_000;

export const streams: Proof = {
  name: 'streams',
  promise: 'a process serves 1,000 event streams in bounded memory, and an event reaches all of them within a second',
  // The mutant never treats a stream's buffer as full, and has no bound of unsent bytes.
  mutant: [
    {
      file: 'platform/http/protocol/event-stream.ts',
      from: 'return this.#response.writableLength > bufferedBytesMax;',
      to: 'return false;',
    },
    { file: 'platform/http/response-progress.ts', from: 'if (backlog) this.#enforce(backlog.owner);', to: '' },
  ],
  isNightly: true,
  about: ['service/src/changes/events', 'service/src/platform/http', 'proofs/streams.ts'],
  run,
};

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  const count = short ? 200 : 1_000;
  const idleReaderCount = idleReaderCounts[short ? 'short' : 'long'];
  await using store = await Store.open({ processes: 1, root, env: { LOG_LEVEL: 'warn' } });
  store.work();
  const { manager, partners } = await castOf(store, count / streamsOfKey);
  const [serve] = store.processes;
  if (!serve?.child.pid) throw new Error('no process');
  using http = new HttpClient();
  using opened = new DisposableStack();
  await add(http, serve, manager);
  for (const reader of await open(serve, partners, openedAtOnce, opened)) reader[Symbol.dispose]();
  await sleep(1_000);

  const emptyBytes = memoryOf(serve.child.pid);
  const readers = await open(serve, partners, count, opened);
  await sleep(1_000);
  const openBytes = memoryOf(serve.child.pid);
  using memory = new MemoryWatch([serve.child.pid], 50);
  progress(`${count} streams are open`);

  const idle = await Promise.all(Array.from({ length: idleReaderCount }, () => openIdle(serve, manager, opened)));
  await flood(store);
  const floodedAtMs = performance.now();
  const reach = await measureReach(http, serve, manager, readers, short ? 20 : 100, progress);
  await sleep(Math.max(floodedAtMs + disconnectMs - performance.now(), 0));
  const { growth } = memory;
  const disconnected = await countDisconnected(idle);
  return [
    {
      claim: `Memory of each of ${grouped(count)} streams in one process`,
      bar: `${bytesOfStreamMax / 1_024} KiB`,
      figure: `${((openBytes - emptyBytes) / count / 1_024).toFixed(0)} KiB`,
      holds: openBytes - emptyBytes <= count * bytesOfStreamMax,
    },
    {
      claim: `Additional memory at the peak, while ${grouped(reach.deliveries)} events are delivered and ${idleReaderCount} readers read nothing of ${((floodCount * floodBytes) / 1_048_576).toFixed(0)} MiB each`,
      bar: `${growthBytesMax / 1_048_576} MiB`,
      figure: `${(growth / 1_048_576).toFixed(0)} MiB`,
      holds: growth <= growthBytesMax,
    },
    {
      claim: 'Readers that read nothing and are disconnected',
      bar: 'all, 10 s after their buffers are full',
      figure: `${disconnected} of ${idleReaderCount}`,
      holds: disconnected === idleReaderCount,
    },
    none('Deliveries to a stream that never arrived', reach.missing, { of: reach.deliveries }),
    {
      claim: `From the request that adds an animal to its event at the last of ${grouped(count)} streams`,
      bar: `${grouped(reachMsMax)} ms`,
      figure: `${quantile(reach.lastMs, 0.5).toFixed(0)} ms at the median, ${Math.max(...reach.lastMs).toFixed(0)} ms at most`,
      holds: Math.max(...reach.lastMs) <= reachMsMax,
      isTimed: true,
    },
  ];
}

/** The active readers subscribe to new animals only, so that they do not get the flood that is meant for the idle ones. */
async function open(serve: ServeProcess, keys: readonly Key[], count: number, opened: DisposableStack): Promise<StreamReader[]> {
  const readers: StreamReader[] = [];
  while (readers.length < count) {
    const batch = Array.from({ length: Math.min(openedAtOnce, count - readers.length) }, (_, i) => {
      const key = keys[Math.floor((readers.length + i) / streamsOfKey)];
      return StreamReader.open(`${serve.url}/events?type=pet.created`, { key: key?.key ?? '' });
    });
    for (const reader of await Promise.all(batch)) {
      if (reader.status !== 200) throw new Error(`a stream got ${reader.status}`);
      readers.push(opened.use(reader));
    }
  }
  return readers;
}

const openIdle = async (serve: ServeProcess, { key }: Key, opened: DisposableStack) =>
  opened.use(await StreamReader.open(`${serve.url}/events?type=pet.removed`, { key, reads: false, keepsEvents: false }));

async function flood(store: Store): Promise<void> {
  await queryStore(
    store,
    `insert into outbox (type, pet_id, data) select 'pet.removed', (select min(id) from pets), format('{"filler":"%s"}', repeat('x', $2::int)) from generate_series(1, $1::int)`,
    [floodCount, floodBytes],
  );
  const isPublished = async () => (await queryStore(store, 'select from outbox limit 1')).length === 0;
  await until('the worker has published the flood', isPublished, { timeoutMs: 60_000, intervalMs: 20 });
}

/** Adds animals one by one, and waits until each event has reached all readers. */
async function measureReach(
  http: HttpClient,
  serve: ServeProcess,
  manager: Key,
  readers: readonly StreamReader[],
  rounds: number,
  progress: ProofContext['progress'],
): Promise<{ lastMs: number[]; missing: number; deliveries: number }> {
  const lastMs: number[] = [];
  let missing = 0;
  await sleep(1_000);
  for (let round = 0; round < rounds; round += 1) {
    const before = readers.map(({ count }) => count);
    const sentAtMs = performance.now();
    await add(http, serve, manager);
    const deadline = sentAtMs + 5 * reachMsMax;
    const isBehind = (reader: StreamReader, i: number) => reader.count <= (before[i] ?? 0);
    while (readers.some(isBehind) && performance.now() < deadline) await sleep(5);
    missing += readers.filter(isBehind).length;
    lastMs.push(Math.max(...readers.map(({ events }) => events.at(-1)?.atMs ?? Infinity)) - sentAtMs);
    progress(`event ${round + 1} of ${rounds}`);
  }
  return { lastMs, missing, deliveries: rounds * readers.length };
}

/** A reader was disconnected if its stream, once it is read after all, ends before the last event. */
async function countDisconnected(readers: readonly StreamReader[]): Promise<number> {
  for (const reader of readers) reader.resume();
  const deadline = performance.now() + 5_000;
  while (readers.some(({ isEnded }) => !isEnded) && performance.now() < deadline) await sleep(20);
  return readers.filter(({ isEnded, count }) => isEnded && count < floodCount).length;
}

async function add(http: HttpClient, serve: ServeProcess, { key }: Key): Promise<void> {
  const response = await http.send(`${serve.url}/pets`, { method: 'POST', key, body: { name: 'Biscuit', categoryId: 1 } });
  if (response.status !== 201) throw new Error(`an animal was not added: ${response.text}`);
}
