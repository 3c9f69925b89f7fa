// Faults of the store's own processes, and clocks that are wrong.
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient } from '../../testkit/http.ts';
import { monotonicMs } from './history.ts';
import { faultOfPrimary, seen, writesBackWithin } from './injection.ts';
import { nodes, ttlSeconds } from './node-files.ts';
import type { FaultContext, Injected, Scenario, ScenarioMutant } from './scenario.ts';

const workerPauseMs = 30_000;
/** What was in flight, and what was sent in the moment before, when the worker that took over began where the cursors were stored. */
const repeatsMax = 200;
/** The file with the offset is read again after a second. */
const clockReadMs = 1_500;
/** How long keys are valid: one expires under load, one after what a primary's clock is off by, and one before what a process's is. */
const keyLivesSeconds = [12, 25, 1_800] as const;
/** Nearer to its end than this, a key is not asked about: a process may use its own clock if it is off by a second. */
const nearEndSeconds = 2;
const watchedMs = 20_000;

const wrongExpiries = seen('wrongExpiries', {
  claim: 'responses to keys that are not what the clock of PostgreSQL says',
  unit: 'count',
  limit: 0,
});
const localClock: ScenarioMutant = {
  name: 'expiry by the clock of the process',
  edits: [{ file: 'platform/db/pool.ts', from: 'now: () => Date.now() + this.#probe.clockOffsetMs', to: 'now: () => Date.now()' }],
};

export const processScenarios = {
  'worker-pause': {
    times: 10,
    inject: pauseWorker,
    measures: [
      {
        claim: 'events that an endpoint got again',
        unit: 'count',
        limit: repeatsMax,
        of: ({ history: { arrivals } }) => {
          const atEndpoints = arrivals.filter(({ channel }) => channel.kind === 'endpoint');
          return atEndpoints.length - new Set(atEndpoints.map(({ channel, position }) => `${channel.index} ${position}`)).size;
        },
      },
    ],
    mutant: {
      name: 'lease unchecked',
      edits: [
        {
          file: 'changes/delivery/shard-lease.ts',
          from: 'return performance.now() - this.#extendedAtMs < startBeforeMs;',
          to: 'return true;',
        },
        { file: 'changes/delivery/shard-lease.ts', from: 'if (expiresAt === undefined) {', to: 'if (false) {' },
        {
          file: 'changes/delivery/shard-lease.ts',
          from: 'this.#expiresAt = expiresAt;\n',
          to: 'this.#expiresAt = expiresAt ?? this.#expiresAt;\n',
        },
      ],
    },
  },
  clock: {
    times: 5,
    cluster: { hasClocks: true },
    inject: failOverToWrongClock,
    measures: [writesBackWithin(ttlSeconds + 5), wrongExpiries],
    mutant: localClock,
  },
  // One process an hour ahead, and one an hour behind.
  'process-clocks': {
    times: 5,
    store: { clockOffsets: { secondServe: '+1h', secondWorker: '-1h' } },
    inject: watchKeys,
    measures: [wrongExpiries],
    mutant: localClock,
  },
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
  for (const node of nodes) cluster.machines.setClock(node, node === leader ? '+0' : offset);
  await sleep(clockReadMs);
  await setLives(context);
  const injected = await faultOfPrimary((_, primary) => cluster.killPostgres(primary))(context);
  return { ...injected, seen: { wrongExpiries: await countWrongExpiries(context) } };
}

async function watchKeys(context: FaultContext): Promise<Injected> {
  await setLives(context);
  const faultMs = monotonicMs();
  return { faultMs, seen: { wrongExpiries: await countWrongExpiries(context) } };
}

async function setLives({ cluster, store, keys }: FaultContext): Promise<void> {
  const sql = `update api_keys set expires_at = now() + make_interval(secs => life) from unnest($1::bigint[], $2::int[]) as one (key, life) where id = key`;
  const values = [keys.expiring.map(({ id }) => id), keyLivesSeconds];
  if (!(await cluster.query(await cluster.getLeader(), sql, values, store.database))) throw new Error('the keys could not be changed');
}

/** Asks both processes about each key for as long as the second one may be valid, and PostgreSQL before and after. */
async function countWrongExpiries({ cluster, store, keys }: FaultContext): Promise<number> {
  using http = new HttpClient(4);
  const leader = await cluster.getLeader();
  const secondsLeft = async () => {
    const sql = `select extract(epoch from expires_at - clock_timestamp())::float8 as left from api_keys where id = any($1::bigint[]) order by id`;
    const rows = await cluster.query<{ left: number }>(leader, sql, [keys.expiring.map(({ id }) => id)], store.database);
    return keys.expiring.map((_, i) => rows?.[i]?.left ?? NaN);
  };
  let wrong = 0;
  for (const endMs = monotonicMs() + watchedMs; monotonicMs() < endMs; ) {
    const left = await secondsLeft();
    for (const [i, { key }] of keys.expiring.entries()) {
      const seconds = left[i] ?? NaN;
      if (!(Math.abs(seconds) > nearEndSeconds)) continue;
      for (const url of store.urls) {
        const { status } = await http.send(`${url}/pets?limit=1`, { key });
        // An address that sends many keys that are not valid gets 429.
        if (seconds > 0 ? status !== 200 : status !== 401 && status !== 429) wrong += 1;
      }
    }
    await sleep(500);
  }
  return wrong;
}
