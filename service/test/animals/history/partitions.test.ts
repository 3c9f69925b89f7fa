// The history has a partition a month. What was one table in release 1.1.0 is the first.
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { connectTo } from '../../../../testkit/postgres.ts';
import { makeHistoryPartitions } from '../../../src/animals/history/history.ts';
import { checkObjects } from '../../../src/operations/doctor/schema-check.ts';
import { migrate } from '../../../src/platform/db/migrate.ts';
import { migrationsDir } from '../../../src/platform/db/migration-files.ts';
import { applicationRole } from '../../../src/platform/db/pool.ts';
import { createDatabase } from '../../databases.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const { db } = store.dependencies;
const lastBefore = '0037';

const namesOf = async () =>
  (
    await store.read<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'history'::regclass order by name`,
    )
  ).map(({ name }) => name);

test('there are partitions for the next three months, and making them again makes none', async () => {
  const [row] = await store.read<{ isAhead: boolean }>(`select history_end() > now() + interval '3 months' as "isAhead"`);
  expect(row).toEqual({ isAhead: true });
  expect(await makeHistoryPartitions(db)).toBe(0);
});

test('what is missing is made, without a gap, and takes rows', async () => {
  const before = await namesOf();
  await store.asOwner(`do $$ begin
    for i in 1..2 loop execute format('drop table history_%s', to_char(history_end() - interval '1 day', 'YYYYMM')); end loop; end $$`);
  expect(await makeHistoryPartitions(db)).toBe(2);
  expect(await namesOf()).toEqual(before);
  await store.asOwner(`with pet as (insert into pets (name, category_id, status) values ('Late', 1, 'available') returning id)
    insert into history (pet_id, to_status, why, at) select id, 'available', 'added', history_end() - interval '1 second' from pet`);
  const [{ name } = { name: '' }] = await store.read<{ name: string }>('select max(tableoid::regclass::text) as name from history');
  expect(name).toBe(before.findLast((one) => !one.includes('until')));
});

test('the role of the processes adds rows to the history, and to no partition', async () => {
  const [first = ''] = (await namesOf()).toReversed();
  for (const text of [`insert into ${first} (id, pet_id, to_status, why) values (1, 1, 'available', 'added')`, `delete from ${first}`]) {
    await expect(db.write({ text })).rejects.toThrow(`permission denied for table ${first}`);
  }
});

test('a table of 1.1.0 becomes the first partition beside its processes: nothing is rewritten, and ids go on', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'homeward-migrations-'));
  for (const file of readdirSync(migrationsDir).filter((name) => name <= `${lastBefore}_~`))
    copyFileSync(path.join(migrationsDir, file), path.join(dir, file));
  const url = await createDatabase(store.databaseUrl, { name: `before_${Date.now()}` });
  await migrate(url, { dir }).finally(() => rmSync(dir, { recursive: true }));
  await using client = await connectTo(url);
  await client.query(`insert into pets (name, category_id, status) values ('Old', 1, 'available')`);
  // Prepared on the table, as by a process that runs on while the schema changes.
  const add = { name: 'add', text: `insert into history (pet_id, to_status, why) values (1, 'available', 'added') returning id::int` };
  const added = [];
  for (let i = 0; i < 10; i += 1) added.push((await client.query<{ id: number }>(add)).rows[0]?.id);
  const fileOf = async (table: string) => (await client.query(`select pg_relation_filenode('${table}') as file`)).rows;
  const before = await fileOf('history');

  await migrate(url);

  added.push((await client.query<{ id: number }>(add)).rows[0]?.id);
  expect(added).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  const { rows } = await client.query(`select tableoid::regclass::text as name, count(*)::int from history group by 1`);
  expect(rows).toEqual([{ name: expect.stringMatching(/^history_until_\d{6}$/), count: 11 }]);
  expect(await fileOf(rows[0]?.name)).toEqual(before);
  expect(await checkObjects(client, applicationRole)).toMatchObject({ severity: 'ok' });
});
