import type pg from 'pg';
import { Transaction } from './handles.ts';
import { isUnconfirmedCommit } from './pipelined-connections.ts';
import { UnconfirmedCommit } from './postgres-failures.ts';
import { connectToPrimary } from './postgres-servers.ts';

const connectTimeoutMs = 10_000;

export interface OwnerConnection extends pg.Client, AsyncDisposable {
  /** Throws if a standby did not confirm a commit since the last call: what was done may be lost with this server. */
  requireConfirmed(): void;
}

/**
 * Connects with the rights of the login in DATABASE_URL, for the few commands that need those of the tables' owner. Everything else
 * acts as the application role (pool.ts).
 */
export async function connectAsOwner(databaseUrl: string, applicationName: string): Promise<OwnerConnection> {
  const client = await connectToPrimary(databaseUrl, { connectionTimeoutMillis: connectTimeoutMs, application_name: applicationName });
  let isUnconfirmed = false;
  client.on('notice', (notice) => {
    isUnconfirmed ||= isUnconfirmedCommit(notice);
  });
  const requireConfirmed = () => {
    if (!isUnconfirmed) return;
    isUnconfirmed = false;
    throw new UnconfirmedCommit();
  };
  return Object.assign(client, { requireConfirmed, [Symbol.asyncDispose]: () => client.end() });
}

/** Commits everything that `work` did, or nothing. Waits for a lock for `lockTimeoutMs` at most. */
export async function transactAsOwner<T>(owner: OwnerConnection, lockTimeoutMs: number, work: (tx: Transaction) => Promise<T>): Promise<T> {
  await owner.query({ text: 'begin' });
  try {
    await owner.query({ text: `set local lock_timeout = ${lockTimeoutMs}` });
    const result = await work(new Transaction(owner));
    await owner.query({ text: 'commit' });
    owner.requireConfirmed();
    return result;
  } catch (error) {
    await owner.query({ text: 'rollback' }).catch(() => {});
    throw error;
  }
}
