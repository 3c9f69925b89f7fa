import { beforeAll, describe, expect, test } from 'vitest';
import { testAuthor } from '../../../../testkit/test-author.ts';
import { type AuditFilter, changedValues, listActs, recordAudit, rotateAuditPartitions } from '../../../src/access/audit/audit.ts';
import { theService } from '../../../src/domain/actor.ts';
import { networkOfAddress } from '../../../src/platform/caller-addresses.ts';
import { executeAsOwner } from '../../databases.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const { db } = store.dependencies;
const record = (targetId: bigint) =>
  db.transaction((tx) => recordAudit(tx, testAuthor, 'key.created', { targetId, shelterId: null, after: { client: '1' } }), theService);

beforeAll(() => record(1n));

describe('a row of the audit', () => {
  const partition = async () =>
    (await store.read<{ name: string }>('select tableoid::regclass::text as name from audit limit 1'))[0]?.name ?? '';
  const changes = ['update %s set act = $$none$$', 'delete from %s', 'truncate %s'];

  test.each(changes)('is not changed by the role of the processes: %s', async (statement) => {
    for (const table of ['audit', await partition()])
      await expect(store.write(statement.replace('%s', table))).rejects.toThrow(/permission denied/);
  });

  test.each(changes)('is not changed by the owner of the tables either: %s', async (statement) => {
    for (const table of ['audit', await partition()]) {
      await expect(executeAsOwner(store.databaseUrl, statement.replace('%s', table), [])).rejects.toThrow(
        'rows of the audit are only added',
      );
    }
    expect(await listActs(db, { limit: 10 })).toHaveLength(1);
  });

  test.each(changes)('is not changed by a login that reads everything: %s', async (statement) => {
    const login = `reader_${process.pid}`;
    await store.asOwner(
      `do $$ begin if not exists (select from pg_roles where rolname = '${login}') then create role ${login} in role pg_read_all_data; end if; end $$`,
    );
    for (const table of ['audit', await partition()]) {
      const attempt = `set role ${login}; select count(*) from ${table}; ${statement.replace('%s', table)}`;
      await expect(store.asOwner(attempt)).rejects.toThrow('permission denied');
    }
  });

  test('is not there if its act was rolled back', async () => {
    const failed = db.transaction(async (tx) => {
      await recordAudit(tx, testAuthor, 'key.created', { targetId: 2n, shelterId: null });
      throw new Error('too late');
    }, theService);
    await expect(failed).rejects.toThrow('too late');
    expect(await listActs(db, { target: { kind: 'key', id: 2n }, limit: 10 })).toEqual([]);
  });
});

describe('a partition', () => {
  const names = () =>
    store.read<{ name: string }>(
      `select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = 'audit'::regclass order by 1`,
    );

  test('is there for this month and the next three', async () => {
    expect(await names()).toHaveLength(4);
    expect(await rotateAuditPartitions(db, 1_095)).toBe(0);
  });

  test('that ended within a year is dropped by no process', async () => {
    await expect(store.write('select drop_audit_partitions(364)')).rejects.toThrow('kept for a year');
    await expect(store.write(`drop table ${(await names())[0]?.name}`)).rejects.toThrow('must be owner');
  });

  test('that ended longer ago is dropped whole', async () => {
    const [first] = await names();
    const old = 'audit_202001';
    await store.asOwner(
      `create table ${old} (like audit including all excluding identity) with (autovacuum_vacuum_insert_scale_factor = 0.1)`,
    );
    await store.asOwner(`alter table audit attach partition ${old} for values from ('2020-01-01Z') to ('2020-02-01Z')`);
    expect(await rotateAuditPartitions(db, 1_095)).toBe(1);
    expect((await names())[0]).toEqual(first);
  });
});

describe('the list, with 200,000 rows', () => {
  beforeAll(async () => {
    await store.asOwner(`insert into audit (at, act, target, target_id, shelter_id, person_id, network)
      select now() + i * interval '10 ms', 'key.created', 'key', i, i % 1000 + 1, i % 1000 + 1, '192.0.2.0/24' from generate_series(1, 200000) as i`);
    await store.asOwner(`insert into person_history (person_id, at, application_id, application_history_id)
      select i % 1000 + 1, now() + i * interval '10 ms', i, i from generate_series(1, 200000) as i`);
    await store.asOwner('analyze audit');
    await store.asOwner('analyze person_history');
  });

  const cases: Readonly<Record<string, Omit<AuditFilter, 'limit'>>> = {
    'of everything': {},
    'of a person': { personId: 7n },
    'of an act': { act: 'key.created' },
    'of a target': { target: { kind: 'key', id: 7n } },
    'of a shelter': { shelterId: 7n },
    'of an animal': { target: { kind: 'animal', id: 7n } },
    'of an order': { target: { kind: 'order', id: 7n } },
    'of an application': { target: { kind: 'application', id: 7n } },
    'of a time': { since: new Date(), until: new Date(Date.now() + 60_000) },
  };

  test.each(Object.entries(cases))('%s is read by index, and goes on by index', async (_, filter) => {
    const plans: string[] = [];
    const explaining = {
      query: async (statement: { text: string; values: unknown[] }) => {
        const { rows } = await db.query<{ 'QUERY PLAN': string }>({
          ...statement,
          text: `explain (analyze, buffers, costs off) ${statement.text}`,
        });
        plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
        return { rows: [] };
      },
    } as never;
    await listActs(explaining, { ...filter, limit: 101 });
    await listActs(explaining, { ...filter, before: `${Date.now() + 600_000}000.3.1`, limit: 101 });
    for (const plan of plans) {
      // What is empty may be scanned.
      expect(plan).not.toMatch(/Seq Scan on (audit|person_history|history|application_history|orders)\S* .*\(actual time=\S+ rows=[1-9]/);
      const [, hit = '0'] = /Buffers: shared hit=(\d+)/.exec(plan) ?? [];
      expect({ plan, isSmall: Number(hit) < 700 }).toEqual({ plan, isSmall: true });
    }
  });
});

test.each([
  [{ a: 1, b: 'x' }, { a: 1, b: 'x' }, undefined],
  [
    { a: 1, b: 'x' },
    { a: 2, b: 'x' },
    { before: { a: 1 }, after: { a: 2 } },
  ],
  [{ a: null }, { a: ['x'] }, { before: { a: null }, after: { a: ['x'] } }],
])('the values that change from %j to %j are %j', (before, after, expected) => {
  expect(changedValues(before, after)).toEqual(expected);
});

test.each([
  ['192.0.2.7', '192.0.2.0/24'],
  ['::ffff:192.0.2.7', '192.0.2.0/24'],
  ['2001:db8:1:2:3::4', '2001:db8:1::/48'],
  ['fe80::1%eth0', 'fe80:0:0::/48'],
  ['unknown', 'unknown'],
  ['', 'unknown'],
])('the network of %j is %s', (address, network) => {
  expect(networkOfAddress(address)).toBe(network);
});
