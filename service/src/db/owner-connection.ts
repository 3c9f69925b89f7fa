import type pg from 'pg';
import { type Db, Transaction } from './handles.ts';
import { connectToPrimary } from './postgres-servers.ts';

const connectTimeoutMs = 10_000;

/**
 * Connects with the rights of the login in DATABASE_URL, for the few commands that need those of the tables' owner. Everything else
 * acts as the application role (pool.ts).
 */
export async function connectAsOwner(databaseUrl: string, applicationName: string): Promise<pg.Client & AsyncDisposable> {
  const client = await connectToPrimary(databaseUrl, { connectionTimeoutMillis: connectTimeoutMs, application_name: applicationName });
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

/** Commits everything that `work` did, or nothing. Waits for a lock for `lockTimeoutMs` at most. */
export async function transactAsOwner<T>(owner: Db, lockTimeoutMs: number, work: (tx: Transaction) => Promise<T>): Promise<T> {
  await owner.query({ text: 'begin' });
  try {
    await owner.query({ text: `set local lock_timeout = ${lockTimeoutMs}` });
    const result = await work(new Transaction(owner));
    await owner.query({ text: 'commit' });
    return result;
  } catch (error) {
    await owner.query({ text: 'rollback' }).catch(() => {});
    throw error;
  }
}
