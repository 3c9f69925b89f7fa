import pg from 'pg';
import type { TestStore } from './test-store.ts';

/** The number of statements that wait for a lock in the store's database. */
export async function countLockWaits(store: TestStore): Promise<bigint | undefined> {
  const text = 'select count(*) from pg_locks join pg_stat_activity using (pid) where datname = current_database() and not granted';
  const rows = await store.read<{ count: bigint }>(text);
  return rows[0]?.count;
}

/** Runs a statement in a transaction that is committed on release, so that others wait for its locks until then. */
export async function holdLocks(store: TestStore, text: string, values: unknown[]): Promise<{ release(): Promise<void> }> {
  // Not a connection of the service, whose idle transactions PostgreSQL ends after 5 s.
  const client = new pg.Client({ connectionString: store.databaseUrl });
  await client.connect();
  await client.query('begin');
  await client.query(text, values);
  return {
    release: async () => {
      await client.query('commit');
      await client.end();
    },
  };
}
