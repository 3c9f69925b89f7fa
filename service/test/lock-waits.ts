import type { TestStore } from './test-store.ts';

/** The number of statements that wait for a lock in the store's database. */
export async function countLockWaits(store: TestStore): Promise<bigint | undefined> {
  const text = 'select count(*) from pg_locks join pg_stat_activity using (pid) where datname = current_database() and not granted';
  const { rows } = await store.dependencies.db.query<{ count: bigint }>({ text });
  return rows[0]?.count;
}
