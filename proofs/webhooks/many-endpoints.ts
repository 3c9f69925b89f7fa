// What an event costs may depend on the endpoints that get it, not on how many there are.
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type pg from 'pg';
import { Publisher } from '../../service/src/changes/events/publisher.ts';
import { insertAnimals } from '../../testkit/adopters.ts';
import { ReceiverThread } from '../../testkit/arrival-log.ts';
import { createClients } from '../../testkit/endpoints.ts';
import { connectTo } from '../../testkit/postgres.ts';
import { cpuMs } from '../../testkit/process-cpu.ts';
import { quantile } from '../../testkit/quantile.ts';
import { Staff } from '../../testkit/staff.ts';
import { Store } from '../../testkit/store.ts';
import { until } from '../../testkit/until.ts';
import { grouped } from '../claims.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { DatabaseCosts, inWords, measuringSettings, type Spread, spreadOf } from './database-costs.ts';
import { DeliveryBook, endOfFeed, publishedAfter } from './delivery-book.ts';
import { EndpointPopulation } from './endpoint-population.ts';
import { commitEvents, commitSteadily, orderEvent, petEvent } from './event-source.ts';
import type { SenderRate, SenderTask } from './sender-alone.ts';

export const manyEndpoints: Proof = {
  name: 'many-endpoints',
  promise: 'what an event costs depends on the endpoints that get it, and not on how many there are',
  /** In the mutant a worker that looks for changed endpoints reads all of them. */
  mutant: [
    {
      file: 'changes/delivery/endpoint-queries.ts',
      from: 'where is_changed and shard = any(',
      to: 'where is_changed::text = $$true$$ and shard + 0 = any(',
    },
  ],
  runsAlone: true,
  isNightly: true,
  run,
};

interface Form {
  /** The numbers of endpoints. The first two are compared; the last is compared with none. */
  readonly endpoints: readonly [number, number, ...number[]];
  /** By which the WAL of publishing is measured: enough that the split of a page of an index doesn't matter. */
  readonly publishedEvents: number;
  readonly idleSeconds: number;
  readonly steadyMs: number;
  /** At the second number of endpoints. */
  readonly burst: number;
  readonly backlog: { readonly endpoints: number; readonly events: number; readonly aloneEvents: number; readonly rounds: number };
}

const forms: Record<'short' | 'long', Form> = {
  short: {
    endpoints: [100, 2_000],
    publishedEvents: 150,
    idleSeconds: 4,
    steadyMs: 5_000,
    burst: 200,
    backlog: { endpoints: 1_000, events: 16, aloneEvents: 10, rounds: 1 },
  },
  long: {
    endpoints: [100, 10_000, 100_000],
    publishedEvents: 1_000,
    idleSeconds: 15,
    steadyMs: 40_000,
    burst: 1_000,
    backlog: { endpoints: 10_000, events: 64, aloneEvents: 8, rounds: 3 },
  },
};

const perSecond = 8;
/** Clients without endpoints. */
const strangers = 50;
const servers = 4;
const arrivalsMax = 4_000_000;
/** As many as a worker has in flight while all receivers are fast. */
const inFlightMax = 256;
const idleRatioMax = 3;
const publishingRatioMax = 1.1;
const walOfDeliveryMax = 300;
const firstSendMaxMs = 2_000;
const feedDelayMaxMs = 200;
const backlogShareMin = 0.8;
/** The bar is missed where PostgreSQL, the worker and the receivers share two cores with other work. Less than this is a fault. */
const backlogShareKnown = 0.4;
const feedPollMs = 5;
const arrivalTimeoutMs = 60_000;
const backlogTimeoutMs = 600_000;

/** One of 50 of the first 10,000 endpoints gets everything, which is 0.2% of 100,000. The others get their client's orders. */
const isForAll = (number: number) => number < 10_000 && number % 50 === 0;

async function run(context: ProofContext): Promise<Claim[]> {
  const form = forms[context.short ? 'short' : 'long'];
  const scaling = await measureScaling(context, form);
  return [...scaling, ...(await measureBacklog(context, form))];
}

interface AtSize {
  readonly endpoints: number;
  readonly idle: Spread;
  readonly idleCalls: number;
  /** Bytes for each event. */
  readonly publishing: { readonly record: number; readonly publish: number };
  readonly walOfDelivery: number;
  readonly deliveries: number;
  readonly feedDelaysMs: readonly number[];
}

async function measureScaling({ root, progress }: ProofContext, form: Form): Promise<Claim[]> {
  await using resources = new AsyncDisposableStack();
  const receiver = resources.use(await ReceiverThread.open({ servers, arrivalsMax }));
  const site = resources.use(await Site.open(root, receiver));
  const none = await site.measurePublishing(form.publishedEvents);
  const measured: AtSize[] = [];
  let burst: Burst | undefined;
  for (const [i, endpoints] of form.endpoints.entries()) {
    progress(`adding endpoints up to ${grouped(endpoints)}`);
    await site.population.growTo(endpoints, isForAll);
    progress(`${grouped(endpoints)} endpoints: publishing`);
    const publishing = await site.measurePublishing(form.publishedEvents);
    const worker = site.store.work();
    await site.untilDelivered();
    progress(`${grouped(endpoints)} endpoints: idle`);
    const { msPerSecond: idle, calls: idleCalls } = await site.costs.lookingForWork(form.idleSeconds);
    const steady = await site.measureSteady(form.steadyMs, (text) => progress(`${grouped(endpoints)} endpoints: ${text}`));
    const walOfEvents = steady.events * (publishing.record + publishing.publish);
    measured.push({
      endpoints,
      idle,
      idleCalls,
      publishing,
      walOfDelivery: (steady.wal - walOfEvents) / steady.deliveries,
      deliveries: steady.deliveries,
      feedDelaysMs: steady.feedDelaysMs,
    });
    if (i === 1) {
      progress(`${grouped(endpoints)} endpoints: a burst`);
      burst = await site.measureBurst(form.burst);
    }
    await site.store.stopWorker(worker);
  }
  return [...judgeScaling(none.publish, measured), ...(burst ? judgeBurst(burst, form) : []), judgeDeliveries(site.book, 'Deliveries')];
}

interface Burst {
  readonly deliveries: number;
  readonly firstMs: number;
  readonly lastFirstMs: number;
  readonly endpoints: number;
  readonly allMs: number;
}

/** A store without processes but its workers, its endpoints and what they must get. */
class Site implements AsyncDisposable {
  readonly store: Store;
  readonly population: EndpointPopulation;
  readonly costs: DatabaseCosts;
  readonly book: DeliveryBook;
  readonly #staff: Staff;
  readonly #receiver: ReceiverThread;
  readonly #pets: readonly bigint[];
  readonly #strangerIds: readonly number[];
  #expectedTo = 0;

  private constructor(parts: {
    store: Store;
    staff: Staff;
    receiver: ReceiverThread;
    costs: DatabaseCosts;
    pets: bigint[];
    strangerIds: number[];
  }) {
    this.store = parts.store;
    this.costs = parts.costs;
    this.population = new EndpointPopulation(parts.store, parts.receiver.origins);
    this.book = new DeliveryBook(parts.receiver);
    this.#staff = parts.staff;
    this.#receiver = parts.receiver;
    this.#pets = parts.pets;
    this.#strangerIds = parts.strangerIds;
  }

  static async open(root: string | undefined, receiver: ReceiverThread): Promise<Site> {
    const env = { LOG_LEVEL: 'warn', HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on' };
    const store = await Store.open({ processes: 0, root, env, settings: measuringSettings });
    const [staff, costs, pets] = [await Staff.of(store), await DatabaseCosts.of(store), await insertAnimals(store, 500)];
    const strangerIds = await createClients(store, strangers);
    return new Site({ store, staff, receiver, costs, pets, strangerIds });
  }

  /** Of two events one is about an animal, the other about an order of a random client. */
  readonly #event = (index: number) => {
    const petId = this.#pets[index % this.#pets.length] ?? 1n;
    const clientIds = this.population.count > 0 ? this.population.clientIds : this.#strangerIds;
    const clientId = clientIds[Math.floor(Math.random() * clientIds.length)] ?? 0;
    return index % 2 === 0 ? petEvent(petId, 1_000_000 + index) : orderEvent(petId, clientId, 1_000_000 + index);
  };

  /** The bytes of WAL for each event, while no worker runs: first recorded in the change's transaction, then published. */
  async measurePublishing(count: number): Promise<{ record: number; publish: number }> {
    const publisher = this.publisher(1);
    let [record, publish] = [0, 0];
    for (let i = 0; i < count; i += 1) {
      record += await this.costs.walOf(() => commitEvents(this.#staff.dependencies, [this.#event(i)]));
      publish += await this.costs.walOf(() => publisher.publish());
    }
    await this.#expectPublished();
    return { record: record / count, publish: publish / count };
  }

  publisher(batchSizeMax: number): Publisher {
    return new Publisher({ db: this.#staff.dependencies.db, batchSizeMax, beforePublishing: async () => {} });
  }

  /** Publishes events for everyone, and returns what an endpoint gets for each. */
  async publish(count: number): Promise<string[]> {
    const events = Array.from({ length: count }, (_, i) => petEvent(this.#pets[i % this.#pets.length] ?? 1n, 1_000_000 + i));
    const end = (await endOfFeed(this.store)) + count;
    await commitEvents(this.#staff.dependencies, events);
    const publisher = this.publisher(count);
    // A worker may publish them too.
    while ((await endOfFeed(this.store)) < end) await publisher.publish();
    await this.#expectPublished();
    return events.map(
      ({ type, data }, i) =>
        `{"id":"evt_${end - count + i + 1}","type":"${type}","createdAt":"${new Date().toISOString()}","data":${data}}`,
    );
  }

  async measureSteady(forMs: number, progress: (text: string) => void) {
    const before = { wal: await this.costs.wal(), deliveries: this.book.total, position: await endOfFeed(this.store) };
    await using watch = await FeedWatch.of(this.store);
    const committedAtMs = await commitSteadily(this.#staff.dependencies, { perSecond, forMs, event: this.#event, progress });
    const last = before.position + committedAtMs.length;
    await watch.until(last);
    await this.untilDelivered();
    return {
      events: committedAtMs.length,
      deliveries: this.book.total - before.deliveries,
      wal: (await this.costs.wal()) - before.wal,
      feedDelaysMs: committedAtMs.map((atMs, i) => (watch.visibleAtMs[before.position + i + 1] ?? Infinity) - atMs),
    };
  }

  async measureBurst(count: number): Promise<Burst> {
    const [arrivedBefore, dueBefore] = [this.#receiver.count, this.book.total];
    const end = (await endOfFeed(this.store)) + count;
    const atMs = await commitEvents(
      this.#staff.dependencies,
      Array.from({ length: count }, (_, i) => this.#event(i)),
    );
    while ((await endOfFeed(this.store)) < end) await sleep(feedPollMs);
    await this.untilDelivered();
    const firstOf = new Map<number, number>();
    let lastMs = 0;
    for (const { endpoint, atMs: arrivedAtMs } of this.#receiver.arrivals(arrivedBefore)) {
      if (!firstOf.has(endpoint)) firstOf.set(endpoint, arrivedAtMs - atMs);
      lastMs = arrivedAtMs - atMs;
    }
    const firsts = [...firstOf.values()];
    return {
      deliveries: this.book.total - dueBefore,
      endpoints: firsts.length,
      firstMs: Math.min(...firsts),
      lastFirstMs: Math.max(...firsts),
      allMs: lastMs,
    };
  }

  /** Waits until everything published so far has arrived. */
  async untilDelivered(timeoutMs = arrivalTimeoutMs): Promise<void> {
    await this.#expectPublished();
    const deadlineMs = performance.now() + timeoutMs;
    while (this.book.left > 0) {
      if (performance.now() > deadlineMs)
        throw new Error(`${grouped(this.book.left)} of ${grouped(this.book.total)} deliveries did not arrive`);
      await sleep(50);
    }
  }

  async #expectPublished(): Promise<void> {
    const events = await publishedAfter(this.store, this.#expectedTo);
    this.#expectedTo = events.at(-1)?.position ?? this.#expectedTo;
    this.book.expect(events, (clientId) => this.population.endpointsFor(clientId));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.costs[Symbol.asyncDispose]();
    await this.#staff[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
  }
}

/** Notes when each position of the feed becomes visible to another connection. */
class FeedWatch implements AsyncDisposable {
  readonly visibleAtMs: number[] = [];
  readonly #client: pg.Client;
  readonly #polling: Promise<void>;
  #last = 0;
  #isStopped = false;

  private constructor(client: pg.Client, last: number) {
    this.#client = client;
    this.#last = last;
    this.#polling = this.#poll();
  }

  static async of(store: Store): Promise<FeedWatch> {
    return new FeedWatch(await connectTo(store.postgres.url), await endOfFeed(store));
  }

  async until(position: number): Promise<void> {
    await until(`position ${position} is published`, () => this.#last >= position, { intervalMs: feedPollMs });
  }

  async #poll(): Promise<void> {
    while (!this.#isStopped) {
      const { rows } = await this.#client.query<{ last: number }>('select last_position::int as last from feed');
      for (const last = rows[0]?.last ?? 0; this.#last < last; ) {
        this.#last += 1;
        this.visibleAtMs[this.#last] = Date.now();
      }
      await sleep(feedPollMs);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await this.#polling;
    await this.#client.end();
  }
}

function judgeScaling(publishingWithout: number, measured: readonly AtSize[]): Claim[] {
  const [small, middle] = measured;
  const largest = measured.at(-1);
  if (!small || !middle || !largest) throw new Error('too few sizes were measured');
  const idleRatio = middle.idle.median / small.idle.median;
  const publishingRatio = largest.publishing.publish / publishingWithout;
  const worstWal = Math.max(...measured.map(({ walOfDelivery }) => walOfDelivery));
  const p99Ms = quantile(largest.feedDelaysMs, 0.99);
  return [
    {
      claim: `Time of PostgreSQL while an idle worker looks for work, at ${grouped(middle.endpoints)} endpoints compared to ${grouped(small.endpoints)}`,
      bar: `${idleRatioMax} times`,
      figure: `${idleRatio.toFixed(2)} times (${measured.map(({ endpoints, idle, idleCalls }) => `${inWords(idle, 2, 'ms')} a second in ${Math.round(idleCalls)} statements at ${grouped(endpoints)}`).join(', ')})`,
      holds: idleRatio <= idleRatioMax,
      isTimed: true,
    },
    {
      claim: `WAL of publishing an event at ${grouped(largest.endpoints)} endpoints, compared to none`,
      bar: `${publishingRatioMax} times`,
      figure: `${publishingRatio.toFixed(3)} times (${Math.round(largest.publishing.publish)} against ${Math.round(publishingWithout)} bytes)`,
      holds: publishingRatio <= publishingRatioMax && publishingRatio >= 2 - publishingRatioMax,
    },
    {
      claim: `WAL of a delivery, without full-page images, at ${perSecond} events a second`,
      bar: `${walOfDeliveryMax} bytes`,
      figure: measured
        .map(
          ({ endpoints, walOfDelivery, deliveries }) =>
            `${Math.round(walOfDelivery)} at ${grouped(endpoints)} (${grouped(deliveries)} deliveries)`,
        )
        .join(', '),
      holds: worstWal <= walOfDeliveryMax,
    },
    {
      claim: `Time from the commit until the event is in the feed, p99, at ${grouped(largest.endpoints)} endpoints`,
      bar: `${feedDelayMaxMs} ms`,
      figure: `${Math.round(p99Ms)} ms (median ${measured.map(({ endpoints, feedDelaysMs }) => `${Math.round(quantile(feedDelaysMs, 0.5))} at ${grouped(endpoints)}`).join(', ')})`,
      holds: p99Ms <= feedDelayMaxMs,
      isTimed: true,
    },
  ];
}

function judgeBurst({ deliveries, endpoints, firstMs, lastFirstMs, allMs }: Burst, form: Form): Claim[] {
  return [
    {
      claim: `Time from the commit of ${grouped(form.burst)} events at ${grouped(form.endpoints[1])} endpoints until the first request arrives`,
      bar: `${firstSendMaxMs / 1_000} s`,
      figure: `${(firstMs / 1_000).toFixed(2)} s (at the last of ${grouped(endpoints)} endpoints after ${(lastFirstMs / 1_000).toFixed(2)} s; all ${grouped(deliveries)} after ${(allMs / 1_000).toFixed(1)} s)`,
      holds: firstMs <= firstSendMaxMs,
      isTimed: true,
    },
  ];
}

function judgeDeliveries(book: DeliveryBook, which: string): Claim {
  const { twice, wrong } = book.faults;
  return {
    claim: `${which} that are missing, arrived twice, or at an endpoint that must not get them`,
    bar: '0',
    figure: `${grouped(book.left)}, ${grouped(twice)} and ${grouped(wrong)} of ${grouped(book.total)}`,
    holds: book.left + twice + wrong === 0,
  };
}

/** The worker is down while events are published that all endpoints get. */
async function measureBacklog({ root, progress }: ProofContext, { backlog }: Form): Promise<Claim[]> {
  await using resources = new AsyncDisposableStack();
  const receiver = resources.use(await ReceiverThread.open({ servers, arrivalsMax }));
  const site = resources.use(await Site.open(root, receiver));
  progress(`adding ${grouped(backlog.endpoints)} endpoints`);
  await site.population.growTo(backlog.endpoints, () => true);
  // The worker has seen all endpoints before it is stopped.
  const worker = site.store.work();
  await site.publish(1);
  await site.untilDelivered();
  await site.store.stopWorker(worker);
  const bodies = await site.publish(backlog.events);
  const { endpoints, events, aloneEvents } = backlog;
  const task = { origins: receiver.origins, endpoints, bodies: bodies.slice(0, aloneEvents), inFlightMax };
  progress('the sender alone');
  let before = await runSender(task);
  const rounds: Round[] = [];
  for (let i = 0; i < backlog.rounds; i += 1) {
    if (i > 0) await site.publish(events);
    progress(`the backlog, ${i + 1} of ${backlog.rounds}`);
    const worker = await workOff(site, receiver, endpoints * events);
    progress('the sender alone');
    const after = await runSender(task);
    const alone = {
      perSecond: (before.perSecond + after.perSecond) / 2,
      cpuUs: (before.cpuUs + after.cpuUs) / 2,
      failed: before.failed + after.failed,
    };
    rounds.push({ share: worker.perSecond / alone.perSecond, worker, alone });
    before = after;
  }
  return [...judgeBacklog(rounds, backlog), judgeDeliveries(site.book, 'Deliveries of the backlogs')];
}

interface Round {
  readonly share: number;
  readonly worker: Pick<SenderRate, 'perSecond' | 'cpuUs'>;
  /** Of the sender before and after. */
  readonly alone: SenderRate;
}

/** Starts a worker and stops it when it has delivered so many. Returns its rate, from the first request to the last. */
async function workOff(site: Site, receiver: ReceiverThread, deliveries: number): Promise<Round['worker']> {
  const from = receiver.count;
  const worker = site.store.work();
  const deadlineMs = performance.now() + backlogTimeoutMs;
  while (receiver.count < from + deliveries && performance.now() < deadlineMs) await sleep(50);
  const cpuUs = (cpuMs(worker.pid ?? 0) * 1_000) / deliveries;
  const timesMs = [...receiver.arrivals(from)].map(({ atMs }) => atMs);
  await site.store.stopWorker(worker);
  return { perSecond: ((timesMs.length - 1) * 1_000) / ((timesMs.at(-1) ?? Infinity) - (timesMs[0] ?? 0)), cpuUs };
}

function judgeBacklog(rounds: readonly Round[], { endpoints, events }: Form['backlog']): Claim[] {
  const share = spreadOf(rounds.map((round) => round.share));
  const rates = rounds.map(
    ({ worker, alone }) =>
      `${grouped(Math.round(worker.perSecond))} against ${grouped(Math.round(alone.perSecond))} a second, with ${Math.round(worker.cpuUs)} against ${Math.round(alone.cpuUs)} µs of CPU time each`,
  );
  return [
    {
      claim: `Rate at which a worker works off a backlog of ${grouped(events)} events for each of ${grouped(endpoints)} endpoints, compared to its sender alone`,
      bar: `${backlogShareMin} times`,
      figure: `${share.median.toFixed(2)} times (${rates.join('; ')})`,
      holds: share.median >= backlogShareMin && rounds.every(({ alone }) => alone.failed === 0),
      isTimed: true,
      isKnownMiss: share.median >= backlogShareKnown,
    },
  ];
}

async function runSender(task: SenderTask): Promise<SenderRate> {
  const running = promisify(execFile)(process.execPath, [fileURLToPath(new URL('./sender-alone.ts', import.meta.url))]);
  running.child.stdin?.end(JSON.stringify(task));
  return JSON.parse((await running).stdout) as SenderRate;
}
