// Orders expire at the same moment as someone approves or cancels them.
import { setTimeout as sleep } from 'node:timers/promises';
import { expireDueOrders } from '../service/src/adoption/orders/orders.ts';
import { openDependencies } from '../service/src/dependencies.ts';
import { loadConfig } from '../service/src/platform/config.ts';
import { act, addAnimals, castOf, place, queryStore, verify } from '../testkit/adopters.ts';
import { HttpClient, type Response } from '../testkit/http.ts';
import { type Key, Store } from '../testkit/store.ts';
import { until } from '../testkit/until.ts';
import { grouped, noIllegalTransition, none } from './claims.ts';
import type { Claim, Proof, ProofContext } from './proof.ts';

const expirySeconds = 1;
const batch = 100;
const readsMin = 100;
/** Loops that expire orders concurrently, like several workers. */
const expiryLoops = 3;

export const expiry: Proof = {
  name: 'expiry',
  promise: 'an order expires on time, and when expiry races an approval or a cancellation, exactly one of them wins',
  isNightly: true,
  about: ['service/src/adoption/orders', 'service/src/animals/pets', 'proofs/expiry.ts'],
  run,
};

async function run({ short, progress }: ProofContext): Promise<Claim[]> {
  await using store = await Store.open({ processes: 2, env: { HOMEWARD_ORDER_EXPIRY: String(expirySeconds), LOG_LEVEL: 'warn' } });
  const cast = await castOf(store, 1);
  const [partner] = cast.partners;
  if (!partner) throw new Error('no partner');
  const animals = await addAnimals(store, cast.manager, batch);
  const races = await race(store, { partner, manager: cast.manager }, animals, short ? 150 : 10_000, progress);
  const punctual = await watchWorker(store, partner, animals, progress);
  return [...races, ...punctual, noIllegalTransition(await verify(store))];
}

interface Placed {
  readonly id: number;
  readonly expiresAt: string;
}

interface Raced {
  readonly orderId: number;
  readonly action: 'approve' | 'cancel';
  readonly status: number;
}

async function race(
  store: Store,
  keys: { partner: Key; manager: Key },
  animals: readonly number[],
  count: number,
  progress: ProofContext['progress'],
): Promise<Claim[]> {
  using http = new HttpClient(batch);
  const expiring = new AbortController();
  const loops = expireWithoutPause(store, expiring.signal);
  // If the race itself fails, its error is the one to report.
  loops.catch(() => {});
  const raced: Raced[] = [];
  let leadMs = 60;
  const isOneSided = () => new Set(raced.map(({ status }) => status)).size < 2;
  while (raced.length < count || (isOneSided() && raced.length < 2 * count)) {
    const before = raced.length;
    await Promise.all(
      animals.map(async (petId, i) => {
        const { id, expiresAt } = JSON.parse((await placeWithRetry(http, store, keys.partner, petId)).text) as Placed;
        const action = i % 2 ? 'approve' : 'cancel';
        // Around the moment of expiry: some requests arrive before it and some after.
        await sleep(Math.max(Date.parse(expiresAt) - Date.now() - leadMs + Math.random() * (leadMs + 10), 0));
        const { status } = await act(http, urlOf(store, i), keys.manager, id, action);
        raced.push({ orderId: id, action, status });
        if (status === 200 && action === 'approve') await act(http, urlOf(store, i), keys.manager, id, 'cancel');
      }),
    );
    // On a busy machine requests are on their way for longer.
    if (raced.slice(before).every(({ status }) => status !== 200)) leadMs *= 2;
    await untilNonePending(store);
    progress(`${raced.length} of ${count} races`);
  }
  expiring.abort();
  await loops;
  return await judgeRaces(store, raced);
}

/** Retries after a 503, which a busy machine may cause. */
async function placeWithRetry(http: HttpClient, store: Store, key: Key, petId: number): Promise<Response> {
  for (let tries = 0; tries < 20; tries += 1) {
    const response = await place(http, urlOf(store, petId), key, petId);
    if (response.status === 201) return response;
    if (response.status !== 503) throw new Error(`an order was not placed: ${response.text}`);
    await sleep(200);
  }
  throw new Error('no order could be placed');
}

/** Runs several expiry loops without pauses, so that one is always running when an order is due. */
async function expireWithoutPause(store: Store, signal: AbortSignal): Promise<void> {
  await using dependencies = await openDependencies(
    loadConfig({ DATABASE_URL: store.postgres.url, REDIS_URL: store.redis.url, LOG_LEVEL: 'silent' }),
  );
  const expire = async () => {
    while (!signal.aborted) if ((await expireDueOrders(dependencies.db, dependencies.catalogue, 20)) === 0) await sleep(1);
  };
  await Promise.all(Array.from({ length: expiryLoops }, expire));
}

async function judgeRaces(store: Store, raced: readonly Raced[]): Promise<Claim[]> {
  const rows = await queryStore<{ id: string; path: string }>(
    store,
    `select order_id::text as id, string_agg(to_status, ' ' order by id) as path from history where order_id is not null group by order_id`,
  );
  const paths = new Map(rows.map(({ id, path }) => [Number(id), path]));
  const won = { approve: 'placed approved cancelled', cancel: 'placed cancelled' };
  const wrong = raced.filter(({ orderId, action, status }) => paths.get(orderId) !== (status === 200 ? won[action] : 'placed expired'));
  const early = raced.filter(({ status }) => status === 200).length;
  const odd = raced.filter(({ status }) => status !== 200 && status !== 409).length;
  return [
    {
      claim: `Expiry against approval or cancellation, with ${expiryLoops} expiry loops without pauses: races with one winner, the one that the response stated`,
      bar: 'every one',
      figure: `${(raced.length - wrong.length).toLocaleString('en')} of ${grouped(raced.length)} (${grouped(early)} won by the caller)`,
      holds: wrong.length === 0 && odd === 0 && early > 0 && early < raced.length,
    },
  ];
}

/** Measures, with real workers, how long an animal stays pending after its order's expiry, and what reads show in that time. */
async function watchWorker(store: Store, partner: Key, animals: readonly number[], progress: ProofContext['progress']): Promise<Claim[]> {
  using http = new HttpClient(16);
  for (let workers = 0; workers < 2; workers += 1) store.work();
  await sleep(1_000);
  let reads = 0;
  let stale = 0;
  for (let round = 0; round < 3; round += 1) {
    const responses = await Promise.all(animals.map((petId) => placeWithRetry(http, store, partner, petId)));
    const orders = responses.map((response) => JSON.parse(response.text) as Placed);
    const endMs = Math.max(...orders.map(({ expiresAt }) => Date.parse(expiresAt))) + 300;
    while (Date.now() < endMs || reads <= readsMin) {
      const order = orders[reads % orders.length];
      if (!order) break;
      const sentAtMs = Date.now();
      const response = await http.send(`${urlOf(store, reads)}/store/orders/${order.id}`, { key: partner.key });
      reads += 1;
      if (sentAtMs > Date.parse(order.expiresAt) && JSON.parse(response.text).status === 'placed') stale += 1;
    }
    await untilNonePending(store);
    progress(`worker: round ${round + 1} of 3`);
  }
  const [late] = await queryStore<{ ms: number }>(
    store,
    `select (extract(epoch from max(history.at - orders.expires_at)) * 1000)::int as ms from history join orders on orders.id = order_id
      where to_status = 'expired' and order_id > (select max(id) - $1 from orders)`,
    [3 * animals.length],
  );
  return [
    none('Reads that show an order as placed after its expiry', stale, { of: reads, control: reads > readsMin }),
    {
      claim: "With two `homeward worker` processes, time from an order's expiry until its animal is available, at most",
      bar: '1,000 ms',
      figure: `${late?.ms} ms`,
      holds: (late?.ms ?? Infinity) <= 1_000,
      isTimed: true,
    },
  ];
}

async function untilNonePending(store: Store): Promise<void> {
  const text = `select count(*) = 0 as done from pets where status = 'pending'`;
  await until('no animal is pending', async () => (await queryStore<{ done: boolean }>(store, text))[0]?.done);
}

const urlOf = (store: Store, i: number) => store.processes[i % store.processes.length]?.url ?? '';
