// A backup holds a snapshot for hours: PostgreSQL can't remove what has changed since. Looking for work and publishing must not slow down.
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Publisher } from '../../service/src/changes/events/publisher.ts';
import { insertAnimals, queryStore } from '../../testkit/adopters.ts';
import { ReceiverThread } from '../../testkit/arrival-log.ts';
import { addVerifiedEndpoints, createClients } from '../../testkit/endpoints.ts';
import { type Connection, connectTo } from '../../testkit/postgres.ts';
import { Staff } from '../../testkit/staff.ts';
import { Store } from '../../testkit/store.ts';
import { grouped } from '../claims.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { DatabaseCosts, inWords, measuringSettings, type Spread, spreadOf } from './database-costs.ts';
import { endOfFeed } from './delivery-book.ts';
import { commitEvents, orderEvent, petEvent } from './event-source.ts';

export const heldSnapshot: Proof = {
  name: 'held-snapshot',
  promise: 'a backup that holds a snapshot slows down neither publishing nor the search for webhooks to send',
  /** In the mutant the publisher looks for events from the beginning of the outbox. */
  mutant: [
    {
      file: 'changes/events/event-queries.ts',
      from: 'not exists (select from outbox where id > published_to)',
      to: 'not exists (select from outbox)',
    },
    {
      file: 'changes/events/event-queries.ts',
      from: 'from outbox where id > (select published_to from feed) order by id',
      to: 'from outbox order by id',
    },
  ],
  runsAlone: true,
  isNightly: true,
  run,
};

interface Form {
  readonly endpoints: number;
  /** Each goes to every endpoint. */
  readonly eventsForAll: number;
  /** Of orders of a client without endpoints. */
  readonly otherEvents: number;
  readonly idleSeconds: number;
  readonly batches: number;
}

const forms: Record<'short' | 'long', Form> = {
  short: { endpoints: 100, eventsForAll: 100, otherEvents: 50_000, idleSeconds: 4, batches: 15 },
  long: { endpoints: 300, eventsForAll: 1_000, otherEvents: 1_000_000, idleSeconds: 15, batches: 60 },
};
const ratioMax = 3;
const batchSize = 100;
/** A worker needs some time to start, and some to notice that a transaction can't add more events. */
const settlingMs = 3_000;
const chunkSize = 10_000;
const rowReads = 200;
const timeoutMs = 20 * 60_000;

interface Costs {
  readonly publishingMs: Spread;
  /** Milliseconds of PostgreSQL in a second. */
  readonly looking: Spread;
  readonly feedRowMs: Spread;
}

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  const form = forms[short ? 'short' : 'long'];
  await using resources = new AsyncDisposableStack();
  const deliveries = form.endpoints * form.eventsForAll;
  const receiver = resources.use(await ReceiverThread.open({ servers: 4, arrivalsMax: 2 * deliveries }));
  const env = { LOG_LEVEL: 'warn', HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on' };
  const settings = { ...measuringSettings, autovacuum: 'on' };
  const store = resources.use(await Store.open({ processes: 0, root, env, settings }));
  const costs = resources.use(await DatabaseCosts.of(store));
  const writer = resources.use(await Writer.of(store, root));
  await addEndpoints(store, receiver, form.endpoints);
  const measure = async (what: string): Promise<Costs> => {
    progress(`${what}: publishing`);
    const publishingMs = await writer.timePublishing(form.batches);
    const worker = store.work();
    await sleep(settlingMs);
    progress(`${what}: idle`);
    const { msPerSecond: looking } = await costs.lookingForWork(form.idleSeconds);
    await store.stopWorker(worker);
    return { publishingMs, looking, feedRowMs: await timeFeedRow(store) };
  };
  const before = await measure('without a snapshot');
  const snapshot = resources.use(await holdSnapshot(store));
  const worker = store.work();
  const from = receiver.count;
  const events = await writer.write(form, progress);
  const deadlineMs = performance.now() + timeoutMs;
  while (receiver.count < from + deliveries && performance.now() < deadlineMs) {
    progress(`${grouped(receiver.count - from)} of ${grouped(deliveries)} deliveries`);
    await sleep(100);
  }
  const delivered = receiver.count - from;
  await sleep(settlingMs);
  await store.stopWorker(worker);
  const after = await measure('with a snapshot');
  return judge({ before, after, events, delivered, deliveries, versions: await countVersionsOfFeedRow(snapshot) });
}

async function addEndpoints(store: Store, { origins }: ReceiverThread, count: number): Promise<void> {
  const clientIds = await createClients(store, Math.ceil(count / 10));
  await addVerifiedEndpoints(
    store,
    Array.from({ length: count }, (_, i) => ({
      url: `${origins[i % origins.length]}/hooks/${i}`,
      clientId: clientIds[i % clientIds.length] ?? 0,
    })),
  );
}

/** Writes and publishes events. */
class Writer implements AsyncDisposable {
  readonly #store: Store;
  readonly #staff: Staff;
  readonly #pets: readonly bigint[];
  /** A client without endpoints. */
  readonly #clientId: number;
  readonly #publisher: Publisher;

  private constructor(store: Store, staff: Staff, pets: readonly bigint[], clientId: number, publisher: Publisher) {
    this.#store = store;
    this.#staff = staff;
    this.#pets = pets;
    this.#clientId = clientId;
    this.#publisher = publisher;
  }

  static async of(store: Store, root: string | undefined): Promise<Writer> {
    const [staff, pets, [clientId = 0]] = [
      await Staff.of(store, { byIndex: true }),
      await insertAnimals(store, 500),
      await createClients(store, 1),
    ];
    const module = root
      ? pathToFileURL(path.join(root, 'service/src/changes/events/publisher.ts')).href
      : '../../service/src/changes/events/publisher.ts';
    const { Publisher: Published } = (await import(module)) as { Publisher: typeof Publisher };
    const { db } = staff.dependencies;
    return new Writer(store, staff, pets, clientId, new Published({ db, batchSizeMax: batchSize, beforePublishing: async () => {} }));
  }

  /** The time that publishing a batch takes, while no worker runs. */
  async timePublishing(batches: number): Promise<Spread> {
    const timesMs: number[] = [];
    for (let i = 0; i < batches; i += 1) {
      const events = Array.from({ length: batchSize }, (_, n) => orderEvent(this.#pet(n), this.#clientId, n));
      await commitEvents(this.#staff.dependencies, events);
      const startMs = performance.now();
      const published = await this.#publisher.publish();
      timesMs.push(performance.now() - startMs);
      if (published !== batchSize) throw new Error(`${published} of ${batchSize} events were published`);
    }
    // Until its mark is at the end of the outbox, as that of a worker that goes on is.
    for (const endMs = performance.now() + settlingMs; performance.now() < endMs; ) {
      await this.#publisher.publish();
      await sleep(50);
    }
    return spreadOf(timesMs);
  }

  /** Returns how many events were written and published. */
  async write({ eventsForAll, otherEvents }: Form, progress: (text: string) => void): Promise<number> {
    const start = await endOfFeed(this.#store);
    const chunks = Math.ceil(otherEvents / chunkSize);
    let written = 0;
    for (let i = 0; i < chunks; i += 1) {
      await queryStore(
        this.#store,
        `insert into outbox (type, pet_id, client_id, data) select 'order.placed', $1, $2, $3 from generate_series(1, $4::int)`,
        [this.#pet(i), this.#clientId, orderEvent(this.#pet(i), this.#clientId, i).data, chunkSize],
      );
      const count = Math.round((eventsForAll * (i + 1)) / chunks) - Math.round((eventsForAll * i) / chunks);
      await commitEvents(
        this.#staff.dependencies,
        Array.from({ length: count }, (_, n) => petEvent(this.#pet(n), n)),
      );
      written += chunkSize + count;
      for (let end = 0; end < start + written; ) {
        end = await endOfFeed(this.#store);
        progress(`${grouped(end - start)} of ${grouped(otherEvents + eventsForAll)} events published`);
        await sleep(20);
      }
    }
    return written;
  }

  #pet(index: number): bigint {
    return this.#pets[index % this.#pets.length] ?? 1n;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#staff[Symbol.asyncDispose]();
  }
}

/** A transaction that holds a snapshot, as pg_dump does. */
async function holdSnapshot(store: Store): Promise<Connection> {
  const client = await connectTo(store.postgres.url);
  await client.query('create extension if not exists pgstattuple');
  await client.query('begin isolation level repeatable read');
  await client.query('select last_position from feed');
  return client;
}

/** Those that PostgreSQL has not removed, because the snapshot may need them. */
async function countVersionsOfFeedRow(snapshot: Connection): Promise<number> {
  const { rows } = await snapshot.query<{ count: number }>(
    `select (tuple_count + dead_tuple_count)::int as count from pgstattuple('feed')`,
  );
  return rows[0]?.count ?? 0;
}

/** The time to read the row of the feed by its index, as every poll does. Many reads in one statement, to leave out the round trip. */
async function timeFeedRow(store: Store): Promise<Spread> {
  await using client = await connectTo(store.postgres.url, { options: '-c jit=off -c enable_seqscan=off -c enable_bitmapscan=off' });
  const timesMs: number[] = [];
  for (let i = 0; i < 20; i += 1) {
    const startMs = performance.now();
    await client.query(`do $$ begin for i in 1..${rowReads} loop perform last_position from feed; end loop; end $$`);
    timesMs.push((performance.now() - startMs) / rowReads);
  }
  return spreadOf(timesMs);
}

interface Measured {
  readonly before: Costs;
  readonly after: Costs;
  readonly events: number;
  readonly delivered: number;
  readonly deliveries: number;
  readonly versions: number;
}

function judge({ before, after, events, delivered, deliveries, versions }: Measured): Claim[] {
  const compare = (claim: string, [first, second]: readonly [Spread, Spread], max: number): Claim => {
    const ratio = second.median / first.median;
    const digits = second.median < 0.1 ? 4 : 2;
    return {
      claim,
      bar: max === Infinity ? 'none' : `${max} times`,
      figure: `${ratio.toFixed(2)} times (${inWords(second, digits, 'ms')} against ${inWords(first, digits, 'ms')})`,
      holds: ratio <= max,
      isTimed: true,
    };
  };
  const held = `with a snapshot held over ${grouped(events)} events and ${grouped(deliveries)} deliveries, compared to before`;
  return [
    compare(`Time of PostgreSQL in a second while an idle worker looks for work, ${held}`, [before.looking, after.looking], ratioMax),
    compare(`Time to publish ${batchSize} events, likewise`, [before.publishingMs, after.publishingMs], ratioMax),
    compare(
      `Time to read the row of the feed, of which ${grouped(versions)} versions are stored`,
      [before.feedRowMs, after.feedRowMs],
      Infinity,
    ),
    {
      claim: 'Deliveries that arrived meanwhile',
      bar: 'all',
      figure: `${grouped(delivered)} of ${grouped(deliveries)}`,
      holds: delivered === deliveries,
    },
  ];
}
