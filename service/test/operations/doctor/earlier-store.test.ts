// A store that migrations from before 1.0.0 have made becomes one of 1.0.0.

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { beforeAll, expect, inject, test } from 'vitest';
import { runPostgresTool } from '../../../../testkit/dump.ts';
import { connectTo, queryAt } from '../../../../testkit/postgres.ts';
import { checkObjects } from '../../../src/operations/doctor/schema-check.ts';
import { migrate } from '../../../src/platform/db/migrate.ts';
import { migrationsDir, readMigrations } from '../../../src/platform/db/migration-files.ts';
import { applicationRole } from '../../../src/platform/db/pool.ts';
import { homeward } from '../../cli/homeward-command.ts';
import { createDatabase } from '../../databases.ts';
import { createTestStore } from '../../test-store.ts';

const chain = readFileSync(new URL('./store-before-1.0.0.sql', import.meta.url), 'utf8');
const own = readMigrations(migrationsDir).map(({ name }) => name);
const animals = 10_000;

async function earlierStore(...statements: string[]): Promise<string> {
  const url = await createDatabase(inject('postgresUrl'), { name: `earlier_${randomUUID().replaceAll('-', '')}` });
  await using client = await connectTo(url);
  for (const statement of [chain, ...statements]) await client.query(statement);
  return url;
}

const migrated = (url: string) => homeward(['migrate'], { env: { DATABASE_URL: url, REDIS_URL: inject('redisUrl') } });
const recordsOf = async (url: string) =>
  (await queryAt<{ name: string }>(url, 'select name from schema_migrations order by id')).map(({ name }) => name);

/** The statements of a dump, sorted. Not those of partitions, which have other names in each month, and not what differs in each store. */
async function dumpOf(url: string): Promise<string[]> {
  const partitions = ['events', 'webhook_attempts', 'key_usage', 'history', 'audit'].map((table) => `--exclude-table=${table}_[2u]*`);
  const dump = await runPostgresTool('pg_dump', '--no-owner', '--inserts', '--exclude-table-data=schema_migrations', ...partitions, url);
  return dump
    .replace(/^(--.*|\\.*|SET .*|)\n/gm, '')
    .replace(/'\d{4}-\d\d-\d\d \d\d:[^']*'/g, "'a time'")
    .replace(/^INSERT INTO public\.deployment .*$/m, 'a deployment')
    .replace(/'\d+\/\d{8}\/\d+\/\d+'/g, "'a server'")
    .replace(/^SELECT pg_catalog\.setval\('public\.schema_migrations_id_seq'.*$/m, '')
    .split(/;\n(?=[A-Z])/)
    .sort();
}

const partitionsOf = (url: string) =>
  queryAt(
    url,
    `select inhrelid::regclass::text as name, pg_get_expr(relpartbound, pg_class.oid) as bound, reloptions from pg_inherits
      join pg_class on pg_class.oid = inhrelid where relkind = 'r' and inhrelid::regclass::text !~ '^webhook_attempts' order by name`,
  );

/** What later releases have added that is not null. */
const later = 'new_animals_held';

/** Rows of each table and a checksum of their values, by which a row that was changed is found. Other columns that are added or go are null: they are left out. */
async function contentsOf(url: string): Promise<Array<{ table: string; count: number; sum: string }>> {
  await using client = await connectTo(url);
  const { rows } = await client.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
      and not relispartition and relname <> 'schema_migrations' order by name`,
  );
  const contents = [];
  for (const { name } of rows) {
    const { rows: sums } = await client.query<{ table: string; count: number; sum: string }>(
      `select '${name}' as table, count(*)::int, md5(string_agg(md5(row), '' order by md5(row))) as sum
        from (select (jsonb_strip_nulls(to_jsonb(t)) - '${later}')::text as row from ${name} as t) as rows`,
    );
    contents.push(...sums);
  }
  return contents;
}

let fresh: string;

beforeAll(async () => {
  fresh = await createDatabase(inject('postgresUrl'), { name: `fresh_${process.pid}` });
  await migrate(fresh);
});

test('its schema, rights, functions and first rows are those of an empty database that this release migrates', async () => {
  const url = await earlierStore();
  expect(await migrated(url)).toMatchObject({ status: 0 });
  expect(await dumpOf(url)).toEqual(await dumpOf(fresh));
  expect(await partitionsOf(url)).toEqual(await partitionsOf(fresh));
  expect(await recordsOf(url)).toEqual(own);
  await using client = await connectTo(url);
  expect(await checkObjects(client, applicationRole)).toMatchObject({ severity: 'ok' });
});

test('with 10,000 animals, no row of it changes, and it runs', async () => {
  const url = await earlierStore(
    "insert into clients (name, plan) select 'Client ' || i, 'free' from generate_series(1, 20) as i",
    `insert into pets (name, category_id, status, client_id)
      select 'Animal ' || i, 1 + i % 10, 'available', 1 + i % 20 from generate_series(1, ${animals}) as i`,
    `insert into profiles (pet_id, shelter_id, breed_primary, colors, description)
      select id, 1, 'Breed ' || id % 50, array['black/white'], 'Friendly.' from pets where id % 2 = 0`,
    `insert into orders (client_id, pet_id, expires_at, adopter_name, adopter_email)
      select client_id, id, now() + interval '1 day', 'Ada', 'ada' || id || '@example.org' from pets where id % 10 = 1`,
    "insert into history (pet_id, client_id, to_status, why, kind) select id, client_id, 'available', 'added', 'pet_added' from pets",
    `insert into events (position, type, pet_id, at, data, shelter_id, category_id)
      select id, 'pet.created', id, now(), '{}', 1, category_id from pets`,
    'update feed set last_position = (select max(position) from events)',
    `insert into photos (pet_id, client_id, position, original_hash, original_name, original_bytes)
      select id, client_id, 0, md5(id::text) || md5(id::text), 'originals/' || id, 1000 from pets where id % 100 = 0`,
  );
  const before = await contentsOf(url);
  expect(before).toContainEqual({ table: 'pets', count: animals, sum: expect.any(String) });
  expect(await migrated(url)).toMatchObject({ status: 0, stdout: 'The database is one of 1.0.0 now. No row was changed.\n' });
  const gone = ['listing_refill', 'unsettled_applications', 'animal_words', 'search_words', 'word_trigrams', 'word_clients', 'word_feed'];
  const known = new Set(before.map(({ table }) => table));
  const after = (await contentsOf(url)).filter(({ table }) => known.has(table));
  expect(after).toEqual(before.filter(({ table }) => !gone.includes(table)));

  await using store = await createTestStore({ env: { DATABASE_URL: url } });
  const { key } = await store.createKey({ scopes: ['pets:read', 'pets:write', 'orders:read', 'orders:write'] });
  const added = await store.call<{ id: number }>('POST', '/v1/pets', { key, body: { name: 'Biscuit', categoryId: 1 } });
  expect(added).toMatchObject({ status: 201, json: { id: animals + 1 } });
  const adopter = { name: 'Ada', email: 'ada@example.org' };
  expect(await store.call('POST', '/v1/store/orders', { key, body: { petId: animals + 1, adopter } })).toMatchObject({ status: 201 });
  expect(await store.call('GET', `/v1/listings?breed=Breed+2&limit=5`, { key })).toMatchObject({ status: 200, json: { length: 5 } });
});

test('that lacks a migration is left as it is, with exit 2 and its name', async () => {
  const url = await earlierStore("delete from schema_migrations where name = '0096_authority'");
  const before = await recordsOf(url);
  const rejected = await migrated(url);
  expect(rejected).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('it lacks the migrations 0096_authority.') });
  expect(rejected.stderr).toContain('begin with an empty database');
  expect(await recordsOf(url)).toEqual(before);
});

test('that has a migration of somebody else is left as it is, with exit 2 and its name', async () => {
  const url = await earlierStore("insert into schema_migrations (name, run_on) values ('0097_mine', now())");
  expect(await migrated(url)).toMatchObject({ status: 2, stderr: expect.stringContaining('it also has the migrations 0097_mine.') });
});

test.each([
  ['lacks a column', 'alter table pets drop column hold_note', 'column pets.hold_note is missing'],
  ['has another function', 'alter function order_placed() security definer', 'function order_placed/0 was changed'],
  ['gives other rights', 'grant truncate on pets to homeward_app', 'rights on pets is "select, insert, update, truncate"'],
  [
    'has a trigger of somebody else',
    'create trigger mine before insert on pets for each row execute function order_placed()',
    'trigger mine of pets',
  ],
])('whose schema %s is left as it is, with exit 2 and what differs', async (_, statement, difference) => {
  const url = await earlierStore(statement);
  const before = await recordsOf(url);
  expect(await migrated(url)).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining(difference) });
  expect(await recordsOf(url)).toEqual(before);
});

test.each([
  ['applications to settle', 'insert into unsettled_applications select id from pets limit 1'],
  ['rows of listings to make again', 'update listing_refill set refill_until = 5'],
])('whose worker has left %s is left as it is, with exit 2', async (_, statement) => {
  const url = await earlierStore("insert into pets (name, category_id, status) values ('Biscuit', 1, 'available')", statement);
  expect(await migrated(url)).toMatchObject({ status: 2, stderr: expect.stringContaining('its worker has not finished') });
});

test('beside a table of somebody else it is migrated', async () => {
  const url = await earlierStore('create table mine (id bigint)');
  expect(await migrated(url)).toMatchObject({ status: 0 });
});

test('that a process is connected to waits until it is stopped', async () => {
  const url = await earlierStore();
  {
    await using _serving = await connectTo(url, { application_name: 'homeward' });
    expect(await migrated(url)).toMatchObject({ status: 1, stderr: expect.stringContaining('Processes of the store are connected') });
  }
  expect(await migrated(url)).toMatchObject({ status: 0 });
});

test('--plan says that every process must be stopped, and writes nothing', async () => {
  const url = await earlierStore();
  const before = await recordsOf(url);
  const plan = await homeward(['migrate', '--plan'], { env: { DATABASE_URL: url, REDIS_URL: inject('redisUrl') } });
  expect(plan).toMatchObject({ status: 0, stdout: expect.stringContaining('was made before 1.0.0. Stop every process') });
  expect(await recordsOf(url)).toEqual(before);
});

test('no file of this release has the name of a migration from before it', () => {
  expect(own.filter((name) => chain.includes(`${name},`))).toEqual([]);
});
