// Endpoints hang, reset connections or trickle: the endpoints of other clients must not be delayed.
import { setTimeout as sleep } from 'node:timers/promises';
import { insertAnimals } from '../../testkit/adopters.ts';
import { addVerifiedEndpoints, createClients, removeEndpoints } from '../../testkit/endpoints.ts';
import { quantile } from '../../testkit/quantile.ts';
import { Staff } from '../../testkit/staff.ts';
import { Store } from '../../testkit/store.ts';
import { until } from '../../testkit/until.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { commitSteadily, petEvent } from './event-source.ts';
import { type Behaviour, openReceiver, type Receiver } from './receivers.ts';

export const slowNeighbour: Proof = {
  name: 'slow-neighbour',
  promise: 'a partner whose server hangs delays nobody else',
  /** In the mutant a client and an endpoint may have any number of requests in flight, and slow ones have no budget of their own. */
  mutant: [
    { file: 'changes/delivery/endpoint.ts', from: '{ belowMs: 250, concurrency: 4 }', to: '{ belowMs: 1e9, concurrency: 999 }' },
    { file: 'changes/delivery/endpoint.ts', from: 'export const slowMs = 1_000;', to: 'export const slowMs = 1e9;' },
    { file: 'changes/delivery/shares.ts', from: 'ofClientMax: 32,', to: 'ofClientMax: 9_999,' },
    { file: 'changes/delivery/shares.ts', from: 'ofClientAtOriginMax: 8,', to: 'ofClientAtOriginMax: 9_999,' },
  ],
  runsAlone: true,
  isNightly: true,
  run,
};

const perSecond = 200;
const healthyClients = 4;
const p99MaxMs = 1_000;
/** Events written in this time are not counted. */
const warmUpMs = 1_000;
/** After the last event was written. */
const lateMs = 5_000;

const crowds = [
  { clients: 1, endpointsOfEach: 20, name: '20 endpoints of a client are' },
  { clients: 50, endpointsOfEach: 1, name: 'an endpoint of each of 50 clients is' },
];
const badBehaviours: ReadonlyArray<{ behaviour: Behaviour; name: string }> = [
  { behaviour: { respondsAfterMs: 9_500 }, name: 'responding after 9.5 s' },
  { behaviour: 'always resetting', name: 'resetting connections' },
  { behaviour: 'trickling', name: 'sending a byte a second' },
];

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  await using resources = new AsyncDisposableStack();
  const healthy = await openReceivers(resources, healthyClients, 'quick');
  const env = { LOG_LEVEL: 'warn', HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on' };
  const store = resources.use(await Store.open({ processes: 0, root, env }));
  const pets = await insertAnimals(store, 1_000);
  const staff = resources.use(await Staff.of(store));
  await addToClients(store, healthy, healthyClients);
  store.work();
  let written = 0;
  /** Returns the number of the first event, and the time of each commit. */
  const write = async (forMs: number, where: string): Promise<{ first: number; committedAtMs: number[] }> => {
    const first = written;
    const event = (i: number) => petEvent(pets[(first + i) % pets.length] ?? 1n, first + i);
    const committedAtMs = await commitSteadily(staff.dependencies, {
      perSecond,
      forMs,
      event,
      progress: (text) => progress(`${where}: ${text}`),
    });
    written += committedAtMs.length;
    return { first, committedAtMs };
  };
  await untilSome(healthy, () => write(100, 'start'));

  const measuredMs = short ? 3_500 : 30_000;
  const measure = async (where: string): Promise<number[]> => {
    await write(warmUpMs, where);
    const { first, committedAtMs } = await write(measuredMs, where);
    return delaysAt(healthy, first, committedAtMs);
  };
  const undisturbed = await measure('undisturbed');
  const claims: Claim[] = [];
  for (const { clients, endpointsOfEach, name: crowd } of crowds) {
    for (const { behaviour, name: manner } of badBehaviours) {
      await using phase = new AsyncDisposableStack();
      const bad = await openReceivers(phase, clients * endpointsOfEach, behaviour);
      const ids = await addToClients(store, bad, clients);
      claims.push(judge(`${crowd} ${manner}`, undisturbed, await measure(`${crowd} ${manner}`), bad));
      await removeEndpoints(store, ids);
    }
  }
  return claims;
}

async function openReceivers(resources: AsyncDisposableStack, count: number, behaviour: Behaviour): Promise<Receiver[]> {
  return Promise.all(Array.from({ length: count }, async () => resources.use(await openReceiver(behaviour))));
}

/** Divides the receivers among new clients. */
async function addToClients(store: Store, receivers: readonly Receiver[], clients: number): Promise<number[]> {
  const clientIds = await createClients(store, clients);
  const endpoints = receivers.map(({ url }, i) => ({ url, clientId: clientIds[i % clients] ?? 0 }));
  return addVerifiedEndpoints(store, endpoints);
}

/** A worker needs some time to start. */
async function untilSome(receivers: readonly Receiver[], write: () => Promise<unknown>): Promise<void> {
  await write();
  await until('the worker delivers', () => receivers.every(({ arrivals }) => arrivals.length > 0), { intervalMs: 20 });
}

async function delaysAt(receivers: readonly Receiver[], first: number, committedAtMs: readonly number[]): Promise<number[]> {
  const deadlineMs = Date.now() + lateMs;
  const last = first + committedAtMs.length - 1;
  const hasAll = ({ accepted }: Receiver) => accepted.size > last;
  while (!receivers.every(hasAll) && Date.now() < deadlineMs) await sleep(50);
  return receivers.flatMap(({ arrivals }) => {
    const arrivedAtMs = new Map(arrivals.map(({ note, atMs }) => [note, atMs]));
    return committedAtMs.map((atMs, i) => (arrivedAtMs.get(String(first + i)) ?? Infinity) - atMs);
  });
}

function judge(situation: string, undisturbed: readonly number[], delaysMs: readonly number[], bad: readonly Receiver[]): Claim {
  const late = delaysMs.filter((delay) => delay === Infinity).length;
  const p99Ms = quantile(delaysMs, 0.99);
  // On a machine that is slow by itself, the others must not make it much slower.
  const boundMs = Math.max(p99MaxMs, 2 * quantile(undisturbed, 0.99));
  const reached = bad.filter(({ arrivals }) => arrivals.length > 0).length;
  const requests = bad.reduce((sum, { arrivals }) => sum + arrivals.length, 0);
  return {
    claim: `Time from commit to receipt at endpoints of ${healthyClients} other clients, p99, at ${perSecond} events a second, while ${situation}; and events that had not arrived ${lateMs / 1_000} s after the last`,
    bar: `${p99MaxMs.toLocaleString('en')} ms, or twice what it is without them; 0`,
    figure: `${inMs(delaysMs)}, compared to ${inMs(undisturbed)} without them; ${late} of ${delaysMs.length.toLocaleString('en')} (${requests} requests at ${reached} of ${bad.length} bad endpoints)`,
    holds: p99Ms <= boundMs && late === 0 && reached === bad.length,
    isTimed: true,
  };
}

const inMs = (delaysMs: readonly number[]) =>
  `${Math.round(quantile(delaysMs, 0.99))} ms (median ${Math.round(quantile(delaysMs, 0.5))} ms)`;
