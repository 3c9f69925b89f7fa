// Volumes that are full, and disks that fail.
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient } from '../../testkit/http.ts';
import { MemoryWatch } from '../../testkit/memory-watch.ts';
import { quantile } from '../../testkit/quantile.ts';
import { SteadyLoad } from '../../testkit/steady-load.ts';
import { measureAvailability } from './checker/availability.ts';
import type { Cluster } from './cluster.ts';
import { monotonicMs } from './history.ts';
import { faultOfPrimary, readsThatSucceed, seen, writesBackWithin } from './injection.ts';
import { unknownIsSuccess } from './mutants.ts';
import { type Node, ttlSeconds } from './node-files.ts';
import type { FaultContext, Injected, Scenario } from './scenario.ts';

const fullMs = 8_000;
const fsyncDelayMs = 300;
const capacityMs = 6_000;
const overloadMs = 10_000;
/** As many as have a connection each: more would wait. */
const callers = 10;

export const diskScenarios = {
  'slow-fsync': {
    times: 5,
    load: { writes: 3, reads: 30 },
    inject: overloadSlowDisk,
    measures: [
      seen('goodputPercent', {
        claim: 'writes that succeed at three times the capacity, of the capacity',
        unit: '%',
        limit: 80,
        isFloor: true,
        isTimed: true,
      }),
      // Half a second for a turn; then a commit that just missed a flush waits for two of 300 ms.
      seen('p99Seconds', { claim: 'p99 of their response times', unit: 's', limit: 1.2, isTimed: true }),
      seen('grownMegabytes', { claim: 'megabytes by which a process grows', unit: 'count', limit: 200 }),
    ],
    mutant: {
      name: 'no shedding',
      edits: [
        { file: 'platform/db/pool.ts', from: 'const turnTimeoutMs = 500;', to: 'const turnTimeoutMs = 60_000;' },
        { file: 'platform/db/pool.ts', from: 'const pendingMax = 1_000;', to: 'const pendingMax = 1_000_000;' },
      ],
    },
  },
  'full-volume': {
    times: 5,
    cluster: { hasVolumes: true },
    inject: fillData,
    measures: [
      readsThatSucceed(100),
      {
        claim: 'responses to writes that are neither a success nor 503',
        unit: 'count',
        limit: 0,
        of: ({ history, faultMs, endMs }) => {
          const failures = Object.entries(measureAvailability(history, faultMs, endMs).writes.failures);
          return failures.filter(([name]) => !name.startsWith('503')).reduce((sum, [, count]) => sum + count, 0);
        },
      },
      {
        claim: 'the longest time without a write that succeeds, after the volume was freed',
        unit: 's',
        limit: 5,
        isTimed: true,
        of: ({ history, endMs }) => measureAvailability(history, endMs).writes.longestGapMs / 1_000,
      },
    ],
  },
  'wal-full': {
    times: 5,
    cluster: { hasVolumes: true },
    inject: faultOfPrimary(fillWal),
    measures: [writesBackWithin(ttlSeconds + 5)],
  },
  'wal-eio': {
    times: 5,
    inject: faultOfPrimary((cluster, leader) =>
      cluster.traceSystemCalls(leader, '-e', 'trace=fdatasync', '-e', 'inject=fdatasync:error=EIO'),
    ),
    measures: [writesBackWithin(ttlSeconds + 5)],
    mutant: unknownIsSuccess('EIO is 201'),
  },
} satisfies Record<string, Scenario>;

/** The capacity is what callers get who wait for each response; then three times as many requests come, whatever the responses are. */
async function overloadSlowDisk({ cluster, store: { urls, serves }, keys: { manager } }: FaultContext): Promise<Injected> {
  using http = new HttpClient(2_048);
  const leader = await cluster.getLeader();
  const faultMs = monotonicMs();
  await cluster.traceSystemCalls(leader, '-e', 'trace=fdatasync', '-e', `inject=fdatasync:delay_enter=${fsyncDelayMs * 1_000}`);
  const add = (i: number) =>
    http.send(`${urls[i % urls.length]}/pets`, { method: 'POST', key: manager.key, body: { name: `slow ${i}`, categoryId: 1 } });
  const capacity = await capacityOf(add);
  using memory = new MemoryWatch(serves.map(({ pid }) => pid ?? 0));
  const load = new SteadyLoad(3 * capacity, add);
  await sleep(overloadMs);
  const samples = await load.stop();
  const succeeded = samples.filter(({ response }) => response?.status === 201).length;
  return {
    faultMs,
    endMs: monotonicMs(),
    seen: {
      goodputPercent: (100 * succeeded) / (overloadMs / 1_000) / capacity,
      p99Seconds:
        quantile(
          samples.map(({ tookMs }) => tookMs),
          0.99,
        ) / 1_000,
      grownMegabytes: Math.round(memory.growth / 1e6),
    },
  };
}

/** Writes per second that succeed. */
async function capacityOf(add: (i: number) => Promise<{ status: number }>): Promise<number> {
  let [sent, succeeded] = [0, 0];
  const endMs = monotonicMs() + capacityMs;
  const call = async () => {
    while (monotonicMs() < endMs) {
      sent += 1;
      if ((await add(sent)).status === 201) succeeded += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  return succeeded / (capacityMs / 1_000);
}

async function fillData({ cluster }: FaultContext): Promise<Injected> {
  const leader = await cluster.getLeader();
  const faultMs = monotonicMs();
  cluster.machines.fill(leader, 'data');
  await sleep(fullMs);
  cluster.machines.empty(leader);
  return { faultMs, endMs: monotonicMs() };
}

/** The next segment does not fit, and there is one at once. */
async function fillWal(cluster: Cluster, leader: Node): Promise<void> {
  cluster.machines.fill(leader, 'wal');
  for (let segments = 0; segments < 40 && (await cluster.query(leader, 'select pg_switch_wal()')); segments += 1) await sleep(100);
}
