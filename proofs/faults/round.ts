// One round of a scenario: a new store on the cluster, clients that record, the fault, and a judgement.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectionsOf } from '../../service/src/platform/db/pool.ts';
import { SeededRandom } from '../../testkit/seeded-random.ts';
import { type Availability, measureAvailability } from './checker/availability.ts';
import { check } from './checker/check.ts';
import { readFacts } from './checker/facts-queries.ts';
import type { Cluster } from './cluster.ts';
import { FaultyStore, type StoreKeys, smallLimits } from './faulty-store.ts';
import { type ConnectionSample, type Finding, type History, monotonicMs } from './history.ts';
import { keepFiles } from './kept-files.ts';
import { nodes } from './node-files.ts';
import type { RecordOptions } from './recorder.ts';
import { Recording } from './recording.ts';
import { holds, type Observed, type Scenario } from './scenario.ts';

/** With the default size of the pool. Commands have another login here. */
const { serve, worker } = connectionsOf(10);
const connectionsMax = (serves: number) => serves * serve + 2 * worker;
/** Each process has one, and one that waits for a standby that is away. */
const probesMax = (serves: number) => 2 * (serves + 2);
const beforeFaultMs = { min: 2_000, max: 4_000 };
const afterHealingMs = 3_000;
/** It ends as soon as everything has arrived. */
const settleMsMax = 120_000;
const connectionPollMs = 500;

export interface Judged {
  readonly observed: Observed;
  readonly availability: Availability;
  /** Without those that are allowed. */
  readonly findings: readonly Finding[];
  /** What the standby lacked, where that is allowed. */
  readonly lackedCount: number;
  readonly acknowledgedCount: number;
  readonly unknownCount: number;
  /** The rows violate a rule of the store, as `homeward verify` says. Undefined if not. */
  readonly violation: string | undefined;
}

export interface RoundOptions {
  readonly name: string;
  readonly scenario: Scenario;
  readonly cluster: Cluster;
  readonly seed: number;
  /** Of the scenario's load. */
  readonly loadShare: number;
  /** The source tree of a mutant. */
  readonly root?: string | undefined;
  readonly progress: (text: string) => void;
}

export async function runRound({ name, scenario, cluster, seed, loadShare, root, progress }: RoundOptions): Promise<Judged> {
  const random = new SeededRandom(seed);
  const folder = path.join(cluster.folder, `round-${name}-${seed}-${Math.round(monotonicMs())}`);
  mkdirSync(folder);
  await scenario.prepare?.(cluster);
  await using store = await FaultyStore.open({ cluster, folder, root, ...scenario.store });
  const keys = await store.createKeys();
  using connections = new ConnectionWatch(cluster, store.database);
  const recording = await Recording.start({ ...recordOptions(folder, store, keys), ...ratesOf(scenario, loadShare) });
  progress('the load runs');
  await sleep(random.between(beforeFaultMs.min, beforeFaultMs.max));
  const injected = await scenario.inject({ cluster, store, keys, random });
  progress('healing');
  await cluster.heal();
  const healedMs = monotonicMs();
  await sleep(afterHealingMs);
  const history = await recording.stop();
  progress('judging');
  const judged = await judge({ ...injected, history, healedMs }, store, connections.samples, cluster);
  await scenario.restore?.(cluster);
  const missed = scenario.measures.filter((measure) => !holds(measure, measure.of(judged.observed))).map(({ claim }) => claim);
  if (judged.findings.length > 0 || judged.violation !== undefined || missed.length > 0) keep(name, seed, folder, judged, missed);
  return judged;
}

function recordOptions(folder: string, store: FaultyStore, keys: StoreKeys): RecordOptions {
  const { words, env } = store.command;
  const settings = ['REDIS_URL', 'HOMEWARD_JOURNAL', 'NODE_COMPILE_CACHE'].map((variable) => `${variable}=${env[variable]}`);
  return {
    file: path.join(folder, 'history.jsonl'),
    urls: store.urls,
    manager: keys.manager,
    partners: keys.partners,
    revocable: {
      keys: keys.revocable,
      command: ['env', `DATABASE_URL=${store.ownerUrl}`, ...settings, ...words, 'keys', 'revoke', '{id}'],
    },
    limited: { key: keys.limited.key, ...smallLimits },
    streams: 4,
    endpoints: 20,
    endpointsWithAllTypes: 4,
    settleMsMax,
  };
}

function ratesOf({ load = { writes: 100, reads: 300 } }: Scenario, loadShare: number) {
  return { writesPerSecond: load.writes * loadShare, readsPerSecond: load.reads * loadShare };
}

async function judge(observed: Observed, store: FaultyStore, samples: readonly ConnectionSample[], cluster: Cluster): Promise<Judged> {
  const { history, checks } = observed;
  const facts = await readFacts(cluster.superuserUrlOf(await cluster.getLeader(), store.database));
  const findings = check(history, facts, {
    connections: { samples, countMax: connectionsMax(store.serves.length), probesMax: probesMax(store.serves.length) },
    commitsWaitUntilMs: observed.healedMs,
    ...(typeof checks === 'function' ? checks(observed) : checks),
  });
  const violation = await store.homeward('verify').then(
    () => undefined,
    (error: unknown) => String((error as { stdout?: string }).stdout || error).slice(0, 500),
  );
  return {
    observed,
    availability: measureAvailability(history, observed.faultMs),
    findings: findings.filter(({ isAllowed }) => !isAllowed),
    lackedCount: findings.filter(({ isAllowed }) => isAllowed).length,
    acknowledgedCount: countWrites(history, 'ok'),
    unknownCount: countWrites(history, 'unknown'),
    violation,
  };
}

const countWrites = ({ operations }: History, outcome: string) =>
  operations.filter((one) => one.kind !== 'read' && one.kind !== 'list' && one.outcome === outcome).length;

/** The history and the logs survive the run, and the output says where they are. */
function keep(
  name: string,
  seed: number,
  folder: string,
  { findings, violation, observed, availability }: Judged,
  missed: readonly string[],
): void {
  const kept = keepFiles(path.dirname(folder), `${name}-${seed}`, path.basename(folder));
  writeFileSync(
    path.join(kept, 'findings.json'),
    JSON.stringify(
      { findings, violation, missed, faultMs: observed.faultMs, healedMs: observed.healedMs, seen: observed.seen, availability },
      undefined,
      2,
    ),
  );
  console.error(`${name}, seed ${seed}: the history and the logs are in ${kept}`);
  for (const { rule, subject, text } of findings.slice(0, 5)) console.error(`  ${rule}: ${subject}: ${text}`);
  if (violation !== undefined) console.error(`  verify: ${violation}`);
}

/** How many connections the store has at a server: also at one that is not the primary. */
class ConnectionWatch implements Disposable {
  readonly samples: ConnectionSample[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(cluster: Cluster, database: string) {
    this.#timer = setInterval(() => void this.#sample(cluster, database), connectionPollMs);
  }

  async #sample(cluster: Cluster, database: string): Promise<void> {
    const sql = `select count(*)::int as count, count(*) filter (where application_name = 'homeward probe')::int as probes
      from pg_stat_activity where usename = 'homeward_api' and datname = $1`;
    const counted = await Promise.all(nodes.map((node) => cluster.query<{ count: number; probes: number }>(node, sql, [database])));
    const atMs = monotonicMs();
    this.samples.push(...counted.flatMap((rows) => rows ?? []).map((counts) => ({ atMs, ...counts })));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
