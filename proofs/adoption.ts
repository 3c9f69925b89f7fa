// Two hundred partners order the same animals at once, and the processes that serve them are killed at random.
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { act, addAnimals, castOf, place, queryStore, verify } from '../testkit/adopters.ts';
import { HttpClient } from '../testkit/http.ts';
import { type Key, type ServeProcess, Store } from '../testkit/store.ts';
import { grouped, noIllegalTransition, none } from './claims.ts';
import type { Claim, Proof, ProofContext } from './proof.ts';

const processCount = 4;
const partnerCount = 200;
const animalCount = 1_000;
/** Half of the orders are for these animals: the more orders for one animal, the more races. */
const popularCount = 40;

/** Fewer would show nothing. */
const acknowledgedPerSecondMin = 9;

export const adoption: Proof = {
  name: 'adoption',
  promise: 'an animal never has two open orders, and no acknowledged order is lost',
  // The mutant orders an animal whatever its status is; the unique index that would reject the second order is dropped.
  mutant: [
    {
      file: 'animals/pets/pet-queries.ts',
      from: 'from locked where id = $1 and status = $2 and removed_at is null',
      to: "from locked where id = $1 and $2 <> '' and removed_at is null",
    },
  ],
  run,
};

async function run({ short, mutant, root, progress }: ProofContext): Promise<Claim[]> {
  await using store = await Store.open({ processes: processCount, root, env: { LOG_LEVEL: 'warn' } });
  if (mutant) await queryStore(store, 'drop index orders_one_open_per_pet');
  const cast = await castOf(store, partnerCount);
  const animals = await addAnimals(store, cast.manager, animalCount);
  const seconds = short ? 8 : 300;
  const run = {
    seconds,
    live: [...store.processes],
    endsAtMs: Date.now() + seconds * 1_000,
    acknowledged: [] as number[],
    requests: 0,
    kills: 0,
  };

  const killer = killAtRandom(store, run, short ? 2_000 : 5_000);
  using http = new HttpClient(partnerCount);
  const partners = cast.partners.map((key) => adopt(http, key, cast.manager, animals, run));
  const ticker = setInterval(() => progress(`${run.requests} requests, ${run.acknowledged.length} orders, ${run.kills} kills`), 500);
  await Promise.all([killer, ...partners]);
  clearInterval(ticker);
  return await judge(store, run);
}

interface Run {
  readonly seconds: number;
  live: ServeProcess[];
  readonly endsAtMs: number;
  readonly acknowledged: number[];
  requests: number;
  kills: number;
}

/**
 * Partners order and cancel, and staff decide, until the time is up. The outcome of a request to a killed process is
 * unknown, so it is not counted.
 */
async function adopt(http: HttpClient, key: Key, manager: Key, animals: readonly number[], run: Run): Promise<void> {
  while (Date.now() < run.endsAtMs) {
    const url = run.live[randomInt(run.live.length)]?.url ?? '';
    const petId = animals[randomInt(randomInt(2) ? popularCount : animals.length)] ?? 1;
    run.requests += 1;
    const placed = await place(http, url, key, petId).catch(() => undefined);
    if (placed?.status !== 201) {
      if (!placed) await sleep(20);
      continue;
    }
    const orderId = Number(JSON.parse(placed.text).id);
    run.acknowledged.push(orderId);
    for (const [who, action] of actionSequences[randomInt(actionSequences.length)] ?? []) {
      const other = run.live[randomInt(run.live.length)]?.url ?? '';
      run.requests += 1;
      await act(http, other, who === 'staff' ? manager : key, orderId, action).catch(() => undefined);
    }
  }
}

const actionSequences = [
  [['partner', 'cancel']],
  [
    ['staff', 'approve'],
    ['partner', 'cancel'],
  ],
  [
    ['staff', 'approve'],
    ['staff', 'complete'],
    ['staff', 'return'],
  ],
  [
    ['staff', 'complete'],
    ['staff', 'cancel'],
    ['partner', 'cancel'],
  ],
] as const;

async function killAtRandom(store: Store, run: Run, everyMs: number): Promise<void> {
  while (Date.now() + everyMs < run.endsAtMs) {
    await sleep(everyMs / 2 + randomInt(everyMs));
    const victim = run.live[randomInt(run.live.length)];
    if (!victim) continue;
    run.live = run.live.filter((one) => one !== victim);
    victim.child.kill('SIGKILL');
    run.kills += 1;
    run.live = [...run.live, await store.serve()];
  }
}

async function judge(store: Store, run: Run): Promise<Claim[]> {
  const [twice] = await queryStore<{ animals: number }>(
    store,
    `select count(*)::int as animals from (select from orders where status in ('placed', 'approved') group by pet_id having count(*) > 1) as twice`,
  );
  const stored = new Set((await queryStore<{ id: string }>(store, 'select id::text from orders')).map(({ id }) => Number(id)));
  const lost = run.acknowledged.filter((id) => !stored.has(id));
  const size = `${partnerCount} partners, ${grouped(animalCount)} animals, ${processCount} processes, ${run.kills} of them killed, ${grouped(run.requests)} requests`;
  return [
    none(`Animals with two open orders (${size})`, twice?.animals ?? Number.NaN),
    none('Orders that were acknowledged but are missing', lost.length, {
      of: run.acknowledged.length,
      control: run.acknowledged.length > acknowledgedPerSecondMin * run.seconds && run.kills > 0,
    }),
    noIllegalTransition(await verify(store)),
  ];
}
