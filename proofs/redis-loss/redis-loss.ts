// Redis killed, to come back empty, and frozen, while three processes have more to do than they may admit.
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient, type Response } from '../../testkit/http.ts';
import { plantMutant } from '../../testkit/mutant.ts';
import { quantile } from '../../testkit/quantile.ts';
import { Staff } from '../../testkit/staff.ts';
import { type Sample, SteadyLoad } from '../../testkit/steady-load.ts';
import { type Key, Store } from '../../testkit/store.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { redisOutages } from '../redis-outages.ts';
import { exactAfterMs, exactWindows, type Outage, type Step, stepsOf, windowsOf } from './redis-loss-figures.ts';

const processes = 3;
/** A minute of the store is a second, so that whole windows pass beside the faults. */
const clockRate = 60;
const windowMs = 60_000 / clockRate;
const stepMs = 60;
/** Asked for four times as often as it allows, and more often than three processes allow that count for themselves. */
const perMinute = 10;
const perMinuteAsked = 40;
/** A day is longer than the proof: this window begins before the loss, and is used up only after it. */
const perDay = 300;
const perDayAsked = 50;
const extraWindowsMax = 15;
const steadyAsked = 30;
/** A preflight is answered from the limiter alone, and liveness from nothing: the difference is the limiter's step. */
const preflightsAsked = 60;
const liveAsked = 50;
const unlimited = { perMinute: 1_000_000, perDay: 1_000_000 };

interface Loss extends Outage {
  readonly name: 'killed' | 'frozen';
  /** What the client of the day window was answered. */
  readonly dayAnswers: readonly Sample[];
}

export const redisLoss: Proof = {
  name: 'redis-loss',
  promise: 'without Redis: no request fails or waits, at most the limit in each process, and exact 2 s after its return',
  hasMutant: true,
  runsAlone: true,
  run,
};

async function run({ short, mutant, progress }: ProofContext): Promise<Claim[]> {
  // The mutant waits a second for Redis, and keeps to itself what it admitted meanwhile.
  using tree = mutant
    ? plantMutant([
        { file: 'redis/redis-link.ts', from: 'redisDeadlineMs = 50', to: 'redisDeadlineMs = 1_000' },
        { file: 'rate-limit/limiter.ts', from: '    link.onRestored(() => void this.#redis.settleDebts());\n', to: '' },
      ])
    : undefined;
  await using store = await Store.open({ processes, clockRate, root: tree?.root });
  await using staff = await Staff.of(store);
  using http = new HttpClient(512);
  const steadyKeys = await staff.createKeys('steady', unlimited, 4);
  // Many keys of one client, so that none of them comes near a ban.
  const minuteKeys = await staff.createKeys('minute', { ...unlimited, perMinute }, 64);
  const steady = new SteadyLoad(steadyAsked, (i) => (i % 4 === 0 ? create(http, store, steadyKeys, i) : list(http, store, steadyKeys, i)));
  const minute = new SteadyLoad(perMinuteAsked, (i) => list(http, store, minuteKeys, i));
  const preflights = store.processes.map(
    ({ url }) => new SteadyLoad(preflightsAsked / processes, () => http.send(`${url}/pets`, preflight)),
  );
  const lives = store.processes.map(({ url }) => new SteadyLoad(liveAsked, () => http.send(new URL('/livez', url).href)));
  progress('without a fault');
  await sleep(500);
  const controlMs = Date.now();
  await sleep(short ? 2_000 : 10_000);
  const outages: Loss[] = [];
  for (let round = 0; round < (short ? 1 : 4); round += 1) {
    for (const fault of [kill, freeze]) {
      progress(`round ${round + 1}: ${fault.name}`);
      const [key] = await staff.createKeys(`day-${outages.length}`, { ...unlimited, perDay }, 1);
      const askDay = (i: number) => list(http, store, key ? [key] : [], i);
      const isShown = (outage: Outage) => exactWindows(store, minute.samples, [outage], clockRate).length > 0;
      outages.push(await observe(store, fault, short ? 2_500 : 3_000, askDay, isShown));
    }
  }
  const samples = [steady, minute, ...preflights, ...lives].map((load) => load.stop());
  const steps = await Promise.all(preflights.map(async (load, i) => stepsOf(await load.stop(), (await lives[i]?.stop()) ?? [])));
  // Of a few hundred, the thousandth part is one: then the tail is the machine's.
  const percentile = short ? 99 : 99.9;
  return judge(store, {
    percentile,
    samples: (await Promise.all(samples)).flat(),
    minute: minute.samples,
    steps: steps.flat(),
    outages,
    controlMs,
  });
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
  askDay: (index: number) => Promise<Response>,
  isShown: (outage: Outage) => boolean,
): Promise<Loss> {
  const day = new SteadyLoad(perDayAsked, askDay);
  await sleep(400);
  const faultMs = Date.now();
  const bringBack = await fault(store);
  await sleep(outageMs);
  await bringBack();
  const returnMs = Date.now();
  await sleep(exactAfterMs + 2 * windowMs);
  // Longer, where the machine is so busy that no window yet is one of which exactness is promised.
  for (let extra = 0; extra < extraWindowsMax && !isShown({ faultMs, returnMs, endMs: Date.now() }); extra += 1) await sleep(windowMs);
  const endMs = Date.now();
  return { name: fault === kill ? 'killed' : 'frozen', faultMs, returnMs, endMs, dayAnswers: await day.stop() };
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
  const all = [...samples, ...outages.flatMap(({ dayAnswers: dayResponses }) => dayResponses)];
  const failed = all.filter(({ answer: response }) => !response || response.status >= 500);
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
    {
      claim: `Answers of 5xx, and requests without an answer, over ${processes} processes, Redis ${outages.map(({ name }) => name).join(', ')}`,
      bar: '0',
      figure: `${failed.length} of ${all.length}`,
      holds: failed.length === 0 && all.length > 0,
    },
    {
      claim: `The limiter's step with a fault, at the ${percentile}th percentile: what a preflight takes beyond liveness at the same time, where that takes at most 20 ms`,
      bar: `${stepMs} ms, or no more than without a fault`,
      figure: `${describe(faulty, percentile)}; without a fault ${describe(control, percentile)}`,
      holds: quantile(faulty, percentile / 100) <= Math.max(stepMs, quantile(control, percentile / 100) || 0),
      isTimed: true,
    },
    {
      claim: 'Every process is back on Redis after',
      bar: `${exactAfterMs / 1_000} s`,
      figure: restored.map((ms) => `${(ms / 1_000).toFixed(2)} s`).join(', '),
      holds: restored.every((ms) => ms <= exactAfterMs),
      isTimed: true,
    },
    {
      claim: `Admitted while Redis is lost, of a limit of ${perMinute}, in a window`,
      bar: `at most ${processes * perMinute}`,
      figure: `${Math.max(...lostWindows.map(({ admitted }) => admitted))} at most, in ${lostWindows.length} windows`,
      holds: lostWindows.length > 0 && lostWindows.every(({ admitted }) => admitted <= processes * perMinute),
    },
    {
      claim: `Windows that begin ${exactAfterMs / 1_000} s or more after Redis's return and admit exactly the limit of ${perMinute}`,
      bar: 'every one',
      figure: `${exact.length} of ${whole.length}${exact.length < whole.length ? ` (${whole.map(({ admitted }) => admitted).join(', ')})` : ''}`,
      holds: whole.length > 0 && exact.length === whole.length,
      // None could be looked at: the machine was too busy all along.
      isTimed: whole.length === 0,
    },
    judgeDay('frozen', outages, perDay),
    // What only one process has seen of the counts when Redis loses them is forgotten.
    judgeDay('killed', outages, perDay + 2 * processes),
  ];
}

/** A window that begins before the loss and ends after it: what was admitted by processes on their own counts in it. */
function judgeDay(name: Loss['name'], outages: readonly Loss[], most: number): Claim {
  const totals = outages
    .filter((outage) => outage.name === name)
    .map(({ dayAnswers: dayResponses }) => dayResponses.filter(({ answer: response }) => response?.status === 200).length);
  return {
    claim: `Admitted in a window of ${perDay} in which Redis was ${name}, of ${outages[0]?.dayAnswers.length} asked`,
    bar: `at most ${most}`,
    figure: totals.join(', '),
    holds: totals.length > 0 && totals.every((total) => total <= most),
  };
}

interface Observed {
  readonly percentile: number;
  readonly samples: readonly Sample[];
  readonly minute: readonly Sample[];
  readonly steps: readonly Step[];
  readonly outages: readonly Loss[];
  readonly controlMs: number;
}

/** A process may notice a little before this one does. */
function restoredAfterMs(store: Store, returnMs: number, endMs: number): number {
  const ends = redisOutages(store).flatMap(({ fromMs, toMs }) =>
    fromMs < returnMs && toMs > returnMs - 500 && toMs <= endMs ? [toMs] : [],
  );
  return ends.length < processes ? Number.POSITIVE_INFINITY : Math.max(...ends, returnMs) - returnMs;
}

const describe = (steps: readonly number[], percentile: number) =>
  `${quantile(steps, percentile / 100).toFixed(1)} ms of ${steps.length} (median ${quantile(steps, 0.5).toFixed(1)} ms)`;
