// Endpoints that want the animals of one shelter: each event goes to those that want it, at a cost that does not depend on the others.

import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { recordEvents } from '../../service/src/changes/events/events.ts';
import { theService } from '../../service/src/domain/actor.ts';
import { insertAnimals, queryStore } from '../../testkit/adopters.ts';
import { ReceiverThread } from '../../testkit/arrival-log.ts';
import { addVerifiedEndpoints, createClients, type NewEndpoint, settleEndpoints } from '../../testkit/endpoints.ts';
import { cpuMs } from '../../testkit/process-cpu.ts';
import { quantile } from '../../testkit/quantile.ts';
import { Staff } from '../../testkit/staff.ts';
import { Store } from '../../testkit/store.ts';
import { until } from '../../testkit/until.ts';
import { grouped } from '../claims.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { DeliveryBook, endOfFeed } from './delivery-book.ts';
import type { MatchingCost, MatchingTask } from './matching-alone.ts';

export const subscriptions: Proof = {
  name: 'subscriptions',
  promise: 'an endpoint gets the events of the shelters that it wants and no others, and the others cost it nothing',
  // The mutant forgets the shelter that an animal was in before.
  mutant: [
    {
      file: 'domain/event-types.ts',
      from: 'hasOneOf(shelterIds, event.shelterId, event.previousShelterId)',
      to: 'hasOneOf(shelterIds, event.shelterId, null)',
    },
  ],
  runsAlone: true,
  isNightly: true,
  about: [
    'service/src/changes',
    'service/src/domain/event-types.ts',
    'proofs/webhooks/subscriptions.ts',
    'proofs/webhooks/matching-alone.ts',
  ],
  run,
};

interface Form {
  /** The costs at the two are compared. */
  readonly endpoints: readonly [number, number];
  readonly shelters: number;
  readonly seconds: number;
  readonly matched: number;
}

const forms: Record<'short' | 'long', Form> = {
  short: { endpoints: [1_000, 10_000], shelters: 2_000, seconds: 10, matched: 100_000 },
  long: { endpoints: [1_000, 100_000], shelters: 20_000, seconds: 600, matched: 1_000_000 },
};
/** Endpoints without a filter, at every size. */
const unfiltered = 10;
const perSecond = 40;
const animals = 500;
/** One event of so many is a move. */
const moveEvery = 5;
const insertSizeMax = 10_000;
const cpuRatioMax = 1.2;
const delayMaxMs = 1_000;
const matchingMaxUs = 50;
const arrivalsMax = 4_000_000;
const arrivalTimeoutMs = 60_000;
const startTimeoutMs = 120_000;
const endpointsOfClient = 20;
const heapMegabytes = 8_000;

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  const form = forms[short ? 'short' : 'long'];
  await using resources = new AsyncDisposableStack();
  const receiver = resources.use(await ReceiverThread.open({ servers: 4, arrivalsMax }));
  const env = { LOG_LEVEL: 'warn', HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on' };
  const store = resources.use(await Store.open({ processes: 0, root, env }));
  const staff = resources.use(await Staff.of(store));
  await queryStore(store, `insert into shelters (name) select 'Shelter ' || i from generate_series(2, $1::int) as i`, [form.shelters]);
  const pets = await insertAnimals(store, animals);
  await queryStore(store, 'update pets set shelter_id = 1 + id % $1', [form.shelters]);
  const crowd = new Crowd(store, receiver, form.shelters);
  const measured: Measured[] = [];
  for (const endpoints of form.endpoints) {
    progress(`${grouped(endpoints)} endpoints`);
    await crowd.growTo(endpoints);
    measured.push(await measure({ store, staff, receiver, crowd, pets, form, progress }));
  }
  progress('matching alone');
  const cost = await matchAlone({ endpoints: form.matched, shelters: form.shelters, unfiltered, events: 20_000 });
  return [...judge(measured), judgeMatching(cost, form)];
}

/** Endpoints, most of which want one shelter, with the numbers that are in their URLs. */
class Crowd {
  readonly #store: Store;
  readonly #receiver: ReceiverThread;
  readonly #shelters: number;
  readonly #all: number[] = [];
  readonly #ofShelter = new Map<number, number[]>();
  count = 0;

  constructor(store: Store, receiver: ReceiverThread, shelters: number) {
    this.#store = store;
    this.#receiver = receiver;
    this.#shelters = shelters;
  }

  async growTo(total: number): Promise<void> {
    while (this.count < total) {
      const size = Math.min(insertSizeMax, total - this.count);
      const clients = await createClients(this.#store, Math.ceil(size / endpointsOfClient));
      await addVerifiedEndpoints(
        this.#store,
        Array.from({ length: size }, (_, i) => this.#next(clients[i % clients.length] ?? 0)),
      );
    }
    await settleEndpoints(this.#store);
  }

  /** Those that want one of these shelters, or every one. */
  wanting(shelters: readonly number[]): number[] {
    return [...this.#all, ...new Set(shelters.flatMap((shelter) => this.#ofShelter.get(shelter) ?? []))];
  }

  #next(clientId: number): NewEndpoint {
    const number = this.count;
    this.count += 1;
    const { origins } = this.#receiver;
    const url = `${origins[number % origins.length]}/hooks/${number}`;
    if (number < unfiltered) {
      this.#all.push(number);
      return { url, clientId };
    }
    const shelter = 1 + (number % this.#shelters);
    this.#ofShelter.set(shelter, [...(this.#ofShelter.get(shelter) ?? []), number]);
    return { url, clientId, shelterIds: [shelter] };
  }
}

interface Setting {
  readonly store: Store;
  readonly staff: Staff;
  readonly receiver: ReceiverThread;
  readonly crowd: Crowd;
  readonly pets: readonly bigint[];
  readonly form: Form;
  progress(text: string): void;
}

interface Measured {
  readonly endpoints: number;
  readonly deliveries: number;
  readonly left: number;
  readonly twice: number;
  readonly wrong: number;
  readonly outOfOrder: number;
  readonly cpuUs: number;
  readonly delaysMs: readonly number[];
  /** From the worker's start until it sent an event. */
  readonly startMs: number;
}

/** What the proof itself knows of an event that it has caused. */
interface Caused {
  readonly petId: bigint;
  readonly shelters: readonly number[];
  readonly atMs: number;
}

async function measure(setting: Setting): Promise<Measured> {
  const { store, receiver, crowd, pets, form, progress } = setting;
  const startedAtMs = performance.now();
  const worker = store.work();
  await untilServed(setting);
  const startMs = performance.now() - startedAtMs;
  const [from, arrivedBefore] = [await endOfFeed(store), receiver.count];
  const cpuBefore = cpuMs(worker.pid ?? 0);
  const caused = new Map<number, Caused>();
  const firstAtMs = performance.now();
  for (let i = 0; i < form.seconds * perSecond; i += 1) {
    const aheadMs = firstAtMs + (i * 1_000) / perSecond - performance.now();
    if (aheadMs > 0) await sleep(aheadMs);
    if (i % perSecond === 0) progress(`${grouped(crowd.count)} endpoints: ${i / perSecond} of ${form.seconds} s`);
    const petId = pets[Math.floor(Math.random() * pets.length)] ?? 1n;
    caused.set(i, await cause(setting, petId, i));
  }
  const published = await untilPublished(store, from, caused.size);
  const book = new DeliveryBook(receiver, arrivedBefore);
  book.expectAt(published.map(({ position, number }) => ({ position, endpoints: crowd.wanting(caused.get(number)?.shelters ?? []) })));
  const deadlineMs = performance.now() + arrivalTimeoutMs;
  while (book.left > 0 && performance.now() < deadlineMs) await sleep(50);
  const cpuUs = ((cpuMs(worker.pid ?? 0) - cpuBefore) * 1_000) / book.total;
  await store.stopWorker(worker);
  const causedAt = new Map(published.map(({ position, number }) => [position, caused.get(number)]));
  const lastOf = new Map<string, number>();
  const delaysMs: number[] = [];
  let outOfOrder = 0;
  for (const { endpoint, position, atMs } of receiver.arrivals(arrivedBefore)) {
    const event = causedAt.get(position);
    if (!event) continue;
    delaysMs.push(atMs - event.atMs);
    const line = `${endpoint} ${event.petId}`;
    if ((lastOf.get(line) ?? 0) > position) outOfOrder += 1;
    lastOf.set(line, position);
  }
  return { endpoints: crowd.count, deliveries: book.total, left: book.left, ...book.faults, outOfOrder, cpuUs, delaysMs, startMs };
}

/** A worker reads all endpoints before it sends. */
async function untilServed(setting: Setting): Promise<void> {
  const { receiver, crowd, pets } = setting;
  const before = receiver.count;
  const { shelters } = await cause(setting, pets[0] ?? 1n, 1);
  const wanted = crowd.wanting(shelters).length;
  await until('a worker that has started sends an event', () => receiver.count >= before + wanted, { timeoutMs: startTimeoutMs });
}

/** Changes an animal, or moves it to another shelter, as the service does. */
async function cause({ staff, form }: Setting, petId: bigint, number: number): Promise<Caused> {
  const shelters = await staff.dependencies.db.transaction(async (tx) => {
    const { rows } = await tx.query<{ shelter: number }>({
      text: 'select shelter_id::int as shelter from pets where id = $1 for update',
      values: [petId],
    });
    const shelter = rows[0]?.shelter ?? 0;
    const pet = `{"pet":{"id":${petId},"name":"${number}","categoryId":1,"status":"available"}`;
    if (number % moveEvery > 0) {
      await recordEvents(tx, { type: 'pet.updated', petId, clientId: null, data: `${pet}}` });
      return [shelter];
    }
    const to = (shelter % form.shelters) + 1;
    await tx.query({ text: 'update pets set shelter_id = $2 where id = $1', values: [petId, to] });
    await recordEvents(tx, { type: 'pet.moved', petId, clientId: null, data: `${pet},"shelterId":${to},"previousShelterId":${shelter}}` });
    return [shelter, to];
  }, theService);
  return { petId, shelters, atMs: Date.now() };
}

async function untilPublished(store: Store, from: number, count: number): Promise<ReadonlyArray<{ position: number; number: number }>> {
  const deadlineMs = performance.now() + arrivalTimeoutMs;
  while ((await endOfFeed(store)) < from + count) {
    if (performance.now() > deadlineMs) throw new Error('the events were not published');
    await sleep(50);
  }
  return queryStore(
    store,
    `select position::int, (data::json #>> '{pet,name}')::int as number from events where position > $1 order by position`,
    [from],
  );
}

function judge(measured: readonly Measured[]): Claim[] {
  const [small, large] = measured;
  if (!small || !large) throw new Error('two sizes are compared');
  const sum = (of: (one: Measured) => number) => measured.reduce((total, one) => total + of(one), 0);
  const faults = [sum(({ left }) => left), sum(({ twice }) => twice), sum(({ wrong }) => wrong), sum(({ outOfOrder }) => outOfOrder)];
  const ratio = large.cpuUs / small.cpuUs;
  const p99Ms = quantile(large.delaysMs, 0.99);
  const sizes = `${perSecond} events a second, one of ${moveEvery} a move`;
  return [
    {
      claim: `Deliveries that are missing, arrived twice, at an endpoint that does not want them, or out of order (${sizes})`,
      bar: '0',
      figure: `${faults.map(grouped).join(', ')} of ${grouped(sum(({ deliveries }) => deliveries))}`,
      holds: faults.every((count) => count === 0),
    },
    {
      claim: `The worker's CPU time for a delivery at ${grouped(large.endpoints)} endpoints, compared to ${grouped(small.endpoints)}`,
      bar: `${cpuRatioMax} times`,
      figure: `${ratio.toFixed(2)} times (${Math.round(large.cpuUs)} against ${Math.round(small.cpuUs)} µs)`,
      holds: ratio <= cpuRatioMax,
    },
    {
      claim: `Time from the commit until an event arrives, p99, at ${grouped(large.endpoints)} endpoints`,
      bar: `${delayMaxMs} ms`,
      figure: `${Math.round(p99Ms)} ms (median ${Math.round(quantile(large.delaysMs, 0.5))} ms; a worker that starts takes ${(large.startMs / 1_000).toFixed(1)} s until it sends)`,
      holds: p99Ms <= delayMaxMs,
      isTimed: true,
    },
  ];
}

function judgeMatching({ cpuUs, megabytes, wrong }: MatchingCost, { matched }: Form): Claim {
  return {
    claim: `CPU time by which an event finds its endpoints among ${grouped(matched)}; endpoints that it misses or finds wrongly`,
    bar: `${matchingMaxUs} µs; 0`,
    figure: `${cpuUs.toFixed(1)} µs; ${wrong} (${Math.round(megabytes)} MB of memory for the endpoints)`,
    holds: cpuUs <= matchingMaxUs && wrong === 0,
  };
}

async function matchAlone(task: MatchingTask): Promise<MatchingCost> {
  const script = fileURLToPath(new URL('./matching-alone.ts', import.meta.url));
  const running = promisify(execFile)(process.execPath, [`--max-old-space-size=${heapMegabytes}`, '--expose-gc', script]);
  running.child.stdin?.end(JSON.stringify(task));
  return JSON.parse((await running).stdout) as MatchingCost;
}
