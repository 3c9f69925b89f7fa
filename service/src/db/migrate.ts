import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import type { Db } from './handles.ts';

const dir = fileURLToPath(new URL('../../migrations', import.meta.url));
const migrationsTable = 'schema_migrations';
const lockId = 4_663_957;
const connectTimeoutMs = 10_000;
const lockTimeoutMs = 60_000;

/** Applies pending migrations, each file in its own transaction. A second caller waits for the first. */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: connectTimeoutMs,
    application_name: 'homeward migrate',
  });
  await client.connect();
  try {
    await client.query(`set lock_timeout = ${lockTimeoutMs}`);
    await client.query('select pg_advisory_lock($1)', [lockId]);
    const applied = await runner({
      dbClient: client,
      dir,
      migrationsTable,
      direction: 'up',
      count: Number.POSITIVE_INFINITY,
      singleTransaction: false,
      noLock: true,
      log: () => {},
    });
    await client.query(`grant select on ${migrationsTable} to homeward_app`);
    return applied.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

/** The migrations of this release that the database does not have. */
export async function findPendingMigrations(db: Db): Promise<string[]> {
  const files = (await readdir(dir)).map((file) => file.replace(/\.sql$/, ''));
  const { rows } = await db.query<{ name: string }>({ text: `select name from ${migrationsTable}` });
  const applied = new Set(rows.map(({ name }) => name));
  return files.filter((name) => !applied.has(name)).sort();
}
