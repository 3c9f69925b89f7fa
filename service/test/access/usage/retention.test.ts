// The tests do not wait: they create partitions of past days.
import pg from 'pg';
import { beforeEach, expect, test } from 'vitest';
import { retentionDays, rotateUsagePartitions } from '../../../src/access/usage/usage.ts';
import { findLastUses } from '../../../src/access/usage/usage-queries.ts';
import { createTestStore, type TestStore } from '../../test-store.ts';
import { minutesAgo, recordUsage } from '../../usage-steps.ts';

const dayMs = 86_400_000;
let store: TestStore;
let owner: pg.Client;
beforeEach(async () => {
  store = await createTestStore();
  owner = new pg.Client({ connectionString: store.databaseUrl });
  await owner.connect();
  return async () => {
    await owner.end();
    await store[Symbol.asyncDispose]();
  };
});

const startOfDay = (daysAgo: number) => new Date(Math.floor(Date.now() / dayMs - daysAgo) * dayMs);
const nameOfDay = (daysAgo: number) => `key_usage_${startOfDay(daysAgo).toISOString().slice(0, 10).replaceAll('-', '')}`;

async function createDay(daysAgo: number): Promise<void> {
  const [from, to] = [startOfDay(daysAgo), startOfDay(daysAgo - 1)].map((day) => day.toISOString());
  await owner.query(`create table ${nameOfDay(daysAgo)} partition of key_usage for values from ('${from}') to ('${to}')`);
}

async function days(): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'key_usage'::regclass order by 1`,
  );
  return rows.map(({ name }) => name);
}

test('partitions exist from yesterday to the day after tomorrow, and those that ended 30 days ago are dropped', async () => {
  const key = await store.createKey();
  for (const daysAgo of [retentionDays, retentionDays + 1, retentionDays + 2]) {
    await createDay(daysAgo);
    await recordUsage(store, key, { at: startOfDay(daysAgo), requests: 1 });
  }
  expect((await findLastUses(store.dependencies.db, [key.id])).get(key.id)).toEqual(startOfDay(retentionDays));
  await owner.query(`drop table ${nameOfDay(-2)}`);
  expect(await rotateUsagePartitions(store.dependencies.db)).toBe(2);
  expect(await days()).toEqual([retentionDays, 1, 0, -1, -2].map(nameOfDay));
  expect(await rotateUsagePartitions(store.dependencies.db)).toBe(0);
});

test('a process that has not written for a day is forgotten', async () => {
  const key = await store.createKey();
  for (let i = 0; i < 2; i += 1) await recordUsage(store, key, { at: minutesAgo(0), requests: 1 });
  await owner.query(
    `update usage_writers set written_at = now() - interval '25 hours' where process_id = (select min(process_id::text)::uuid from usage_writers)`,
  );
  await rotateUsagePartitions(store.dependencies.db);
  expect((await owner.query('select from usage_writers')).rowCount).toBe(1);
});
