// One endpoint takes half a minute to respond: the others must not be delayed.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dependencies } from '../../service/src/dependencies.ts';
import { recordEvents } from '../../service/src/events/events.ts';
import { castOf } from '../../testkit/adopters.ts';
import { plantMutant } from '../../testkit/mutant.ts';
import { quantile } from '../../testkit/quantile.ts';
import { Staff } from '../../testkit/staff.ts';
import { Store } from '../../testkit/store.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { Receiver } from './receivers.ts';
import { addEndpoints, addPets } from './webhooks.ts';

export const slowNeighbour: Proof = {
  name: 'slow-neighbour',
  promise: 'a partner whose server hangs delays nobody else',
  hasMutant: true,
  runsAlone: true,
  run,
};

const perSecond = 200;
const neighbours = 4;
const respondsAfterMs = 30_000;
const p99MaxMs = 1_000;
/** Events written in this time are not counted. */
const warmUpMs = 1_000;

async function run({ short, mutant, progress }: ProofContext): Promise<Claim[]> {
  using tree = mutant
    ? plantMutant([
        { file: 'webhooks/deliverer.ts', from: 'shareMax: 16, failingShareMax: 1,', to: 'shareMax: 999, failingShareMax: 999,' },
        { file: 'webhooks/deliverer.ts', from: 'const underWayAtEndpointMax = 4;', to: 'const underWayAtEndpointMax = 999;' },
      ])
    : undefined;
  await using resources = new AsyncDisposableStack();
  const slow = resources.use(await Receiver.open({ respondsAfterMs }));
  const others = await Promise.all(Array.from({ length: neighbours }, async () => resources.use(await Receiver.open('quick'))));
  const env = { LOG_LEVEL: 'warn', HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on' };
  const store = resources.use(await Store.open({ processes: 1, root: tree?.root, env }));
  const { partners } = await castOf(store, 1);
  const [partner] = partners;
  if (!partner) throw new Error('no partner');
  await addEndpoints(store, partner, [slow, ...others]);
  const pets = await addPets(store, 1_000);
  const staff = resources.use(await Staff.of(store));
  store.work();
  await untilDelivering(staff.dependencies, pets, others);
  const writtenMs = short ? 6_000 : 60_000;
  const committedAtMs = await writeSteadily(staff.dependencies, pets, warmUpMs + writtenMs, progress);
  const counted = committedAtMs.slice((warmUpMs / 1_000) * perSecond);
  for (let tries = 0; tries < 100 && others.some(({ arrivals }) => arrivals.length <= committedAtMs.length); tries += 1) await sleep(50);

  const delaysMs = others.flatMap(({ arrivals }) => {
    const arrivedAtMs = new Map(arrivals.map(({ note, atMs }) => [note, atMs]));
    return counted.map((atMs, i) => (arrivedAtMs.get(String(committedAtMs.length - counted.length + i)) ?? Infinity) - atMs);
  });
  const late = delaysMs.filter((delay) => delay === Infinity).length;
  const p99Ms = quantile(delaysMs, 0.99);
  const rate = (counted.length * 1_000) / writtenMs;
  return [
    {
      claim: `Time from commit to receipt at ${neighbours} endpoints, p99, at ${perSecond} events a second, while another endpoint responds after 30 s`,
      bar: `${p99MaxMs.toLocaleString('en')} ms`,
      figure: `${Math.round(p99Ms)} ms (median ${Math.round(quantile(delaysMs, 0.5))} ms, at ${Math.round(rate)} a second)`,
      holds: p99Ms <= p99MaxMs,
      isTimed: true,
    },
    {
      claim: 'Events that those endpoints had not received 5 s after the last was written',
      bar: '0',
      figure: `${late} of ${delaysMs.length.toLocaleString('en')} (the slow one received ${slow.arrivals.length})`,
      holds: late === 0 && slow.arrivals.length > 0,
      isTimed: true,
    },
  ];
}

/** A worker needs some time to start. */
async function untilDelivering({ db }: Dependencies, [petId = 1n]: readonly bigint[], receivers: readonly Receiver[]): Promise<void> {
  const data = `{"pet":{"id":${petId},"name":"first","categoryId":1,"status":"available"}}`;
  await db.transaction((tx) => recordEvents(tx, { type: 'pet.updated', petId, clientId: null, data }));
  for (let tries = 0; receivers.some(({ arrivals }) => arrivals.length === 0); tries += 1) {
    if (tries > 1_000) throw new Error('the worker delivers nothing');
    await sleep(20);
  }
}

/** Returns the time of each event's commit, by its number. */
async function writeSteadily(
  { db }: Dependencies,
  pets: readonly bigint[],
  forMs: number,
  progress: ProofContext['progress'],
): Promise<number[]> {
  const committedAtMs: number[] = [];
  const count = (forMs / 1_000) * perSecond;
  const startMs = performance.now();
  const pending: Promise<void>[] = [];
  for (let i = 0; i < count; i += 1) {
    const aheadMs = startMs + (i * 1_000) / perSecond - performance.now();
    if (aheadMs > 0) await sleep(aheadMs);
    if (i % perSecond === 0) progress(`${i} of ${count} events`);
    const petId = pets[i % pets.length] ?? 1n;
    const data = `{"pet":{"id":${petId},"name":"${i}","categoryId":1,"status":"available"}}`;
    const writing = db.transaction((tx) => recordEvents(tx, { type: 'pet.updated', petId, clientId: null, data }));
    pending.push(
      writing.then(() => {
        committedAtMs[i] = Date.now();
      }),
    );
  }
  await Promise.all(pending);
  return committedAtMs;
}
