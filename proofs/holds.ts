// Staff hold animals, end holds, record outcomes and undo them, at the same moment as others order, choose, cancel, sell and let orders
// expire.
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { act, addAnimals, apply, castOf, decide, place, queryStore, verify } from '../testkit/adopters.ts';
import { HttpClient, type Response } from '../testkit/http.ts';
import { type Key, Store } from '../testkit/store.ts';
import { until } from '../testkit/until.ts';
import { grouped, noIllegalTransition, none } from './claims.ts';
import type { Claim, Proof, ProofContext } from './proof.ts';

const processCount = 4;
const animalCount = 20;
const rounds = { short: 150, long: 10_000 };
/** Short, so that orders that nobody approves expire in the middle of a round. */
const expirySeconds = 3;
/** A hold that ends by itself does so this soon. */
const holdMsMax = 1_000;
const retriesMax = 50;
/** From the end of a hold until its animal has changed. */
const endedWithinMs = 1_000;

export const holds: Proof = {
  name: 'holds',
  promise:
    'a held animal is never available, whatever else happens to it at the same moment, and none stays pending when its hold has ended',
  isNightly: true,
  about: [
    'service/src/animals/pets',
    'service/src/adoption/outcomes',
    'service/src/adoption/orders',
    'service/src/adoption/applications',
    'service/src/domain',
    'service/migrations',
  ],
  // The mutant makes an animal available at the end of its hold, also if it is ordered, and does without the trigger.
  mutant: [{ file: 'animals/pets/hold-queries.ts', from: 'and pets.id <> all($2::bigint[])', to: 'and $2::bigint[] is not null' }],
  timeoutMs: 3_600_000,
  run,
};

interface Run {
  readonly store: Store;
  readonly http: HttpClient;
  readonly partner: Key;
  readonly manager: Key;
  /** Responses of 2xx and of 409 to what a round races, by what was asked. */
  readonly done: Map<string, number>;
  readonly rejected: Map<string, number>;
  readonly failures: string[];
  /** Animals that were still pending after their round, without a hold and an order. */
  readonly stuck: string[];
  requests: number;
  /** The last row of history before the rounds. */
  startedAfterRow: number;
}

async function run({ short, mutant, root, progress }: ProofContext): Promise<Claim[]> {
  const env = { HOMEWARD_ORDER_EXPIRY: String(expirySeconds), LOG_LEVEL: 'warn' };
  await using store = await Store.open({ processes: processCount, root, env });
  if (mutant) await queryStore(store, 'drop trigger pet_stays_held on pets');
  for (let workers = 0; workers < 2; workers += 1) store.work();
  const { manager, partners } = await castOf(store, 1);
  const [partner] = partners;
  if (!partner) throw new Error('no partner');
  using http = new HttpClient(animalCount * 4);
  const run: Run = {
    store,
    http,
    partner,
    manager,
    done: new Map(),
    rejected: new Map(),
    failures: [],
    stuck: [],
    requests: 0,
    startedAfterRow: 0,
  };
  const animals = await addAnimals(store, manager, animalCount);
  await untilWorking(run, animals[0] ?? 0);
  const count = rounds[short ? 'short' : 'long'];
  let left = count;
  const ticker = setInterval(() => progress(`${count - left} of ${count} rounds, ${run.requests} requests`), 500);
  await Promise.all(
    animals.map(async (petId) => {
      while (left > 0 && (!mutant || run.stuck.length === 0)) {
        left -= 1;
        await raceFor(run, petId);
      }
    }),
  );
  clearInterval(ticker);
  return await judge(run, count);
}

/** A worker that has just been started does nothing yet. */
async function untilWorking(run: Run, petId: number): Promise<void> {
  await hold(run, petId, { reason: 'other', until: new Date(Date.now() + 1_000) });
  await until('a worker ends a hold', async () => (await readState(run, petId))[0]?.status === 'available');
  run.startedAfterRow = (await queryStore<{ id: number }>(run.store, 'select max(id)::int as id from history'))[0]?.id ?? 0;
}

/** What happens to an animal at the same moment. */
const acts: Readonly<Record<string, (run: Run, petId: number) => Promise<Response | undefined>>> = {
  hold: (run, petId) => hold(run, petId, { reason: 'stray' }),
  'hold for a moment': (run, petId) => hold(run, petId, { reason: 'medical', until: new Date(Date.now() + 100 + randomInt(holdMsMax)) }),
  'end hold': (run, petId) => send(run, 'DELETE', `/pets/${petId}/hold`),
  order: (run, petId) => place(run.http, urlOf(run), run.partner, petId),
  accept: async (run, petId) => {
    const application = await openApplication(run, petId);
    return application === undefined ? undefined : decide(run.http, urlOf(run), run.manager, application, 'accept');
  },
  approve: (run, petId) => actOnOrder(run, petId, 'approve', 'placed'),
  cancel: (run, petId) => actOnOrder(run, petId, 'cancel', 'placed', 'approved'),
  complete: (run, petId) => actOnOrder(run, petId, 'complete', 'approved'),
  release: (run, petId) => send(run, 'PATCH', `/pets/${petId}`, { status: 'available' }),
  'sell without an order': (run, petId) => send(run, 'PATCH', `/pets/${petId}`, { status: 'sold' }),
  outcome: (run, petId) => send(run, 'POST', `/pets/${petId}/outcome`, { type: 'escaped' }),
  'undo outcome': (run, petId) => send(run, 'DELETE', `/pets/${petId}/outcome`),
  rename: (run, petId) => send(run, 'PATCH', `/pets/${petId}`, { name: `Animal ${randomInt(1_000)}` }),
};
const actNames = Object.keys(acts);

/** An animal is held, ordered, chosen or away before the round, or not; then several acts race, and then all of it is undone. */
async function raceFor(run: Run, petId: number): Promise<void> {
  for (const name of pick(['order', 'approve', 'hold', 'hold for a moment', 'accept', 'outcome'], randomInt(4)))
    await perform(run, petId, name);
  await Promise.all(pick(actNames, 3).map((name) => perform(run, petId, name)));
  // The order expires, and holds end by themselves, beside one more act.
  if (randomInt(10) === 0) await sleep(expirySeconds * 1_000);
  else await perform(run, petId, actNames[randomInt(actNames.length)] ?? '');
  await undo(run, petId);
}

const pick = (names: readonly string[], count: number): string[] =>
  Array.from({ length: count }, () => names[randomInt(names.length)] ?? '');

async function perform(run: Run, petId: number, name: string): Promise<void> {
  const response = await acts[name]?.(run, petId);
  if (!response) return;
  run.requests += 1;
  const { status, text, headers } = response;
  const counted = status < 300 ? run.done : run.rejected;
  counted.set(name, (counted.get(name) ?? 0) + 1);
  // On a busy machine the end of a hold may have come before its beginning.
  const isTooLate = name === 'hold for a moment' && status === 400;
  // The animal has left, or is back.
  const isAway = status === 404 && /"(pet|outcome)_not_found"/.test(text);
  const isExpected = status < 300 || status === 409 || isTooLate || isAway || (status === 503 && headers['retry-after'] !== undefined);
  if (!isExpected) run.failures.push(`${name}: ${status} ${text}`);
}

/** Ends the outcome, the hold and the order. Without them, the animal is available, or sold, or was back: then staff make it available. */
async function undo(run: Run, petId: number): Promise<void> {
  await retried(run, 'undo outcome', petId);
  await retried(run, 'end hold', petId);
  for (let tries = 0; tries < retriesMax; tries += 1) {
    const [row] = await readState(run, petId);
    if (!row) throw new Error(`animal ${petId} does not exist`);
    if (row.order !== null) {
      // One that is due is the worker's.
      const { status } = await act(run.http, urlOf(run), run.manager, row.order, 'cancel');
      if (status !== 200) await sleep(100);
    } else if (row.status === 'available') return;
    else if (row.status === 'pending') {
      if (!row.isBack) run.stuck.push(`animal ${petId} has neither a hold nor an order, and is pending`);
      await retried(run, 'release', petId);
    } else await retried(run, 'release', petId);
  }
  run.stuck.push(`animal ${petId} can't be made available`);
}

async function retried(run: Run, name: 'undo outcome' | 'end hold' | 'release', petId: number): Promise<void> {
  for (let tries = 0; tries < retriesMax; tries += 1) {
    const response = await acts[name]?.(run, petId);
    if (response && response.status !== 503) return;
    await sleep(100);
  }
  throw new Error(`${name} of animal ${petId} was 503 for too long`);
}

const readState = (run: Run, petId: number) =>
  queryStore<{ status: string; order: number | null; isBack: boolean }>(
    run.store,
    `select status, coalesce((select max(id) from history where pet_id = pets.id and kind = 'pet_outcome_undone') >
        (select max(id) from history where pet_id = pets.id and order_id is null and to_status = 'available'), false) as "isBack", (select id::int from orders where pet_id = pets.id and status in ('placed', 'approved')) as order from pets where id = $1`,
    [petId],
  );

async function openApplication(run: Run, petId: number): Promise<number | undefined> {
  const [open] = await queryStore<{ id: number }>(
    run.store,
    `select id::int from applications where pet_id = $1 and status in ('submitted', 'reviewing') limit 1`,
    [petId],
  );
  if (open) return open.id;
  const response = await apply(run.http, urlOf(run), run.partner, petId, `ada.${petId}.${randomInt(1_000_000)}@example.org`);
  return response.status === 201 ? Number(JSON.parse(response.text).id) : undefined;
}

async function actOnOrder(run: Run, petId: number, name: string, ...from: string[]): Promise<Response | undefined> {
  const [order] = await queryStore<{ id: number }>(
    run.store,
    'select id::int from orders where pet_id = $1 and status::text = any($2::text[])',
    [petId, from],
  );
  return order && act(run.http, urlOf(run), run.manager, order.id, name);
}

const hold = (run: Run, petId: number, body: object) => send(run, 'PUT', `/pets/${petId}/hold`, body);
const send = ({ http, manager, ...run }: Run, method: string, path: string, body?: object) =>
  http.send(`${urlOf(run)}${path}`, { method, key: manager.key, ...(body && { body }) });
const urlOf = ({ store }: Pick<Run, 'store'>) => store.processes[randomInt(store.processes.length)]?.url ?? '';

async function judge(run: Run, count: number): Promise<Claim[]> {
  const { store, stuck, failures, done, rejected, requests } = run;
  const anyOver = 'select count(*) = 0 as done from pets where hold_until <= now()';
  await until('no hold is over', async () => (await queryStore<{ done: boolean }>(store, anyOver))[0]?.done);
  const [late] = await queryStore<{ ms: number; ends: number }>(
    store,
    `select count(*)::int as ends, coalesce(max(extract(epoch from ended.at - held.hold_until) * 1000), 0)::int as ms
      from history ended cross join lateral
        (select hold_until from history where pet_id = ended.pet_id and id < ended.id and kind = 'pet_held' order by id desc limit 1) held
      where ended.kind = 'pet_hold_ended' and ended.client_id is null and held.hold_until <= ended.at and ended.id > $1`,
    [run.startedAfterRow],
  );
  const told = [...done].map(([name, times]) => `${grouped(times)} × ${name}`).join(', ');
  const conflicts = [...rejected.values()].reduce((sum, times) => sum + times, 0);
  const areAllTried = actNames.every((name) => (done.get(name) ?? 0) > 0);
  return [
    none(`Animals that stay pending when hold and order have ended, in ${grouped(count)} rounds over ${processCount} processes`, stuck, {
      of: count,
      more: ` (${told}; ${grouped(conflicts)} rejected)`,
      control: areAllTried && conflicts > 0,
    }),
    none('Responses other than 2xx, 409, 404 of an animal that is away, and 503 with Retry-After', failures, { of: requests }),
    noIllegalTransition(await verify(store)),
    {
      claim: `With two \`homeward worker\` processes, time from the end of a hold until the animal has changed, at most, of ${grouped(late?.ends ?? 0)} that ended by themselves`,
      bar: `${grouped(endedWithinMs)} ms`,
      figure: `${late?.ms} ms`,
      holds: (late?.ends ?? 0) > 0 && (late?.ms ?? Infinity) <= endedWithinMs,
      isTimed: true,
    },
  ];
}
