// Measures what each kind of work costs, one kind after the other, in a store of 100,000 animals.

import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { addUsage } from '../service/src/access/usage/usage-queries.ts';
import { recordEvents } from '../service/src/changes/events/events.ts';
import { theService } from '../service/src/domain/actor.ts';
import { castOf, queryStore } from '../testkit/adopters.ts';
import { ReceiverThread } from '../testkit/arrival-log.ts';
import { addVerifiedEndpoints, createClients, settleEndpoints } from '../testkit/endpoints.ts';
import { HttpClient } from '../testkit/http.ts';
import { inParallel } from '../testkit/in-parallel.ts';
import { drawSamples, mixed, type SearchTarget, timeSearch } from '../testkit/listing-searches.ts';
import { fillListings } from '../testkit/listings-fill.ts';
import { cpuMs, treeCpuMs } from '../testkit/process-cpu.ts';
import { quantile } from '../testkit/quantile.ts';
import { Staff } from '../testkit/staff.ts';
import { Store } from '../testkit/store.ts';
import { temporaryFolder } from '../testkit/temporary-folder.ts';
import { until } from '../testkit/until.ts';
import { type Kind, type Part, parts, referenceMs } from './capacity-facts.ts';
import { keyAt } from './cost-kinds.ts';
import { type BenchKey, insertKeys } from './seed.ts';
import { requestText, SocketLoad } from './socket-load.ts';

const animals = 100_000;
const clients = 200;
const keysOfClient = 5;
const rounds = 3;
const endpoints = 50;
/** The shelter whose events the endpoints want. Animals that are added are in the first one. */
const wantedShelter = 2;
const settleMs = 100;
const idleMs = 5_000;
const waitTimeoutMs = 120_000;
const turnTimeoutMs = 60_000;
/** A photo as a phone takes it. */
const photo = { width: 4_000, height: 3_000 };

type ByPart = Readonly<Record<Part, number>>;

interface Sample {
  /** How much more CPU time this machine takes for the same work than the one that the facts are from. */
  readonly slowness: number;
  readonly cpuUs: ByPart;
}

/** The median of the rounds, as on the machine that the facts are from. */
export interface MeasuredCost extends Sample {
  readonly kind: Kind;
}

/** Does a kind of work some times. Returns how often. */
type Turn = (round: number) => Promise<number>;

export async function measureCosts(say: (text: string) => void): Promise<MeasuredCost[]> {
  using folder = temporaryFolder('capacity');
  await using resources = new AsyncDisposableStack();
  const env = { NODE_ENV: 'production', LOG_LEVEL: 'warn', HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on', HOMEWARD_PHOTOS: folder.path };
  const settings = { shared_buffers: '1GB', max_wal_size: '4GB' };
  const store = resources.use(await Store.open({ processes: 0, settings, env }));
  await fillListings(store.postgres.url, animals, { progress: (step) => say(`Filling a store with 100,000 animals: ${step}`) });
  const keys = await insertKeys(store.postgres.url, { clients, perClient: keysOfClient });
  const receiver = resources.use(await ReceiverThread.open({ servers: 4, arrivalsMax: 1_000_000 }));
  const [clientId = 0] = await createClients(store, 1);
  const url = (n: number) => `${receiver.origins[n % receiver.origins.length]}/hooks/${n}`;
  await addVerifiedEndpoints(
    store,
    Array.from({ length: endpoints }, (_, n) => ({ url: url(n), clientId, shelterIds: [wantedShelter] as const })),
  );
  await settleEndpoints(store);
  const serve = await store.serve();
  const uncached = await store.serve({ HOMEWARD_PAGE_CACHE: 'off' });
  const worker = store.work();
  const turns = await turnsOf({ store, keys, receiver, resources, cached: serve.url, uncached: uncached.url });
  const read = (): ByPart => ({
    serve: cpuMs(serve.child.pid ?? 0) + cpuMs(uncached.child.pid ?? 0),
    worker: treeCpuMs(worker.pid ?? 0),
    postgres: treeCpuMs(store.postgres.pid),
    redis: cpuMs(store.redis.pid),
  });
  let idle = byPart(() => 0);
  const samples = new Map<Kind, Sample[]>();
  // The first round warms up.
  for (let round = 0; round <= rounds; round += 1) {
    if (round === 1) idle = await measureIdle(read);
    for (const [kind, turn] of Object.entries(turns) as Array<[Kind, Turn]>) {
      say(`Round ${round} of ${rounds}: ${kind}`);
      const referenceBefore = referenceCpuMs();
      const [before, startMs] = [read(), performance.now()];
      const count = await turn(round);
      await sleep(settleMs);
      const spent = spentSince(before, read(), idle, performance.now() - startMs);
      const slowness = (referenceBefore + referenceCpuMs()) / 2 / referenceMs;
      if (round > 0)
        samples.set(kind, [...(samples.get(kind) ?? []), { slowness, cpuUs: byPart((part) => (spent[part] * 1_000) / count) }]);
    }
  }
  const median = (all: readonly Sample[], of: (sample: Sample) => number) => quantile(all.map(of), 0.5);
  return [...samples].map(([kind, all]) => ({
    kind,
    slowness: median(all, ({ slowness }) => slowness),
    cpuUs: byPart((part) => median(all, ({ cpuUs, slowness }) => cpuUs[part] / slowness)),
  }));
}

const byPart = (of: (part: Part) => number) => Object.fromEntries(parts.map((part) => [part, of(part)])) as ByPart;

/** Without what the processes would have spent anyway. */
const spentSince = (before: ByPart, after: ByPart, idle: ByPart, ms: number) =>
  byPart((part) => Math.max(after[part] - before[part] - idle[part] * ms, 0));

/** What each part spends in a ms in which nothing is asked of it. */
async function measureIdle(read: () => ByPart): Promise<ByPart> {
  const before = read();
  await sleep(idleMs);
  const after = read();
  return byPart((part) => (after[part] - before[part]) / idleMs);
}

interface Setting {
  readonly store: Store;
  readonly keys: readonly BenchKey[];
  readonly receiver: ReceiverThread;
  readonly resources: AsyncDisposableStack;
  readonly cached: string;
  readonly uncached: string;
}

async function turnsOf(setting: Setting): Promise<Partial<Record<Kind, Turn>>> {
  const { store, keys, receiver, resources, cached, uncached } = setting;
  const staff = resources.use(await Staff.of(store));
  const { manager } = await castOf(store, 0);
  const http = resources.use(new HttpClient());
  const samples = await drawSamples(store.postgres.url, animals);
  const [wanted] = await queryStore<{ id: string }>(store, 'select id::text from pets where shelter_id = $1 order by id limit 1', [
    wantedShelter,
  ]);
  const wantedPet = BigInt(wanted?.id ?? 0);
  const load = async (origin: string, connections: number, requests: string[], status: number) => {
    using sockets = await SocketLoad.open(origin, connections);
    await sockets.send(requests, { status, timeoutMs: turnTimeoutMs });
    return requests.length;
  };
  const many = (count: number, round: number, text: (key: string, i: number) => string) =>
    Array.from({ length: count }, (_, i) => text(keyAt(keys, round * count + i), i));
  return {
    list: (round) =>
      load(
        cached,
        64,
        many(8_000, round, (key, i) => requestText('GET', `/v1/pets?limit=20&categoryId=${1 + (i % 20)}`, key)),
        200,
      ),
    miss: (round) =>
      load(
        uncached,
        16,
        many(1_500, round, (key, i) => requestText('GET', `/v1/pets?limit=20&categoryId=${1 + (i % 20)}`, key)),
        200,
      ),
    search: async (round) => {
      const queries = Object.values(mixed);
      const count = 160;
      await inParallel(4, count, async (i) => {
        const target: SearchTarget = { url: uncached, key: keyAt(keys, round * count + i), samples };
        const query = queries[i % queries.length];
        if (query) await timeSearch(http, target, query(samples));
      });
      return count;
    },
    create: async (round) => {
      const count = 400;
      await load(
        cached,
        4,
        many(count, round, (key, i) => requestText('POST', '/v1/pets', key, { name: `Biscuit ${i}`, categoryId: 1 })),
        201,
      );
      await untilPublished(store);
      return count;
    },
    delivery: async () => {
      const [events, before] = [60, receiver.count];
      for (let i = 0; i < events; i += 1) {
        const data = `{"pet":{"id":${wantedPet},"name":"${i}","categoryId":1,"status":"available"}}`;
        await staff.dependencies.db.transaction(
          (tx) => recordEvents(tx, { type: 'pet.updated', petId: wantedPet, clientId: null, data }),
          theService,
        );
      }
      await until('the deliveries arrive', () => receiver.count >= before + events * endpoints, waiting);
      return events * endpoints;
    },
    photo: async () => {
      const count = 3;
      for (let i = 0; i < count; i += 1) {
        // Another animal each time, since one may have few photos.
        const petId = 1_000 + Number(randomBytes(2).readUInt16BE());
        const { status, text } = await http.send(`${cached}/pets/${petId}/photos`, {
          method: 'POST',
          key: manager.key,
          raw: await takePhoto(),
          headers: { 'content-type': 'image/jpeg' },
        });
        if (status !== 202) throw new Error(`a photo got ${status}: ${text}`);
      }
      const findUnprocessed = () => queryStore(store, `select from photos where status = 'processing' limit 1`);
      await until('the photos are processed', async () => (await findUnprocessed()).length === 0, waiting);
      return count;
    },
    picture: async () => {
      const rows = await queryStore<{ hash: string }>(store, `select files -> 0 ->> 'hash' as hash from photos where status = 'ready'`);
      const pictures = rows.map(({ hash }) => requestText('GET', `/photos/${hash}.webp`, ''));
      // An address may load some hundred pictures at once.
      const count = 150;
      await sleep(1_000);
      return load(cached, 4, Array.from({ length: count }, (_, i) => pictures[i % pictures.length] ?? ''), 200); // biome-ignore format: one line
    },
    usageRow: async (round) => {
      const writer = { processId: randomUUID(), batch: BigInt(round + 1) };
      const rows = keys.map(({ id }) => ({ keyId: BigInt(id), kind: 'request' as const, name: '', count: 1 }));
      await staff.dependencies.db.transaction((tx) => addUsage(tx, writer, new Date(), rows), theService);
      return rows.length;
    },
  };
}

/** Not one colour, which would be decoded faster than a photo. */
async function takePhoto(): Promise<Buffer> {
  const { width, height } = photo;
  const noise = await sharp(randomBytes((width / 8) * (height / 8) * 3), { raw: { width: width / 8, height: height / 8, channels: 3 } })
    .resize(width, height)
    .jpeg({ quality: 85 })
    .toBuffer();
  return noise;
}

/** Seldom, since each question costs PostgreSQL a connection. */
const waiting = { timeoutMs: waitTimeoutMs, intervalMs: 500 };

const untilPublished = (store: Store) =>
  until('the events are published', async () => (await queryStore(store, 'select from outbox limit 1')).length === 0, waiting);

/** The CPU time of a fixed piece of work: what this machine takes for it now. */
function referenceCpuMs(): number {
  const value = { animals: Array.from({ length: 200 }, (_, i) => ({ id: i, name: `Biscuit ${i}`, categoryId: 1, status: 'available' })) };
  const before = process.cpuUsage();
  let length = 0;
  for (let i = 0; i < 200; i += 1) length += JSON.stringify(JSON.parse(JSON.stringify(value))).length;
  const { user, system } = process.cpuUsage(before);
  if (length === 0) throw new Error('no work was done');
  return (user + system) / 1_000;
}
