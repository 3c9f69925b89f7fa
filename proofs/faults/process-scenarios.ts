// Faults of the store's own processes, and clocks that are wrong.
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from './history.ts';
import { faultOfPrimary, writesBackWithin } from './injection.ts';
import { nodes, ttlSeconds } from './node-files.ts';
import type { FaultContext, Injected, Scenario } from './scenario.ts';

const workerPauseMs = 30_000;
/** The file with the offset is read again after a second. */
const clockReadMs = 1_500;

export const processScenarios = {
  'worker-pause': {
    times: 10,
    inject: pauseWorker,
    measures: [],
    mutant: {
      name: 'lease unchecked',
      edits: [
        { file: 'delivery/shard-lease.ts', from: 'return performance.now() - this.#extendedAtMs < startBeforeMs;', to: 'return true;' },
        { file: 'delivery/shard-lease.ts', from: 'if (expiresAt === undefined) {', to: 'if (false) {' },
        {
          file: 'delivery/shard-lease.ts',
          from: 'this.#expiresAt = expiresAt;\n',
          to: 'this.#expiresAt = expiresAt ?? this.#expiresAt;\n',
        },
      ],
    },
  },
  clock: { times: 5, cluster: { hasClocks: true }, inject: failOverToWrongClock, measures: [writesBackWithin(ttlSeconds + 5)] },
  // One process an hour ahead, and one an hour behind.
  'process-clocks': { times: 5, store: { clockOffsets: { secondServe: '+1h', secondWorker: '-1h' } }, inject: pauseNothing, measures: [] },
} satisfies Record<string, Scenario>;

async function pauseWorker({ store, random }: FaultContext): Promise<Injected> {
  const worker = random.pick(store.workers);
  const faultMs = monotonicMs();
  worker.kill('SIGSTOP');
  await sleep(workerPauseMs);
  worker.kill('SIGCONT');
  return { faultMs, endMs: monotonicMs() };
}

async function failOverToWrongClock(context: FaultContext): Promise<Injected> {
  const { cluster, random } = context;
  const leader = await cluster.getLeader();
  const offset = random.pick(['+30s', '-30s']);
  for (const node of nodes) cluster.setClock(node, node === leader ? '+0' : offset);
  await sleep(clockReadMs);
  return faultOfPrimary((_, primary) => cluster.killPostgres(primary))(context);
}

async function pauseNothing(): Promise<Injected> {
  const faultMs = monotonicMs();
  await sleep(10_000);
  return { faultMs };
}
