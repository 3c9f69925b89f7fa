import pg from 'pg';
import { NotPrimary } from './postgres-servers.ts';

const networkFaults = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND']);
// SQLSTATE: connection exceptions, shutdowns, insufficient resources, a primary that became a standby, idle in transaction.
const serverFaults = /^(08|57P|53|25006|25P03)/;
// Errors that pg reports without a code.
const clientFaults = /^(Connection terminated|Query read timeout|timeout exceeded|Client (has encountered|was closed))/;

/** The connection can't be used any more. */
export function isConnectionFault(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  if (error instanceof NotPrimary) return true;
  if (error instanceof pg.DatabaseError) return serverFaults.test(error.code ?? '');
  return networkFaults.has((error as NodeJS.ErrnoException).code ?? '') || clientFaults.test(error.message);
}

/** The server was a primary when it was connected to, and is none any more: no connection to it can be used. */
export const isOfFormerPrimary = (error: unknown): boolean =>
  error instanceof NotPrimary || (error instanceof pg.DatabaseError && error.code === '25006');

/** The server did not accept a connection in time. */
const isSlow = (error: unknown): boolean =>
  error instanceof Error && /^(timeout exceeded|Connection terminated due to connection timeout)/.test(error.message);

/**
 * The server cancelled the statement: it timed out, was in a deadlock, or its preparation was cancelled, for which others in the same
 * pipeline had waited (26000).
 */
export const isCancelled = (error: unknown): boolean => error instanceof pg.DatabaseError && /^(57014|40P01|26000)$/.test(error.code ?? '');

const openTimeoutMs = 10_000;

/** Opens a connection when a process starts. Tries again if the server does not accept it in time: it may be starting, or busy. */
export async function openPatiently<T>(open: () => Promise<T>): Promise<T> {
  for (const giveUpAtMs = performance.now() + openTimeoutMs; ; ) {
    try {
      return await open();
    } catch (error) {
      if (!isSlow(error) || performance.now() > giveUpAtMs) throw error;
    }
  }
}
