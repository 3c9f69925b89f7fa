// Migrations beside transactions that are open, and those that stop in the middle.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest';
import { startPostgres } from '../../../../testkit/servers.ts';
import { migrate } from '../../../src/platform/db/migrate.ts';
import { createDatabase } from '../../databases.ts';

let url: string;
let dir: string;
let clients: pg.Client[];
let count = 0;

beforeEach(async () => {
  count += 1;
  url = await createDatabase(inject('postgresUrl'), { name: `migrate_${process.pid}_${count}` });
  dir = mkdtempSync(path.join(tmpdir(), 'homeward-migrations-'));
  clients = [];
  const client = await connect();
  await client.query('create table animals (id bigint primary key, name text)');
  await client.query("insert into animals select i, 'Animal ' || i % 10 from generate_series(1, 1000) as i");
});

afterEach(async () => {
  await Promise.all(clients.map((client) => client.end()));
  rmSync(dir, { recursive: true });
});

test('a column behind an open reader: other reads wait for less than a second, and it is added when the reader has ended', async () => {
  write('0001_colour', 'alter table animals add column colour text;');
  const reader = await openReader('night backup');
  const sentences: string[] = [];
  const migrated = migrate(url, { dir, onWait: (sentence) => sentences.push(sentence) });
  const waits = await readFor(3_000);
  await reader.query('commit');
  expect(await migrated).toEqual(['0001_colour']);
  expect(Math.max(...waits)).toBeLessThan(1_000);
  expect(sentences[0]).toMatch(/^0001_colour waits for process \d+ of PostgreSQL \(night backup, in a transaction for \d+ s\)\.$/);
  expect(await (await connect()).query('select colour from animals limit 1')).toHaveProperty('rowCount', 1);
});

test('a concurrent index behind an open reader: it is built once, when the reader has ended, and says what it waits for', async () => {
  write('0001_index', 'create index concurrently if not exists animals_by_name on animals (name, id);');
  const reader = await openReader('night backup');
  const sentences: string[] = [];
  const migrated = migrate(url, { dir, onWait: (sentence) => sentences.push(sentence) });
  await vi.waitUntil(() => sentences.length > 1);
  const built = await indexes();
  await reader.query('commit');
  expect(await migrated).toEqual(['0001_index']);
  expect(sentences[0]).toContain('night backup');
  // The same index, not another attempt.
  expect(await indexes()).toEqual(built.map((index) => ({ ...index, valid: true })));
});

test('an index that an earlier attempt left unfinished is built again, and those before it are not', async () => {
  const statements = [
    'create index concurrently if not exists animals_by_name on animals (name)',
    'create unique index concurrently if not exists animals_unique on animals (name)',
  ];
  write('0001_indexes', statements.map((statement) => `${statement};`).join('\n'));
  await expect(migrate(url, { dir })).rejects.toThrow('could not create unique index "animals_unique"');
  const [first, unfinished] = await indexes();
  expect(unfinished).toMatchObject({ name: 'animals_unique', valid: false });
  await (await connect()).query('delete from animals where id > 10');
  expect(await migrate(url, { dir })).toEqual(['0001_indexes']);
  expect(await indexes()).toEqual([first, { name: 'animals_unique', oid: expect.not.stringMatching(`^${unfinished?.oid}$`), valid: true }]);
});

test('a file that builds an index concurrently and does anything else is rejected before it runs', async () => {
  write(
    '0001_mixed',
    'alter table animals add column colour text;\ncreate index concurrently if not exists animals_by_name on animals (name);',
  );
  await expect(migrate(url, { dir })).rejects.toThrow('Move this to another file: alter table animals add column colour text');
});

test('it gives up after the total time and says what it waited for; the next run succeeds', async () => {
  write('0001_colour', 'alter table animals add column colour text;');
  write('0002_name', 'alter table animals add column breed text;');
  const reader = await openReader('night backup');
  await expect(migrate(url, { dir, totalTimeoutMs: 1_500 })).rejects.toThrow(/night backup.* Gave up after 2 s/);
  await reader.query('commit');
  expect(await migrate(url, { dir })).toEqual(['0001_colour', '0002_name']);
});

test('of two at the same time, the second waits for the first without holding up its concurrent index', async () => {
  write('0001_index', 'create index concurrently if not exists animals_by_name on animals (name, id);');
  const reader = await openReader('night backup');
  const sentences: string[] = [];
  const both = Promise.all([1, 2].map(() => migrate(url, { dir, onWait: (sentence) => sentences.push(sentence) })));
  await vi.waitUntil(() => sentences.includes('Another migrate is running on this database.'));
  await reader.query('commit');
  expect((await both).flat()).toEqual(['0001_index']);
});

test('an autovacuum in progress is cancelled', async () => {
  // Slow enough to be still running after all tests.
  await using server = await startPostgres({
    settings: { autovacuum_naptime: '1s', autovacuum_vacuum_cost_delay: '100ms', autovacuum_vacuum_cost_limit: '1' },
  });
  url = server.url;
  const client = await connect();
  await client.query('create role homeward_app');
  await client.query(
    'create table animals with (autovacuum_vacuum_threshold = 1) as select i as id, repeat(i::text, 100) as name from generate_series(1, 20000) as i',
  );
  await client.query('delete from animals');
  await vi.waitUntil(
    async () => (await client.query("select from pg_stat_progress_vacuum where relid = 'animals'::regclass")).rowCount === 1,
    { timeout: 30_000, interval: 50 },
  );
  write('0001_colour', 'alter table animals add column colour text;');
  const sentences: string[] = [];
  expect(await migrate(url, { dir, totalTimeoutMs: 20_000, onWait: (sentence) => sentences.push(sentence) })).toEqual(['0001_colour']);
  expect(sentences[0]).toContain('(autovacuum');
  await client.end();
  clients = clients.filter((one) => one !== client);
});

function write(name: string, sql: string): void {
  writeFileSync(path.join(dir, `${name}.sql`), `-- Up Migration\n\n${sql}\n`);
}

async function connect(applicationName = 'test'): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: applicationName });
  await client.connect();
  clients.push(client);
  return client;
}

/** A transaction that has read the table, and stays open. */
async function openReader(applicationName: string): Promise<pg.Client> {
  const client = await connect(applicationName);
  await client.query('begin isolation level repeatable read');
  await client.query('select count(*) from animals');
  return client;
}

/** Returns how long each read took. */
async function readFor(durationMs: number): Promise<number[]> {
  const client = await connect();
  const waits: number[] = [];
  for (const endMs = performance.now() + durationMs; performance.now() < endMs; await sleep(5)) {
    const startMs = performance.now();
    await client.query('select name from animals where id = 1');
    waits.push(performance.now() - startMs);
  }
  return waits;
}

async function indexes(): Promise<Array<{ name: string; oid: string; valid: boolean }>> {
  const client = await connect();
  const { rows } = await client.query(
    `select relname as name, indexrelid::text as oid, indisvalid as valid from pg_index join pg_class on pg_class.oid = indexrelid
      where indrelid = 'animals'::regclass and not indisprimary order by relname`,
  );
  return rows;
}
