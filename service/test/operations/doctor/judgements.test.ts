// The judgements that a test can't bring about, or only by waiting for hours.

import { expect, test } from 'vitest';
import { checkSettings } from '../../../src/operations/doctor/doctor.ts';
import type { SnapshotHolder, Work } from '../../../src/operations/doctor/doctor-queries.ts';
import { broken, findingOf, inOrder, type Judgement, note, ok, overall, skipped, warning } from '../../../src/operations/doctor/finding.ts';
import { type ClockReading, judgeClocks } from '../../../src/operations/doctor/machine-checks.ts';
import { checkPhotos } from '../../../src/operations/doctor/photos-check.ts';
import { judgeReplication, judgeSnapshots } from '../../../src/operations/doctor/postgres-activity.ts';
import { type Host, judgeHosts, judgeSettings } from '../../../src/operations/doctor/postgres-setup.ts';
import {
  judgeEviction,
  judgeLatency,
  judgeMemory,
  judgePersistence,
  judgeServer,
  parseInfo,
} from '../../../src/operations/doctor/redis-checks.ts';
import { judgeReplicas } from '../../../src/operations/doctor/sentinel-checks.ts';
import { judgeEndpoints, judgeWork } from '../../../src/operations/doctor/work-checks.ts';
import { loadConfig } from '../../../src/platform/config.ts';

const severityAndText = ({ severity, found }: Judgement) => `${severity}: ${found}`;

test('the worst comes first, then what may be the cause of the others', () => {
  const findings = [
    findingOf('url', ok('')),
    skipped('feed', ''),
    findingOf('redis', warning('', '')),
    findingOf('worker', broken('', '')),
    findingOf('disk', note('', '')),
    findingOf('postgres', broken('', '')),
  ];
  expect(inOrder(findings).map(({ check }) => check)).toEqual(['postgres', 'worker', 'redis', 'disk', 'feed', 'url']);
  expect([overall(findings), overall(findings.slice(0, 3)), overall(findings.slice(0, 2))]).toEqual(['broken', 'warning', 'ok']);
});

/** The server is ahead by this much, and its reply took this long. */
const clock = (aheadMs: number, tookMs = 2): ClockReading => ({
  sentMs: 1_000_000,
  serverMs: 1_000_000 + tookMs / 2 + aheadMs,
  receivedMs: 1_000_000 + tookMs,
});

test.each<[clocks: Parameters<typeof judgeClocks>[0], judged: string]>([
  [{ PostgreSQL: clock(20), Redis: clock(-300) }, 'ok: This machine and PostgreSQL and Redis agree to 0.3 s.'],
  [{ PostgreSQL: clock(5_000), Redis: clock(5_100) }, 'warning: The clock of this machine is 5.1 s behind that of PostgreSQL and Redis.'],
  [
    { PostgreSQL: clock(-70_000), Redis: clock(-70_000) },
    'broken: The clock of this machine is 70.0 s ahead of that of PostgreSQL and Redis.',
  ],
  [{ PostgreSQL: clock(10), Redis: clock(3_000) }, 'warning: The clock of Redis is 3.0 s ahead of that of this machine.'],
  [{ PostgreSQL: clock(-3_000), Redis: clock(0) }, 'warning: The clock of PostgreSQL is 3.0 s behind that of this machine.'],
  [{ Redis: clock(3_000) }, 'warning: The clock of this machine is 3.0 s behind that of Redis.'],
  // Read at some instant of a slow reply, so nothing is known.
  [{ PostgreSQL: clock(1_400, 3_000), Redis: clock(0) }, 'ok: This machine and PostgreSQL and Redis agree to 0.0 s.'],
  [{}, "skipped: Not checked: neither PostgreSQL's nor Redis' clock can be read."],
])('clocks %j', (clocks, judged) => {
  expect(severityAndText(judgeClocks(clocks))).toBe(judged);
});

const session: SnapshotHolder = { kind: 'session', name: '7', application: 'pg_dump', state: 'active', seconds: 60, transactions: 5 };
test.each<[holders: SnapshotHolder[], judged: string, fix: string | undefined]>([
  [[], 'ok: No transaction has an old snapshot.', undefined],
  [[session], 'ok: The oldest is 60 s old.', undefined],
  [
    [{ ...session, seconds: 7_300 }],
    "warning: Process 7 (pg_dump, active) has kept a snapshot for 2 h and 5 transactions, so dead rows can't be removed.",
    'Ask its owner, or end it: select pg_terminate_backend(7).',
  ],
  [
    [{ kind: 'prepared transaction', name: 'x1', application: 'ada', state: 'prepared', seconds: 90_000, transactions: 9 }],
    "warning: The prepared transaction 'x1' has kept a snapshot for 25 h and 9 transactions, so dead rows can't be removed.",
    "rollback prepared 'x1'.",
  ],
  [
    [{ kind: 'replication slot', name: 'old', application: null, state: 'inactive', seconds: null, transactions: 200_000 }],
    "warning: The inactive replication slot 'old' has kept a snapshot for 200,000 transactions, so dead rows can't be removed.",
    "If nobody needs it: select pg_drop_replication_slot('old').",
  ],
])('snapshots %j', (holders, judged, fix) => {
  const found = judgeSnapshots(holders);
  expect({ judged: severityAndText(found), fix: found.fix }).toEqual({ judged, fix });
});

test.each<[given: Parameters<typeof judgeReplication>, judged: string]>([
  [[[], [], undefined], 'ok: No standby is connected.'],
  [
    [[{ name: 'b', bytes: 10, seconds: 0.1 }], [{ name: 's', bytes: 10, isEndless: true, isLost: false }], { names: '', connected: 0 }],
    'ok: 1 standby, not behind.',
  ],
  [[[{ name: 'b', bytes: 2 ** 31, seconds: null }], [], undefined], 'warning: The standby b is behind by 2.0 GiB, 0 s.'],
  [[[{ name: 'b', bytes: 10, seconds: 90 }], [], undefined], 'warning: The standby b is behind by 10 B, 90 s.'],
  [
    [[], [{ name: 's', bytes: 2 ** 34, isEndless: false, isLost: false }], undefined],
    "warning: The replication slot 's' has no reader and keeps 16 GiB of the log on disk.",
  ],
  [
    [[], [{ name: 's', bytes: 2 ** 26, isEndless: true, isLost: false }], undefined],
    "warning: The replication slot 's' has no reader and keeps 64 MiB of the log on disk, without a limit (max_slot_wal_keep_size).",
  ],
  [
    [[], [{ name: 's', bytes: null, isEndless: false, isLost: true }], undefined],
    "warning: The replication slot 's' has no reader and has lost the log that it needs.",
  ],
  [[[], [], { names: 'b', connected: 0 }], "broken: Commits wait for a standby (synchronous_standby_names = 'b'), and none is connected."],
  [
    [[], [], { names: '', connected: 0 }, 'lossless'],
    'warning: HOMEWARD_FAILOVER is lossless, and no standby confirms commits: the next failover loses what the standby lacks.',
  ],
  [[[], [], { names: '', connected: 0 }, 'lossy'], 'ok: No standby is connected.'],
  [[[{ name: 'b', bytes: 10, seconds: 0.1 }], [], { names: 'b', connected: 1 }, 'lossless'], 'ok: 1 standby, not behind.'],
])('replication %j', (given, judged) => {
  expect(severityAndText(judgeReplication(...given))).toBe(judged);
});

const hostOf = (name: string, state: Partial<NonNullable<Host['state']>> | Error): Host => {
  if (state instanceof Error) return { address: '', name, failure: state };
  return { address: '', name, state: { isReadOnly: false, system: '7', timeline: '00000001', startedAt: name, ...state } };
};
const standby = { isReadOnly: true, timeline: null };
const silent = new Error('timeout expired');

test.each<[hosts: readonly Host[], judged: string]>([
  [[hostOf('a', {}), hostOf('b', standby)], 'ok: The primary is a. Standbys, or read-only: b.'],
  [[hostOf('a', {}), hostOf('b', silent)], 'warning: b: it does not reply. The primary is a.'],
  [[hostOf('a', standby), hostOf('b', silent)], 'broken: No server accepts writes. b: it does not reply. Standbys, or read-only: a.'],
  [[hostOf('a', standby), hostOf('b', standby)], 'broken: No server accepts writes. Standbys, or read-only: a, b.'],
  [
    [hostOf('a', {}), hostOf('b', { timeline: '0000000A' }), hostOf('c', silent)],
    'broken: b (timeline 10) and a (timeline 1) all accept writes: what is written to one is missing at the other.',
  ],
  // One server with two names.
  [[hostOf('a', {}), hostOf('b', { startedAt: 'a' })], 'ok: The primary is a.'],
])('hosts %j', (hosts, judged) => {
  expect(severityAndText(judgeHosts(hosts))).toBe(judged);
});

test('a server that is down is left to the failover tool: started by hand, a former primary would accept writes', () => {
  expect(judgeHosts([hostOf('a', silent), hostOf('b', {})]).fix).toBe(
    'Let your failover tool start it, as a standby of b, or remove it from DATABASE_URL.',
  );
  const rejected = Object.assign(new Error('password authentication failed'), { code: '28P01' });
  expect(judgeHosts([hostOf('a', rejected), hostOf('b', {})]).fix).toBe(
    'Correct DATABASE_URL: in the user and the password, special characters are percent-encoded.',
  );
});

test('if no server accepts writes, and this machine can not log in to one, that is mended first', () => {
  const rejected = Object.assign(new Error('password authentication failed'), { code: '28P01' });
  expect(judgeHosts([hostOf('a', rejected), hostOf('b', standby), hostOf('c', silent)]).fix).toMatch(/^Correct DATABASE_URL/);
  expect(judgeHosts([hostOf('b', standby), hostOf('c', silent)]).fix).toMatch(/^During a failover, wait/);
});

test('of two primaries, the one that was promoted later is kept, unless they are of different systems', () => {
  const [older, later] = [hostOf('a', {}), hostOf('b', { timeline: '00000002' })];
  expect(judgeHosts([older, later]).fix).toBe(
    'Stop PostgreSQL on a: b was promoted later. Keep the data of a: what was written there since is nowhere else.',
  );
  for (const other of [
    hostOf('b', { timeline: '00000002', system: '8' }),
    hostOf('b', { system: null, timeline: null }),
    hostOf('b', {}),
  ]) {
    expect(judgeHosts([older, other]).fix).toMatch(/^Stop PostgreSQL on all but the one that your failover tool calls the primary/);
  }
});

test.each<[judge: typeof judgeMemory, info: string, judged: RegExp]>([
  [judgeMemory, 'used_memory:100\nmaxmemory:0', /^ok: Redis uses 100 B, without a limit/],
  [judgeMemory, 'used_memory:100\nmaxmemory:1000', /^ok/],
  [judgeMemory, 'used_memory:950\r\nmaxmemory:1000\r\n', /^warning: Redis uses 950 B of 1000 B\./],
  [judgeMemory, 'used_memory:1000\nmaxmemory:1000', /^broken: .+ It rejects writes\.$/],
  [judgeEviction, 'maxmemory_policy:noeviction', /^ok/],
  [judgeEviction, 'maxmemory_policy:volatile-ttl\nevicted_keys:7', /^warning: The maxmemory-policy is volatile-ttl.+ 7 keys/],
  [(info) => judgePersistence(info, ''), 'aof_enabled:0\nrdb_last_bgsave_status:ok', /^ok/],
  [(info) => judgePersistence(info, '3600 1'), 'aof_enabled:1', /^note: Redis writes snapshots and an append-only file/],
  [(info) => judgePersistence(info, '3600 1'), 'aof_enabled:0\nrdb_last_bgsave_status:err', /^broken: .+rdb_last_bgsave_status/],
  [(info) => judgeServer(info, 'Redis'), 'redis_version:6.2.1', /^broken: Redis: version 6\.2\.1/],
  [(info) => judgeServer(info, 'Redis'), 'redis_version:7.0.0\nrole:slave', /^broken: Redis is a replica/],
  [(info) => judgeServer(info, 'Redis'), 'redis_version:7.0.0\ncluster_enabled:1', /^broken: Redis is a Redis Cluster/],
  [(info) => judgeServer(info, 'Redis'), 'redis_version:7.0.0\nloading:1', /^broken: Redis is loading/],
  [(info) => judgeServer(info, 'Redis'), 'redis_version:7.0.0\nconnected_clients:95\nmaxclients:100', /^warning: .*95 of 100/],
  [(info) => judgeServer(info, 'Redis'), 'valkey_version:8.0.1\nredis_version:7.2.4\nconnected_clients:5', /^ok: Redis: version 8\.0\.1/],
  [(info) => judgeServer(info, 'Redis'), 'redis_version:7.0.0\nredis_mode:sentinel', /^broken: Redis is a Sentinel/],
  [(info) => judgeReplicas(info, { toWrite: 1, maxLagSeconds: 2 }), 'connected_slaves:2', /^ok: 2 replicas follow the primary/],
  [
    (info) => judgeReplicas(info, { toWrite: 1, maxLagSeconds: 2 }),
    'connected_slaves:1',
    /^note: 1 replica follows .* until the old one is back/,
  ],
  [(info) => judgeReplicas(info, { toWrite: 1, maxLagSeconds: 2 }), 'connected_slaves:0', /^warning: No replica follows/],
  [(info) => judgeReplicas(info, { toWrite: 0, maxLagSeconds: 10 }), 'connected_slaves:2', /^warning: .*min-replicas-to-write is not set/],
  [(info) => judgeReplicas(info, { toWrite: 1, maxLagSeconds: 0 }), 'connected_slaves:2', /^warning: .*min-replicas-to-write is not set/],
  [(info) => judgeReplicas(info, undefined), 'connected_slaves:2', /^note: .*can't be read here/],
])('Redis %#: %j', (judge, info, judged) => {
  expect(severityAndText(judge(parseInfo(info)))).toMatch(judged);
});

test.each([
  [[1, 2, 90], 'ok'],
  [[9, 27, 30], 'warning'],
  [[40, 60, 300], 'broken'],
])('pings of %j ms are %s', (tookMs, severity) => {
  expect(judgeLatency(tookMs).severity).toBe(severity);
});

const atWork: Work = {
  workers: 2,
  expiryLateSeconds: null,
  feedLateSeconds: null,
  unpublished: 0,
  hasPartition: true,
  detachedPartition: null,
  historyDaysLeft: 100,
  auditDaysLeft: 100,
};
test.each<[work: Partial<Work>, judged: string[]]>([
  [{}, ['ok: 2 workers are running.', 'ok: Every event is published.']],
  [
    { workers: 0, feedLateSeconds: 900 },
    [expect.stringMatching(/^broken: No worker is running/), 'skipped: Not checked: no worker is running.'],
  ],
  [
    { expiryLateSeconds: 30 },
    ['broken: 2 workers are running, but an order that expired 30 s ago still reserves its animal.', expect.anything()],
  ],
  [
    { historyDaysLeft: 12 },
    [
      'warning: 2 workers are running, but the history has partitions for 12 days only; after that, nothing can be written.',
      expect.anything(),
    ],
  ],
  ...[12, null].map((auditDaysLeft): [Partial<Work>, string[]] => [
    { auditDaysLeft },
    [expect.stringMatching(/^warning: .*the audit has partitions for (12|0) days only/), expect.anything()],
  ]),
  [{ feedLateSeconds: 20, unpublished: 3 }, [expect.anything(), 'warning: 3 events not published yet, the oldest 20 s old.']],
  [
    { feedLateSeconds: 300, unpublished: 10_000 },
    [expect.anything(), 'broken: At least 10,000 events not published yet, the oldest 5 min old.'],
  ],
  [{ hasPartition: false }, [expect.anything(), 'broken: The feed has no partition for today, so that no event can be published.']],
])('work %j', (work, judged) => {
  expect(judgeWork({ ...atWork, ...work }).map(severityAndText)).toEqual(judged);
});

test('endpoints that failed a moment ago are none yet, disabled ones are notes, and many are counted', () => {
  const failing = { id: 1n, client: 2n, isEnabled: true, seconds: 700, reason: null };
  expect(judgeEndpoints([{ ...failing, seconds: 30 }]).map(severityAndText)).toEqual([
    'ok: No endpoint has been failing for 10 min or more.',
  ]);
  expect(
    judgeEndpoints([failing, failing, failing, failing, { ...failing, id: 9n, isEnabled: false, reason: 'Gone.' }]).map(severityAndText),
  ).toEqual([
    'warning: 4 endpoints failing: 1 of client 2, for 12 min; 1 of client 2, for 12 min; 1 of client 2, for 12 min; and 1 more.',
    'note: 1 endpoint disabled in the last 7 days: 9 of client 2 (Gone.).',
  ]);
});

test.each<[env: Record<string, string>, judged: RegExp]>([
  [{ HOMEWARD_JOURNAL: '/var/lib/homeward/journal.log' }, /^ok/],
  [{}, /^note: HOMEWARD_JOURNAL is not set/],
  [{ HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on' }, /^warning: HOMEWARD_WEBHOOKS_TO_LOOPBACK is on/],
  [
    { HOMEWARD_JOURNAL: '/j', HOMEWARD_CONSOLE_URL: 'https://c.example.org' },
    /^warning: A proxy leads from https:\/\/c\.example\.org to 127\.0\.0\.1/,
  ],
  [{ HOMEWARD_JOURNAL: '/j', HOMEWARD_CONSOLE_URL: 'https://c.example.org', HOMEWARD_TRUSTED_PROXIES: '127.0.0.1' }, /^ok/],
  [{ HOMEWARD_JOURNAL: '/j', HOST: '0.0.0.0' }, /^note: HOST is 0\.0\.0\.0 and HOMEWARD_TRUSTED_PROXIES is empty/],
  [{ HOMEWARD_JOURNAL: '/j', HOST: '0.0.0.0', HOMEWARD_TRUSTED_PROXIES: '10.0.0.0/8' }, /^ok/],
])('settings %j', (env, judged) => {
  expect(severityAndText(checkSettings(loadConfig(env)))).toMatch(judged);
});

const noPhotos = { hasPhotos: false, picture: undefined, originalsMissing: 0, mark: { id: 'x', isWritten: false } };

test('photos that the variables do not name are no photos that are off', async () => {
  expect(await checkPhotos(undefined, { ...noPhotos, hasPhotos: true })).toMatchObject({
    severity: 'note',
    found: expect.stringContaining('the store has photos'),
  });
  expect(await checkPhotos(undefined, noPhotos)).toMatchObject({ severity: 'ok' });
});

test.each([
  ['client_min_messages', 'warning', 'ok'],
  ['client_min_messages', 'error', 'broken'],
  ['default_transaction_isolation', 'serializable', 'broken'],
])('%s is %s: %s', (name, value, severity) => {
  const judged = judgeSettings([{ name, value, source: 'database' }], { login: 'api', database: 'store' });
  expect(judged.severity).toBe(severity);
  expect(judged.fix ?? '').toContain(severity === 'ok' ? '' : `alter database "store" reset ${name}`);
});
