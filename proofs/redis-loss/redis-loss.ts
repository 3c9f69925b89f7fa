// Redis is killed and comes back empty, or is frozen, while three processes get more requests than they may admit.
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient, type Response } from '../../testkit/http.ts';
import { quantile } from '../../testkit/quantile.ts';
import { Staff } from '../../testkit/staff.ts';
import { type Sample, SteadyLoad } from '../../testkit/steady-load.ts';
import { type Key, Store } from '../../testkit/store.ts';
import { none } from '../claims.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { redisOutages } from '../redis-outages.ts';
import { claimListThroughput } from './list-throughput.ts';
import { exactAfterMs, exactWindows, type LimiterTime, limiterTimes, type Outage, windowsOf } from './redis-loss-figures.ts';

const processes = 3;
/** A minute on the store's clock takes a second, so that whole windows pass during the faults. */
const clockRate = 60;
const windowMs = 60_000 / clockRate;
const limiterMsMax = 60;
/** The load is four times this limit: more than three processes admit when each counts by itself. */
const perMinute = 10;
const minuteLoadPerSecond = 40;
/** A day is longer than the proof: this window begins before the loss and is used up only after it. */
const perDay = 300;
const dayLoadPerSecond = 50;
const extraWindowsMax = 15;
const steadyLoadPerSecond = 30;
/** A preflight only needs the limiter, and liveness needs nothing: the difference is the time that the limiter takes. */
const preflightsPerSecond = 60;
const livePerSecond = 50;
const unlimited = { perMinute: 1_000_000, perDay: 1_000_000 };

interface Loss extends Outage {
  readonly name: 'killed' | 'frozen';
  /** The responses to the client whose daily window is measured. */
  readonly dayResponses: readonly Sample[];
}

export const redisLoss: Proof = {
  name: 'redis-loss',
  promise:
    'without Redis: no request fails or waits, lists are still cached, each process admits at most the limit, and limits are exact 2 s after its return',
  // The mutant waits a second for Redis, and does not report to it what was admitted during the loss.
  mutant: [
    { file: 'platform/redis/redis-link.ts', from: 'redisDeadlineMs = 50', to: 'redisDeadlineMs = 1_000' },
    { file: 'access/rate-limit/limiter.ts', from: "    parts.link.on('restored', () => void this.#redis.settleDebts());\n", to: '' },
  ],
  runsAlone: true,
  isNightly: true,
  about: ['service/src/access/rate-limit', 'service/src/platform/redis', 'service/src/animals/list-cache', 'proofs/redis-loss'],
  run,
};

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  await using store = await Store.open({ processes, clockRate, root });
  await using staff = await Staff.of(store);
  using http = new HttpClient(512);
  const steadyKeys = await staff.createKeys('steady', unlimited, 4);
  // Many keys of one client, so that none of them gets close to a ban.
  const minuteKeys = await staff.createKeys('minute', { ...unlimited, perMinute }, 64);
  const steady = new SteadyLoad(steadyLoadPerSecond, (i) =>
    i % 4 === 0 ? create(http, store, steadyKeys, i) : list(http, store, steadyKeys, i),
  );
  const minute = new SteadyLoad(minuteLoadPerSecond, (i) => list(http, store, minuteKeys, i));
  const preflights = store.processes.map(
    ({ url }) => new SteadyLoad(preflightsPerSecond / processes, () => http.send(`${url}/pets`, preflight)),
  );
  const lives = store.processes.map(({ url }) => new SteadyLoad(livePerSecond, () => http.send(new URL('/livez', url).href)));
  progress('without a fault');
  await sleep(500);
  const controlMs = Date.now();
  await sleep(short ? 2_000 : 10_000);
  const outages: Loss[] = [];
  for (let round = 0; round < (short ? 1 : 4); round += 1) {
    for (const fault of [kill, freeze]) {
      progress(`round ${round + 1}: ${fault.name}`);
      const key = await staff.createKey(`day-${outages.length}`, { ...unlimited, perDay });
      const sendDay = (i: number) => list(http, store, [key], i);
      const hasExactWindow = (outage: Outage) => exactWindows(store, minute.samples, [outage], clockRate).length > 0;
      outages.push(await observe(store, fault, short ? 2_500 : 3_000, sendDay, hasExactWindow));
    }
  }
  const samples = [steady, minute, ...preflights, ...lives].map((load) => load.stop());
  const times = await Promise.all(preflights.map(async (load, i) => limiterTimes(await load.stop(), (await lives[i]?.stop()) ?? [])));
  // With only a few hundred samples, p99.9 would be the slowest one, which depends on other load on the machine.
  const percentile = short ? 99 : 99.9;
  const observed = {
    percentile,
    samples: (await Promise.all(samples)).flat(),
    minute: minute.samples,
    steps: times.flat(),
    outages,
    controlMs,
  };
  progress('lists with and without Redis');
  const throughput = await claimListThroughput(
    store,
    http,
    steadyKeys[0],
    short ? { rounds: 3, roundMs: 700 } : { rounds: 10, roundMs: 3_000 },
  );
  return [...judge(store, observed), throughput];
}

const list = (http: HttpClient, store: Store, keys: readonly Key[], index: number): Promise<Response> =>
  http.send(`${urlOf(store, index)}/pets?limit=1`, { key: keys[index % keys.length]?.key ?? '' });

const create = (http: HttpClient, store: Store, keys: readonly Key[], index: number): Promise<Response> =>
  http.send(`${urlOf(store, index)}/pets`, {
    key: keys[index % keys.length]?.key ?? '',
    method: 'POST',
    body: { name: 'Biscuit', categoryId: 1 },
  });

const preflight = { method: 'OPTIONS', headers: { origin: 'https://shelter.example', 'access-control-request-method': 'GET' } };

const urlOf = (store: Store, index: number) => store.processes[index % processes]?.url ?? '';

async function observe(
  store: Store,
  fault: (store: Store) => Promise<() => Promise<void>>,
  outageMs: number,
  sendDay: (index: number) => Promise<Response>,
  hasExactWindow: (outage: Outage) => boolean,
): Promise<Loss> {
  const day = new SteadyLoad(dayLoadPerSecond, sendDay);
  await sleep(400);
  const faultMs = Date.now();
  const bringBack = await fault(store);
  await sleep(outageMs);
  await bringBack();
  const returnMs = Date.now();
  await sleep(exactAfterMs + 2 * windowMs);
  // Wait longer if the machine was too busy for a window with exact limits so far.
  for (let extra = 0; extra < extraWindowsMax && !hasExactWindow({ faultMs, returnMs, endMs: Date.now() }); extra += 1)
    await sleep(windowMs);
  const endMs = Date.now();
  return { name: fault === kill ? 'killed' : 'frozen', faultMs, returnMs, endMs, dayResponses: await day.stop() };
}

async function kill({ redis }: Store): Promise<() => Promise<void>> {
  await redis.signal('SIGKILL');
  return () => redis.start();
}

async function freeze({ redis }: Store): Promise<() => Promise<void>> {
  await redis.signal('SIGSTOP');
  return () => redis.signal('SIGCONT');
}

function judge(store: Store, { percentile, samples, minute, steps, outages, controlMs }: Observed): Claim[] {
  const all = [...samples, ...outages.flatMap(({ dayResponses }) => dayResponses)];
  const failed = all.filter(({ response }) => !response || response.status >= 500);
  const control = steps.filter(({ sentAtMs }) => sentAtMs >= controlMs && sentAtMs < (outages[0]?.faultMs ?? 0)).map(({ ms }) => ms);
  const faulty = steps
    .filter(({ sentAtMs }) => outages.some(({ faultMs, endMs }) => sentAtMs >= faultMs && sentAtMs < endMs))
    .map(({ ms }) => ms);
  const windows = windowsOf(store, minute, clockRate);
  const lostWindows = windows.filter(({ startMs, endMs }) =>
    outages.some(({ faultMs, returnMs }) => endMs > faultMs && startMs < returnMs + exactAfterMs),
  );
  const whole = exactWindows(store, minute, outages, clockRate);
  const exact = whole.filter(({ admitted }) => admitted === perMinute);
  const restored = outages.map(({ returnMs, endMs }) => restoredAfterMs(store, returnMs, endMs));
  return [
    none(
      `5xx responses, and requests without a response, on ${processes} processes, with Redis ${outages.map(({ name }) => name).join(', ')}`,
      failed.length,
      { of: all.length },
    ),
    {
      claim: `Time that the limiter takes during a fault, at p${percentile}: a preflight minus a liveness request at the same time, where the latter takes at most 20 ms`,
      bar: `${limiterMsMax} ms, or no more than without a fault`,
      figure: `${describe(faulty, percentile)}; without a fault ${describe(control, percentile)}`,
      holds: quantile(faulty, percentile / 100) <= Math.max(limiterMsMax, quantile(control, percentile / 100) || 0),
      isTimed: true,
    },
    {
      claim: 'After its return, every process uses Redis again within',
      bar: `${exactAfterMs / 1_000} s`,
      figure: restored.map((ms) => `${(ms / 1_000).toFixed(2)} s`).join(', '),
      holds: restored.every((ms) => ms <= exactAfterMs),
      isTimed: true,
    },
    {
      claim: `Requests admitted in a window while Redis is lost, with a limit of ${perMinute}`,
      bar: `at most ${processes * perMinute}`,
      figure: `${Math.max(...lostWindows.map(({ admitted }) => admitted))} at most, in ${lostWindows.length} windows`,
      holds: lostWindows.length > 0 && lostWindows.every(({ admitted }) => admitted <= processes * perMinute),
    },
    {
      claim: `Windows that begin ${exactAfterMs / 1_000} s or more after Redis's return and admit exactly the limit of ${perMinute}`,
      bar: 'every one',
      figure: `${exact.length} of ${whole.length}${exact.length < whole.length ? ` (${whole.map(({ admitted }) => admitted).join(', ')})` : ''}`,
      holds: whole.length > 0 && exact.length === whole.length,
      // If no window could be checked, the machine was too busy all the time.
      isTimed: whole.length === 0,
    },
    judgeDay('frozen', outages, perDay),
    // Counts that only one process knows when Redis loses its data are lost.
    judgeDay('killed', outages, perDay + 2 * processes),
  ];
}

/** The daily window begins before the loss and ends after it, so requests that were admitted without Redis must count in it. */
function judgeDay(name: Loss['name'], outages: readonly Loss[], most: number): Claim {
  const totals = outages
    .filter((outage) => outage.name === name)
    .map(({ dayResponses }) => dayResponses.filter(({ response }) => response?.status === 200).length);
  return {
    claim: `Requests admitted in a window with a limit of ${perDay} in which Redis was ${name}, of ${outages[0]?.dayResponses.length} sent`,
    bar: `at most ${most}`,
    figure: totals.join(', '),
    holds: totals.length > 0 && totals.every((total) => total <= most),
  };
}

interface Observed {
  readonly percentile: number;
  readonly samples: readonly Sample[];
  readonly minute: readonly Sample[];
  readonly steps: readonly LimiterTime[];
  readonly outages: readonly Loss[];
  readonly controlMs: number;
}

/**
 * The time from the return until all processes use Redis again. 500 ms of tolerance: they may notice the return before
 * this process does.
 */
function restoredAfterMs(store: Store, returnMs: number, endMs: number): number {
  const ends = redisOutages(store).flatMap(({ fromMs, toMs }) =>
    fromMs < returnMs && toMs > returnMs - 500 && toMs <= endMs ? [toMs] : [],
  );
  return ends.length < processes ? Number.POSITIVE_INFINITY : Math.max(...ends, returnMs) - returnMs;
}

const describe = (steps: readonly number[], percentile: number) =>
  `${quantile(steps, percentile / 100).toFixed(1)} ms of ${steps.length} (median ${quantile(steps, 0.5).toFixed(1)} ms)`;
