// Workers are killed while they deliver, and receivers are slow, fail and reset connections: every event arrives, each animal's in order.
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dependencies } from '../../service/src/dependencies.ts';
import { recordEvents } from '../../service/src/events/events.ts';
import { castOf, queryStore } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import { plantMutant } from '../../testkit/mutant.ts';
import { Staff } from '../../testkit/staff.ts';
import { type Key, Store } from '../../testkit/store.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { type Behaviour, Receiver } from './receivers.ts';

export const webhooks: Proof = {
  name: 'webhooks',
  promise: "every event reaches every endpoint, each animal's in order, while workers are killed and receivers fail",
  hasMutant: true,
  run,
};

interface Size {
  readonly events: number;
  readonly animals: number;
  readonly kills: number;
  readonly killEveryMs: number;
  readonly timeoutMs: number;
}

const sizes: Record<'short' | 'long', Size> = {
  // One kill causes up to a hundred duplicates at any size, so the bar on their share needs enough events.
  short: { events: 800, animals: 80, kills: 1, killEveryMs: 4_000, timeoutMs: 60_000 },
  long: { events: 10_000, animals: 500, kills: 50, killEveryMs: 3_000, timeoutMs: 900_000 },
};
const behaviours: Behaviour[] = [
  ...Array<Behaviour>(10).fill('quick'),
  ...Array<Behaviour>(4).fill('slow'),
  ...Array<Behaviour>(3).fill('failing'),
  ...Array<Behaviour>(3).fill('resetting'),
];
const workers = 2;
const batch = 50;
/** A killed worker's lease would expire after 30 s. The proof ends it after this time instead. */
const leaseAgeSeconds = 4;
const leaseSeconds = 30;
const duplicatesMax = 0.01;

async function run({ short, mutant, progress }: ProofContext): Promise<Claim[]> {
  using tree = mutant
    ? plantMutant([
        {
          file: 'webhooks/delivery-queries.ts',
          from: 'coalesce(first.id, queued.id) as id',
          to: 'queued.id as id',
        },
      ])
    : undefined;
  const size = sizes[short ? 'short' : 'long'];
  await using resources = new AsyncDisposableStack();
  const receivers = await Promise.all(behaviours.map(async (manner) => resources.use(await Receiver.open(manner))));
  const env = { LOG_LEVEL: 'warn', HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on' };
  const store = resources.use(await Store.open({ processes: 1, root: tree?.root, env }));
  const { partners } = await castOf(store, 1);
  const [partner] = partners;
  if (!partner) throw new Error('no partner');
  await addEndpoints(store, partner, receivers);
  const staff = resources.use(await Staff.of(store));
  const pets = await addPets(store, size.animals);

  const running = Array.from({ length: workers }, () => store.work());
  const writing = writeEvents(staff.dependencies, pets, size);
  const killed = await killWorkers(store, running, size, progress);
  await writing;
  const deadlineMs = Date.now() + size.timeoutMs;
  for (let left = Infinity; left > 0; ) {
    if (Date.now() > deadlineMs) break;
    await scaleTime(store);
    const [row] = await queryStore<{ left: number }>(
      store,
      `select (select count(*) from outbox)::int + count(*)::int as left from deliveries where status = 'pending'`,
    );
    left = row?.left ?? 0;
    progress(`${left.toLocaleString('en')} deliveries left`);
    await sleep(250);
  }
  return judge(receivers, size, killed);
}

export async function addEndpoints(store: Store, partner: Key, receivers: readonly Receiver[]): Promise<void> {
  using http = new HttpClient();
  for (const { url } of receivers) {
    const added = await http.send(`${store.processes[0]?.url}/webhooks`, { method: 'POST', key: partner.key, body: { url } });
    if (added.status !== 201) throw new Error(`an endpoint was not added: ${added.text}`);
  }
}

export async function addPets(store: Store, count: number): Promise<bigint[]> {
  const rows = await queryStore<{ id: string }>(
    store,
    `insert into pets (name, category_id, status) select 'Animal', 1, 'available' from generate_series(1, $1) returning id::text`,
    [count],
  );
  return rows.map(({ id }) => BigInt(id));
}

/** Records events as every change does, in transactions of several; the animals take turns, and each name has the event's number. */
async function writeEvents({ db }: Dependencies, pets: readonly bigint[], { events, kills, killEveryMs }: Size): Promise<void> {
  const pauseMs = (0.8 * kills * killEveryMs * batch) / events;
  for (let from = 0; from < events; from += batch) {
    const startMs = performance.now();
    await db.transaction((tx) =>
      recordEvents(
        tx,
        ...Array.from({ length: Math.min(batch, events - from) }, (_, i) => {
          const petId = pets[(from + i) % pets.length] ?? 1n;
          const pet = `{"id":${petId},"name":"${from + i}","categoryId":1,"status":"available"}`;
          return { type: 'pet.updated', petId, clientId: null, data: `{"pet":${pet}}` } as const;
        }),
      ),
    );
    await sleep(Math.max(pauseMs - (performance.now() - startMs), 0));
  }
}

async function killWorkers(store: Store, running: ChildProcess[], size: Size, progress: ProofContext['progress']): Promise<number> {
  // Wait until the workers deliver.
  for (let tries = 0; tries < 400; tries += 1) {
    const [row] = await queryStore<{ delivered: boolean }>(
      store,
      `select exists (select from deliveries where status = 'delivered') as delivered`,
    );
    if (row?.delivered) break;
    await sleep(25);
  }
  let killed = 0;
  for (; killed < size.kills; killed += 1) {
    const untilMs = Date.now() + size.killEveryMs * (0.5 + Math.random());
    while (Date.now() < untilMs) {
      await scaleTime(store);
      await sleep(200);
    }
    running[killed % workers]?.kill('SIGKILL');
    running[killed % workers] = store.work();
    progress(`${killed + 1} of ${size.kills} killed`);
  }
  return killed;
}

/** Makes retries that are due in hours due now, and ends the leases of killed workers. */
async function scaleTime(store: Store): Promise<void> {
  await queryStore(
    store,
    `update deliveries set next_attempt_at = now(), leased_until = null where status = 'pending'
      and ((leased_until is null and next_attempt_at > now()) or leased_until < now() + make_interval(secs => $1))`,
    [leaseSeconds - leaseAgeSeconds],
  );
}

function judge(receivers: readonly Receiver[], { events }: Size, killed: number): Claim[] {
  let missing = 0;
  let duplicates = 0;
  let accepted = 0;
  let outOfOrder = 0;
  for (const { arrivals } of receivers) {
    const acceptedHere = arrivals.filter(({ isAccepted }) => isAccepted);
    const distinct = new Set(acceptedHere.map(({ eventId }) => eventId)).size;
    missing += events - distinct;
    duplicates += acceptedHere.length - distinct;
    accepted += acceptedHere.length;
    const lastOf = new Map<number, number>();
    for (const { petId, note } of arrivals) {
      if (Number(note) < (lastOf.get(petId) ?? -1)) outOfOrder += 1;
      lastOf.set(petId, Math.max(Number(note), lastOf.get(petId) ?? -1));
    }
  }
  const total = events * receivers.length;
  const format = (count: number) => count.toLocaleString('en');
  return [
    {
      claim: `Events missing at a receiver, of ${format(events)} events to ${receivers.length} endpoints (4 slow, 3 failing, 3 resetting), with ${killed} workers killed`,
      bar: '0',
      figure: `${format(missing)} of ${format(total)}`,
      holds: missing === 0,
    },
    {
      claim: 'Events that a receiver accepted more than once, by webhook-id',
      bar: `at most ${duplicatesMax * 100}%`,
      figure: `${format(duplicates)} of ${format(accepted)} (${((100 * duplicates) / accepted).toFixed(2)}%)`,
      holds: duplicates <= duplicatesMax * accepted,
    },
    {
      claim: 'Requests with an event that arrived after a later event of the same animal',
      bar: '0',
      figure: format(outOfOrder),
      holds: outOfOrder === 0,
    },
  ];
}
