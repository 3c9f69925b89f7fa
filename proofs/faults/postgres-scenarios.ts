// Faults of PostgreSQL's nodes and of their replication.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient } from '../../testkit/http.ts';
import { until } from '../../testkit/until.ts';
import { readFacts } from './checker/facts-queries.ts';
import type { Cluster } from './cluster.ts';
import type { StoreKeys } from './faulty-store.ts';
import { type Facts, monotonicMs } from './history.ts';
import { faultOfPrimary, readsThatSucceed, seen, takeoverWithinMs, untilAnotherLeads, writesBackWithin } from './injection.ts';
import { unknownIsSuccess } from './mutants.ts';
import { type Node, nodes, ttlSeconds } from './node-files.ts';
import type { FaultContext, Injected, Scenario, ScenarioMutant } from './scenario.ts';

const pauseMs = 20_000;
const standbyAwayMs = 20_000;
/** Events that the standby lacks at least when it takes over. */
const lackedEvents = 10;
/** Shorter than PostgreSQL waits for a standby that is silent: Patroni must still count it as synchronous when the primary ends. */
const cancelledWaitMs = 2_200;
const retriedCount = 4;

/** Longer than replication takes: commits are in flight when the primary ends. */
const heldMs = 300;

const asynchronous: ScenarioMutant = {
  name: 'asynchronous replication',
  changes: [{ file: 'ha/patroni.yml', from: 'synchronous_mode: true', to: 'synchronous_mode: false' }],
};

export const postgresScenarios = {
  'kill-postgres': {
    times: 20,
    inject: faultOfPrimary((cluster, leader) => cluster.killPostgres(leader), { heldMs }),
    measures: [writesBackWithin(5)],
    mutant: unknownIsSuccess('unknown is 201'),
  },
  'kill-node': {
    times: 20,
    inject: faultOfPrimary((cluster, leader) => cluster.killNode(leader)),
    measures: [writesBackWithin(ttlSeconds + 5)],
    mutant: {
      name: 'two probes',
      edits: [
        {
          file: 'platform/db/probes.ts',
          from: 'if (this.#next && !this.#isClosed) void this.#run();',
          to: 'if (!this.#isClosed) void this.#run();',
        },
        {
          file: 'platform/db/probes.ts',
          from: 'this.#client = client;\n    return client.connect();',
          to: 'return client.connect().then(() => (this.#client = client));',
        },
      ],
    },
  },
  'cut-all': {
    times: 10,
    inject: faultOfPrimary((cluster, leader) => cluster.cutOff(leader), { heldMs }),
    measures: [writesBackWithin(ttlSeconds + 8)],
    mutant: asynchronous,
  },
  'cut-replicas': {
    times: 10,
    inject: faultOfPrimary((cluster, leader) => cluster.cutFromNodes(leader)),
    measures: [writesBackWithin(ttlSeconds + 8)],
    mutant: asynchronous,
  },
  pause: {
    times: 10,
    inject: pausePrimary,
    measures: [writesBackWithin(ttlSeconds + 5)],
    mutant: {
      name: 'standby accepted',
      edits: [
        {
          file: 'platform/db/postgres-servers.ts',
          from: 'if (isReadOnly) throw new NotPrimary();',
          to: 'if (isReadOnly && !this.#seen) throw new NotPrimary();',
        },
      ],
    },
  },
  switchover: {
    times: 10,
    inject: faultOfPrimary((cluster, leader) => cluster.switchOver(leader)),
    measures: [writesBackWithin(3)],
    // Patroni starts the former primary again, so that no connection to it is left to reply with 25006: primary.test.ts is for that.
    mutant: {
      name: 'a server is never left for the next',
      edits: [
        {
          file: 'platform/db/postgres-servers.ts',
          from: 'if (address === this.current) this.#current',
          to: 'if (address === this.current && !this.#seen) this.#current',
        },
      ],
    },
  },
  'lossy-failover': {
    times: 10,
    // A worker that sees the failover needs no setting.
    store: { env: { HOMEWARD_FAILOVER: '' } },
    prepare: (cluster) => cluster.configure({ synchronous_mode: false }),
    restore: (cluster) => cluster.configure({ synchronous_mode: true }),
    inject: failOverToLaggard,
    mutant: {
      name: 'no comparison of servers',
      edits: [{ file: 'changes/events/publisher.ts', from: 'here !== null && recorded !== null && here !== recorded;', to: 'false;' }],
    },
    measures: [
      seen('lackedEvents', { claim: 'events that the standby lacked', unit: 'count', limit: lackedEvents, isFloor: true }),
      seen('recordedSeconds', {
        claim: 'until a worker has applied the journal and recorded the new server',
        unit: 's',
        limit: 30,
        isTimed: true,
      }),
    ],
  },
  'standby-away': {
    times: 10,
    // Otherwise Patroni would let the primary go on alone.
    prepare: (cluster) => cluster.configure({ synchronous_mode_strict: true }),
    restore: (cluster) => cluster.configure({ synchronous_mode_strict: false }),
    inject: keepStandbysAway,
    mutant: {
      name: 'shared connections',
      edits: [
        {
          file: 'platform/db/pool.ts',
          from: 'return this.#pipeline(this.#reads, statement);',
          to: 'return this.#pipeline(this.#writes, statement);',
        },
      ],
    },
    measures: [readsThatSucceed(99.9)],
  },
  'cancelled-wait': {
    times: 10,
    store: { hasSpare: true },
    inject: cancelWaits,
    mutant: {
      name: 'no row lock',
      edits: [{ file: 'access/idempotency/idempotency-queries.ts', from: ' for key share`', to: '`' }],
    },
    measures: [
      seen('cancelled', { claim: 'commits whose wait for the standby was cancelled', unit: 'count', limit: 1, isFloor: true }),
      seen('retried', { claim: 'of these, requests sent again to another process', unit: 'count', limit: 1, isFloor: true }),
      seen('replayed', { claim: 'of those, replayed while no standby has the row', unit: 'count', limit: 0 }),
    ],
  },
} satisfies Record<string, Scenario>;

async function pausePrimary({ cluster }: FaultContext): Promise<Injected> {
  const leader = await cluster.getLeader();
  const faultMs = monotonicMs();
  cluster.pause(leader);
  await sleep(pauseMs);
  return { faultMs };
}

async function keepStandbysAway({ cluster }: FaultContext): Promise<Injected> {
  const leader = await cluster.getLeader();
  const faultMs = monotonicMs();
  cluster.holdReplication(leader);
  await sleep(standbyAwayMs);
  return { faultMs, endMs: monotonicMs() };
}

/** What the standbys have when the primary ends is all that they ever get of it. */
async function failOverToLaggard({ cluster, store: { database } }: FaultContext): Promise<Injected> {
  const leader = await cluster.getLeader();
  const faultMs = monotonicMs();
  cluster.holdReplication(leader);
  // What was sent before that has arrived by now.
  await sleep(500);
  const before = await lastPosition(cluster, leader, database);
  const published = async () => (await lastPosition(cluster, leader, database)) - before;
  const enough = async () => ((await published()) >= lackedEvents ? await published() : undefined);
  const count = await until('events are published', enough, { timeoutMs: 20_000 });
  cluster.killPostgresProcesses(leader);
  const endedMs = monotonicMs();
  const standbys = nodes.filter((node) => node !== leader);
  const promoted = watchPromotion(cluster, standbys);
  const facts = new Map<Node, Facts>();
  for (const node of standbys) facts.set(node, await readFacts(cluster.superuserUrlOf(node, database)));
  const { next, lastStandbyMs } = await promoted;
  const standby = facts.get(next);
  if (!standby || standby.readAtMs > lastStandbyMs) throw new Error(`what ${next} lacked was not read before it took over`);
  const recordedMs = await untilRecorded(cluster, next, database);
  await sleep(1_000);
  return {
    faultMs,
    checks: { lackedByStandby: { standby, beginMs: endedMs, endMs: lastStandbyMs }, revocationsCountFromMs: recordedMs },
    seen: { lackedEvents: before + count - (standby.events.at(-1)?.position ?? 0), recordedSeconds: (recordedMs - endedMs) / 1_000 },
  };
}

/** Which standby takes over, and an instant at which it was still one: what was acknowledged until then is of the old primary. */
async function watchPromotion(cluster: Cluster, standbys: readonly Node[]): Promise<{ next: Node; lastStandbyMs: number }> {
  let lastStandbyMs = 0;
  const next = await until(
    'a standby takes over',
    async () => {
      const askedMs = monotonicMs();
      const replies = await Promise.all(standbys.map((node) => cluster.query<{ is: boolean }>(node, 'select pg_is_in_recovery() as is')));
      if (replies.every((rows) => rows?.[0]?.is)) lastStandbyMs = askedMs;
      return standbys.find((_, i) => replies[i]?.[0]?.is === false);
    },
    { timeoutMs: takeoverWithinMs },
  );
  return { next, lastStandbyMs };
}

async function lastPosition(cluster: Cluster, node: Node, database: string): Promise<number> {
  const rows = await cluster.query<{ position: string }>(node, 'select last_position::text as position from feed', [], database);
  if (!rows?.[0]) throw new Error(`${node} has no feed`);
  return Number(rows[0].position);
}

/** A worker has applied the journal, if it has one, and recorded this server. */
async function untilRecorded(cluster: Cluster, node: Node, database: string): Promise<number> {
  const sql = 'select server = current_server() as recorded from deployment';
  const isRecorded = async () => (await cluster.query<{ recorded: boolean }>(node, sql, [], database))?.[0]?.recorded;
  await until('the new server is recorded', isRecorded, { timeoutMs: 60_000 });
  return monotonicMs();
}

/**
 * A request is sent again with its Idempotency-Key, by the recorded clients and here: to a process that no write has told yet that the
 * standby is away. It must not be a success before a standby has the row.
 */
async function cancelWaits({ cluster, store, keys }: FaultContext): Promise<Injected> {
  using http = new HttpClient();
  const leader = await cluster.getLeader();
  const faultMs = monotonicMs();
  const untilMs = faultMs + cancelledWaitMs;
  cluster.holdReplication(leader);
  const retries = Array.from({ length: retriedCount }, (_, i) =>
    addTwice(http, { url: store.urls[i % 2], spareUrl: store.spareUrl, keys }),
  );
  let cancelled = 0;
  while (monotonicMs() < untilMs) {
    const rows = await cluster.query<{ count: number }>(leader, cancelSql);
    cancelled += rows?.[0]?.count ?? 0;
    await sleep(100);
  }
  cluster.killPostgresProcesses(leader);
  const outcomes = await Promise.all(retries);
  await untilAnotherLeads(cluster, leader);
  await sleep(1_000);
  return {
    faultMs,
    checks: { vanishing: [{ beginMs: faultMs, endMs: monotonicMs() }] },
    seen: {
      cancelled,
      retried: outcomes.filter((outcome) => outcome !== 'not retried').length,
      replayed: outcomes.filter((outcome) => outcome === 'replayed').length,
    },
  };
}

const cancelSql = `select count(pg_cancel_backend(pid))::int as count from pg_stat_activity where usename = 'homeward_api' and wait_event = 'SyncRep'`;

async function addTwice(
  http: HttpClient,
  { url, spareUrl, keys }: { url: string | undefined; spareUrl: string; keys: StoreKeys },
): Promise<'not retried' | 'rejected' | 'replayed'> {
  const headers = { 'idempotency-key': randomUUID() };
  const asked = { method: 'POST', key: keys.manager.key, body: { name: 'Cancelled', categoryId: 1 }, headers };
  const first = await http.send(`${url}/pets`, asked);
  if (first.status !== 503) return 'not retried';
  return (await http.send(`${spareUrl}/pets`, asked)).status === 201 ? 'replayed' : 'rejected';
}
