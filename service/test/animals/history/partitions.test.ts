// The history has a partition a month. The first one has all that is older.
import { expect, test } from 'vitest';
import { makeHistoryPartitions } from '../../../src/animals/history/history.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const { db } = store.dependencies;

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
