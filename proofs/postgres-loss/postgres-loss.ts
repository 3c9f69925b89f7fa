// PostgreSQL is stopped, frozen, and loses a connection, while requests that need it keep coming.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { HttpClient, type Response } from '../../testkit/http.ts';
import { quantile } from '../../testkit/quantile.ts';
import { Staff } from '../../testkit/staff.ts';
import { type Sample, SteadyLoad } from '../../testkit/steady-load.ts';
import { type Key, type ServeProcess, Store } from '../../testkit/store.ts';
import { until } from '../../testkit/until.ts';
import { every } from '../claims.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { signalTree } from './process-tree.ts';

const requestsPerSecond = 100;
const healthPollsPerSecond = 20;
/** Longer than the longest wait of a request, so that every request sent during an outage also ends in it. */
const outageMs = 6_000;
const responseMsMedian = 100;
/** The wait for a connection plus the longest time that a query may take. */
const responseMsMax = 3_500;
const backWithinMs = 2_000;
/** A process probes PostgreSQL four times a second, with a timeout of half a second. */
const noticedWithinMs = 1_500;

/** Times are from performance.now(). */
interface Outage {
  readonly name: 'stopped' | 'frozen' | 'killed';
  readonly faultMs: number;
  /** The time from which PostgreSQL is certainly unreachable; undefined if it is not known. */
  readonly lostMs?: number;
  readonly returnBeginsMs?: number;
  /** The time at which PostgreSQL accepts queries again. */
  readonly returnMs: number;
}

interface Observed {
  readonly outages: readonly Outage[];
  readonly samples: readonly Sample[];
  readonly live: readonly Sample[];
  /** One array for each process; the last process gets no load. */
  readonly ready: ReadonlyArray<readonly Sample[]>;
}

export const postgresLoss: Proof = {
  name: 'postgres-loss',
  promise: 'without PostgreSQL: 503 with Retry-After at once, no hanging requests, and success within 2 s of its return',
  // The mutant waits for PostgreSQL without a timeout, as pg does by default.
  mutant: [
    { file: 'platform/db/pool.ts', from: 'connectTimeoutMs = 500', to: 'connectTimeoutMs = 0' },
    { file: 'platform/db/pool.ts', from: 'query_timeout: timeoutFactor * queryTimeoutMs', to: 'query_timeout: 0' },
    { file: 'platform/db/probes.ts', from: 'timeoutMs = 500', to: 'timeoutMs = 0' },
  ],
  runsAlone: true,
  isNightly: true,
  about: ['service/src/access/admission', 'service/src/platform/db', 'proofs/postgres-loss'],
  run,
};

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  await using store = await Store.open({ processes: 3, root });
  await using staff = await Staff.of(store);
  const keys = await staff.createKeys('steady', { perMinute: 1_000_000, perDay: 1_000_000 }, 4);
  const observed = await observe(store, keys, short ? 1 : 4, progress);
  return judge(observed, store.processes);
}

async function observe(store: Store, keys: readonly Key[], rounds: number, progress: ProofContext['progress']): Promise<Observed> {
  using http = new HttpClient(512);
  using health = new HttpClient();
  const loaded = store.processes.slice(0, -1);
  const probe = (process: ServeProcess, path: string) => health.send(new URL(path, process.url).href);
  const load = new SteadyLoad(requestsPerSecond, (i) =>
    request(http, loaded[i % loaded.length]?.url ?? '', keys[i % keys.length]?.key ?? '', i),
  );
  const live = store.processes.map((process) => new SteadyLoad(healthPollsPerSecond, () => probe(process, '/livez')));
  const ready = store.processes.map((process) => new SteadyLoad(healthPollsPerSecond, () => probe(process, '/readyz')));
  const outages: Outage[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const fault of [stop, freeze, killConnection]) {
      await sleep(300);
      progress(`round ${round + 1} of ${rounds}: ${fault.name}`);
      outages.push(await fault(store));
      await sleep(backWithinMs + 400);
    }
  }
  const samples = await load.stop();
  const all = (loads: readonly SteadyLoad[]) => Promise.all(loads.map((one) => one.stop()));
  return { outages, samples, live: (await all(live)).flat(), ready: await all(ready) };
}

function request(http: HttpClient, url: string, key: string, index: number): Promise<Response> {
  if (index % 5 === 1) return http.send(`${url}/pets`, { key, method: 'POST', body: { name: 'Biscuit', categoryId: 1 } });
  if (index % 5 === 3) return http.send(`${url}/store/orders`, { key });
  // A different page each time: a cached page would be served without PostgreSQL until the loss is noticed.
  return http.send(`${url}/pets?limit=5&id=${index}`, { key });
}

async function stop({ postgres }: Store): Promise<Outage> {
  const faultMs = performance.now();
  await postgres.signal('SIGINT');
  const lostMs = performance.now();
  await sleep(outageMs);
  const returnBeginsMs = performance.now();
  await postgres.start();
  await firstResponse(postgres.url);
  return { name: 'stopped', faultMs, lostMs, returnBeginsMs, returnMs: performance.now() };
}

async function freeze({ postgres }: Store): Promise<Outage> {
  const faultMs = performance.now();
  signalTree(postgres.pid, 'SIGSTOP');
  const lostMs = performance.now();
  await sleep(outageMs);
  const returnMs = performance.now();
  signalTree(postgres.pid, 'SIGCONT');
  return { name: 'frozen', faultMs, lostMs, returnBeginsMs: returnMs, returnMs };
}

/** Kills a backend process while it executes a request's query; PostgreSQL then ends all others and recovers. */
async function killConnection({ postgres }: Store): Promise<Outage> {
  const client = new pg.Client({ connectionString: postgres.url });
  client.on('error', () => {});
  await client.connect();
  await client.query('begin');
  await client.query('lock table pets in access exclusive mode');
  const waiting = `select pid from pg_stat_activity where application_name like 'homeward%' and wait_event_type = 'Lock' limit 1`;
  const findPid = async () => (await client.query<{ pid: number }>(waiting)).rows[0]?.pid;
  const pid = await until('a request is waiting for the lock', findPid, { intervalMs: 1 });
  const faultMs = performance.now();
  process.kill(pid, 'SIGKILL');
  await firstResponse(postgres.url);
  return { name: 'killed', faultMs, returnMs: performance.now() };
}

/** Resolves once PostgreSQL executes a query. */
async function firstResponse(connectionString: string): Promise<void> {
  const hasResponded = async () => {
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: 1_000 });
    client.on('error', () => {});
    const responded = await client
      .connect()
      .then(() => client.query('select 1'))
      .catch(() => false as const);
    await client.end().catch(() => {});
    return responded;
  };
  await until('PostgreSQL is back', hasResponded, { intervalMs: 10 });
}

function judge({ outages, samples, live, ready }: Observed, processes: readonly ServeProcess[]): Claim[] {
  const long = outages.filter(({ lostMs }) => lostMs !== undefined);
  const rejected = long.flatMap((outage) => sentDuring(samples, outage));
  const right = rejected.filter(({ response }) => isUnavailable(response));
  const medians = long.map((outage) => ({
    outage,
    ms: quantile(
      sentDuring(samples, outage).map(({ tookMs }) => tookMs),
      0.5,
    ),
  }));
  const slowestMs = Math.max(...samples.map(({ tookMs }) => tookMs));
  const odd = samples.filter(({ response }) => !(isSuccess(response) || isUnavailable(response)));
  const running = processes.filter(({ child }) => child.exitCode === null && child.signalCode === null);
  const settled = samples.filter((sample) => !outages.some((outage) => isTouched(sample, outage)));
  const returns = outages.map((outage) => ({ outage, ms: backAfterMs(samples, outage) }));
  const notices = long.flatMap((outage) => ready.map((polls) => noticedAfterMs(polls, outage)));
  const readyAgain = outages.flatMap((outage) => ready.map((polls) => backAfterMs(polls, outage)));
  const alive = live.filter(({ response }) => response?.status === 200);
  return [
    every(
      `Requests sent while PostgreSQL is stopped or frozen get 503 unavailable with Retry-After and the three X-RateLimit headers`,
      right.length,
      rejected.length,
    ),
    {
      claim: 'Their median response time',
      bar: `${responseMsMedian} ms`,
      figure: medians.map(({ outage, ms }) => `${ms.toFixed(1)} ms ${outage.name}`).join(', '),
      holds: medians.every(({ ms }) => ms <= responseMsMedian),
      isTimed: true,
    },
    {
      claim: 'The slowest response of the whole run, including the moment of the fault',
      bar: `${responseMsMax / 1_000} s`,
      figure: `${(slowestMs / 1_000).toFixed(2)} s`,
      holds: slowestMs <= responseMsMax,
      isTimed: true,
    },
    {
      claim: 'Every other response is a success, also when a connection is killed during a query, and no process ends',
      bar: 'every one',
      figure: `${samples.length - odd.length} of ${samples.length}, ${running.length} of ${processes.length} processes running`,
      holds: odd.length === 0 && running.length === processes.length,
    },
    {
      claim: 'Once PostgreSQL is back, requests succeed within',
      bar: `${backWithinMs / 1_000} s, and so do all that are sent later`,
      figure: `${returns.map(({ outage, ms }) => `${(ms / 1_000).toFixed(2)} s ${outage.name}`).join(', ')}; then ${settled.filter(({ response }) => isSuccess(response)).length} of ${settled.length}`,
      holds: returns.every(({ ms }) => ms <= backWithinMs) && settled.length > 0 && settled.every(({ response }) => isSuccess(response)),
      isTimed: true,
    },
    {
      claim: 'Liveness stays 200',
      bar: 'every poll',
      figure: `${alive.length} of ${live.length}`,
      holds: live.length > 0 && alive.length === live.length,
    },
    {
      claim: 'Readiness turns 503 on every process, including one without requests, and 200 after the return, within',
      bar: `${noticedWithinMs / 1_000} s and ${backWithinMs / 1_000} s`,
      figure: `${(Math.max(...notices) / 1_000).toFixed(2)} s and ${(Math.max(...readyAgain) / 1_000).toFixed(2)} s`,
      holds: notices.every((ms) => ms <= noticedWithinMs) && readyAgain.every((ms) => ms <= backWithinMs),
      isTimed: true,
    },
  ];
}

const isSuccess = (response: Response | undefined) => response?.status === 200 || response?.status === 201;

function isUnavailable(response: Response | undefined): boolean {
  if (response?.status !== 503 || !/^[1-9]\d*$/.test(response.headers['retry-after'] ?? '')) return false;
  const limitHeaders = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
  return limitHeaders.every((name) => /^\d+$/.test(String(response.headers[name]))) && JSON.parse(response.text).code === 'unavailable';
}

/** Without the requests in flight when PostgreSQL returns: they may succeed. */
function sentDuring(samples: readonly Sample[], { lostMs = 0, returnBeginsMs = 0 }: Outage): Sample[] {
  return samples.filter(({ sentAtMs }) => sentAtMs >= lostMs && sentAtMs < returnBeginsMs - 250);
}

const isTouched = ({ sentAtMs, tookMs }: Sample, { faultMs, returnMs }: Outage) =>
  sentAtMs + tookMs > faultMs && sentAtMs < returnMs + backWithinMs;

/** The time from the fault to the first 503. */
function noticedAfterMs(polls: readonly Sample[], { faultMs }: Outage): number {
  const rejections = polls.filter(({ sentAtMs, response }) => sentAtMs >= faultMs && response?.status === 503);
  return Math.min(...rejections.map(({ sentAtMs, tookMs }) => sentAtMs + tookMs)) - faultMs;
}

/** The time from the return to the last request that failed, within the observed period. */
function backAfterMs(samples: readonly Sample[], { returnMs }: Outage): number {
  const failed = samples.filter(
    ({ sentAtMs, response }) => sentAtMs >= returnMs && sentAtMs < returnMs + backWithinMs + 400 && !isSuccess(response),
  );
  return Math.max(0, ...failed.map(({ sentAtMs }) => sentAtMs - returnMs));
}
