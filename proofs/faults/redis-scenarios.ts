// Faults of Redis.
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient } from '../../testkit/http.ts';
import { until } from '../../testkit/until.ts';
import type { Cluster } from './cluster.ts';
import { exactLimit } from './faulty-store.ts';
import { type CheckOptions, type LimitedUse, monotonicMs } from './history.ts';
import { seen } from './injection.ts';
import { type Node, nodes } from './node-files.ts';
import type { FaultContext, Injected, Measure, Observed, Scenario } from './scenario.ts';

const exactAfterMs = 2_000;
const backWithinMs = 60_000;
const splitMs = 12_000;
/** A primary that was cut off accepts writes for 2 s, and a process may notice a second later. */
const unnoticedMs = 3_000;
/** How old a list may be in a process that Redis tells nothing. */
const listsStaleMsMax = 4_000;

const noServerErrors: Measure = {
  claim: 'responses 5xx',
  unit: 'count',
  limit: 0,
  of: ({ history, faultMs }) =>
    history.operations.flatMap(({ attempts }) => attempts).filter(({ beginMs, status }) => beginMs >= faultMs && status >= 500).length,
};
const measures = [
  noServerErrors,
  seen('degradedSeconds', { claim: 'time for which a process is without Redis', unit: 's', limit: 5, isTimed: true }),
  seen('offBy', { claim: `requests beyond or below the limit, ${exactAfterMs / 1_000} s later`, unit: 'count', limit: 0 }),
];

export const redisScenarios = {
  'kill-redis': { times: 20, inject: faultOfRedis((cluster, primary) => cluster.machines.signalRedis(primary, 'SIGKILL')), measures },
  'freeze-redis': { times: 10, inject: faultOfRedis((cluster, primary) => cluster.machines.signalRedis(primary, 'SIGSTOP')), measures },
  'redis-split': {
    times: 10,
    store: { secondServePlace: 'apart' },
    inject: splitRedis,
    measures: [],
    mutant: {
      name: 'no min-replicas',
      changes: [{ file: 'ha/redis.conf', from: 'min-replicas-to-write 1', to: 'min-replicas-to-write 0' }],
    },
  },
} satisfies Record<string, Scenario>;

/** Another node becomes the primary, and counts exactly from then on. */
function faultOfRedis(make: (cluster: Cluster, primary: Node) => void): Scenario['inject'] {
  return async ({ cluster, store, keys }: FaultContext): Promise<Injected> => {
    const primary = await cluster.getRedisPrimary();
    const faultMs = monotonicMs();
    make(cluster, primary);
    const degradedMs = await Promise.all(store.urls.map((url) => degradedFor(url)));
    const endMs = monotonicMs();
    await sleep(exactAfterMs);
    const admitted = await admittedOf(store.urls, keys.exact.key);
    return {
      faultMs,
      endMs,
      checks: { listsStaleMsMax, withoutRedis: { processes: 2, untilMs: endMs + exactAfterMs } },
      seen: { degradedSeconds: Math.max(...degradedMs) / 1_000, offBy: Math.abs(admitted - exactLimit) },
    };
  };
}

/** The old primary and the second process are on one side, everything else is on the other. PostgreSQL is not cut off. */
async function splitRedis({ cluster }: FaultContext): Promise<Injected> {
  const primary = await cluster.getRedisPrimary();
  const others = nodes.filter((node) => node !== primary);
  const faultMs = monotonicMs();
  for (const other of others) {
    cluster.dropRedis(primary, other);
    cluster.dropRedis('apart', other);
  }
  cluster.dropRedis('store', primary);
  await sleep(splitMs);
  return { faultMs, checks: checksAfterSplit };
}

function checksAfterSplit({ history, faultMs, healedMs }: Observed): CheckOptions {
  const exactFromMs = healedMs + exactAfterMs;
  const isUnnoticed = ({ attempt }: LimitedUse) =>
    attempt.process === 1 && attempt.status === 200 && attempt.beginMs > faultMs && attempt.beginMs < faultMs + unnoticedMs;
  return {
    listsStaleMsMax,
    withoutRedis: { processes: 2, untilMs: exactFromMs },
    dayCounts: { fromMs: exactFromMs, uncountedMax: history.limitedUses.filter(isUnnoticed).length },
  };
}

/** From the first response of the health check that says so to the first that does not. */
async function degradedFor(url: string): Promise<number> {
  const isDegraded = async () => {
    const response = await fetch(new URL('/readyz', url), { signal: AbortSignal.timeout(2_000) });
    return ((await response.json()) as { redis: boolean }).redis === false;
  };
  const beganMs = await until('Redis is lost', async () => (await isDegraded()) && monotonicMs(), { timeoutMs: 10_000 });
  const isBack = async () => !(await isDegraded()) && monotonicMs();
  return (await until('Redis is back', isBack, { timeoutMs: backWithinMs })) - beganMs;
}

/** Twice the limit, by both processes, within one minute of Redis. */
async function admittedOf(urls: readonly string[], key: string): Promise<number> {
  using http = new HttpClient(16);
  const secondsLeft = 60 - ((Date.now() / 1_000) % 60);
  if (secondsLeft < 10) await sleep((secondsLeft + 1) * 1_000);
  const send = (i: number) => http.send(`${urls[i % urls.length]}/pets?limit=1`, { key });
  const responses = await Promise.all(Array.from({ length: 2 * exactLimit }, (_, i) => send(i)));
  return responses.filter(({ status }) => status === 200).length;
}
