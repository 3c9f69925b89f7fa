// Workers are killed while they deliver, and receivers are slow, fail and reset connections: every event arrives, each animal's in order.
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dependencies } from '../../service/src/dependencies.ts';
import { castOf, insertAnimals, queryStore } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import { Staff } from '../../testkit/staff.ts';
import { type Key, Store } from '../../testkit/store.ts';
import { grouped, none } from '../claims.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { commitEvents, petEvent } from './event-source.ts';
import { type Behaviour, openReceiver, type Receiver } from './receivers.ts';

export const webhooks: Proof = {
  name: 'webhooks',
  promise: "every event reaches every endpoint, each animal's in order, while workers are killed and receivers fail",
  /** In the mutant a later event of an animal does not wait for a retry of an earlier one. */
  mutant: [
    {
      file: 'changes/delivery/sending-queries.ts',
      from: "earlier.is_replay = item.is_replay and delivery_id < item.delivery_id) then 'held'",
      to: "earlier.is_replay = item.is_replay and delivery_id < 0) then 'held'",
    },
  ],
  isNightly: true,
  about: ['service/src/changes', 'proofs/webhooks'],
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
  short: { events: 800, animals: 80, kills: 1, killEveryMs: 7_000, timeoutMs: 60_000 },
  long: { events: 10_000, animals: 500, kills: 50, killEveryMs: 3_000, timeoutMs: 900_000 },
};
const behaviours: Behaviour[] = [
  ...Array<Behaviour>(10).fill('quick'),
  ...Array<Behaviour>(4).fill('slow'),
  ...Array<Behaviour>(3).fill('failing'),
  ...Array<Behaviour>(3).fill('resetting'),
];
const clients = 10;
const workers = 2;
const batch = 50;
/** A killed worker's lease would expire after 20 s. The proof ends it after this time instead. A running worker extends it every 2 s. */
const leaseAgeSeconds = 4;
const leaseSeconds = 20;
const duplicatesMax = 0.01;

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  const size = sizes[short ? 'short' : 'long'];
  await using resources = new AsyncDisposableStack();
  const receivers = await Promise.all(behaviours.map(async (manner) => resources.use(await openReceiver(manner))));
  const env = { LOG_LEVEL: 'warn', HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on' };
  const store = resources.use(await Store.open({ processes: 1, root, env }));
  // Several, so that the workers share the endpoints: a client's endpoints are all sent to by one worker.
  const { partners } = await castOf(store, clients);
  await addEndpoints(store, partners, receivers);
  const staff = resources.use(await Staff.of(store));
  const pets = await insertAnimals(store, size.animals);

  const running = Array.from({ length: workers }, () => store.work());
  // The first events are recorded before the endpoints are verified: they wait until then.
  const writing = writeEvents(staff.dependencies, pets, size);
  const killed = await killWorkers(store, running, receivers, size, progress);
  await writing;
  const deadlineMs = Date.now() + size.timeoutMs;
  for (let left = Infinity; left > 0 && Date.now() < deadlineMs; ) {
    await scaleTime(store);
    left = await countLeft(store);
    progress(`${grouped(left)} events and retries left`);
    await sleep(250);
  }
  return judge(receivers, size, killed);
}

/** What is not published, waits for another attempt, or comes after an endpoint's cursor. */
async function countLeft(store: Store): Promise<number> {
  const [row] = await queryStore<{ left: number }>(
    store,
    `select ((select count(*) from outbox) + (select count(*) from delivery_exceptions where status = 'pending')
        + (select coalesce(sum(last_position - coalesce(webhooks.position, webhook_shards.position)), 0)
          from webhooks join webhook_shards on webhook_shards.id = shard, feed))::int as left`,
  );
  return row?.left ?? 0;
}

async function addEndpoints(store: Store, partners: readonly Key[], receivers: readonly Receiver[]): Promise<void> {
  using http = new HttpClient();
  for (const [i, { url }] of receivers.entries()) {
    const key = partners[i % partners.length]?.key ?? '';
    const added = await http.send(`${store.processes[0]?.url}/webhooks`, { method: 'POST', key, body: { url } });
    if (added.status !== 201) throw new Error(`an endpoint was not added: ${added.text}`);
  }
}

/** Records events in transactions of several; the animals take turns, and each name has the event's number. */
async function writeEvents(dependencies: Dependencies, pets: readonly bigint[], { events, kills, killEveryMs }: Size): Promise<void> {
  const pauseMs = (0.8 * kills * killEveryMs * batch) / events;
  for (let from = 0; from < events; from += batch) {
    const startMs = performance.now();
    const numbers = Array.from({ length: Math.min(batch, events - from) }, (_, i) => from + i);
    await commitEvents(
      dependencies,
      numbers.map((number) => petEvent(pets[number % pets.length] ?? 1n, number)),
    );
    await sleep(Math.max(pauseMs - (performance.now() - startMs), 0));
  }
}

async function killWorkers(
  store: Store,
  running: ChildProcess[],
  receivers: readonly Receiver[],
  size: Size,
  progress: ProofContext['progress'],
): Promise<number> {
  // Wait until the workers deliver.
  for (let tries = 0; tries < 400 && receivers.every(({ arrivals }) => arrivals.length === 0); tries += 1) await sleep(25);
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
    `with due as materialized (
        select webhook_id, delivery_id from delivery_exceptions
          where status = 'pending' and next_attempt_at > now() and next_attempt_at < 'infinity' for update skip locked),
      due_now as (
        update delivery_exceptions set next_attempt_at = now() from due
          where delivery_exceptions.webhook_id = due.webhook_id and delivery_exceptions.delivery_id = due.delivery_id)
      update webhooks set is_changed = true, revision = revision + 1 where id in (select webhook_id from due)`,
  );
  await queryStore(store, 'update webhook_workers set expires_at = now() where expires_at < now() + make_interval(secs => $1)', [
    leaseSeconds - leaseAgeSeconds,
  ]);
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
  return [
    none(
      `Events missing at a receiver, of ${grouped(events)} events to ${receivers.length} endpoints of ${clients} clients (4 slow, 3 failing, 3 resetting), with ${killed} workers killed`,
      missing,
      { of: total },
    ),
    {
      claim: 'Events that a receiver accepted more than once, by webhook-id',
      bar: `at most ${duplicatesMax * 100}%`,
      figure: `${grouped(duplicates)} of ${grouped(accepted)} (${((100 * duplicates) / accepted).toFixed(2)}%)`,
      holds: duplicates <= duplicatesMax * accepted,
    },
    none('Requests with an event that arrived after a later event of the same animal', outOfOrder),
  ];
}
