// By default autovacuum waits until a fifth of a table has changed. So every table that is written says when it is vacuumed.
import { expect, test } from 'vitest';
import { openTestStore } from '../test-store.ts';

const store = await openTestStore();
const makers = { events: 'event', webhook_attempts: 'attempt', key_usage: 'usage', history: 'history', audit: 'audit' };

/** Only `homeward migrate` writes it. */
const notWritten = ['schema_migrations'];

const withoutSettings = async () =>
  (
    await store.read<{ name: string }>(
      `select relname as name from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace
        and not exists (select from unnest(reloptions) as option where option like 'autovacuum%scale_factor=%') order by relname`,
    )
  ).map(({ name }) => name);

test('every table has settings of autovacuum', async () => {
  expect(await withoutSettings()).toEqual(notWritten);
});

test.each(Object.entries(makers))('so has a partition of %s that is made later', async (table, what) => {
  const [{ name } = { name: '' }] = await store.read<{ name: string }>(
    `select max(relname) filter (where relname not like '%until%') as name from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = $1::regclass`,
    table,
  );
  await store.asOwner(`drop table ${name}`);
  await store.asOwner(`select make_${what}_partitions()`);
  const [{ oid } = { oid: null }] = await store.read<{ oid: string | null }>('select to_regclass($1)::text as oid', name);
  expect(oid).toBe(name);
  expect(await withoutSettings()).toEqual(notWritten);
});
