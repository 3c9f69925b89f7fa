import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { AppError, outcomeUnknown, unavailable } from '../errors.ts';
import { NotPrimary } from './postgres-servers.ts';

const networkFaults = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND']);
// SQLSTATE: connection exceptions, shutdowns, too many connections, errors of its files, a primary that became a standby, idle in transaction.
const serverFaults = /^(08|57P|53300|58|25006|25P03)/;
/** Not of a statement alone: the server ends the connection, or all of them. */
const fatal = new Set(['FATAL', 'PANIC']);
/** A full disk, or no memory. The statement alone failed, unless it was fatal. */
const insufficientResources = /^53/;
// Errors that pg reports without a code.
const clientFaults = /^(Connection terminated|Query read timeout|timeout (exceeded|expired)|Client (has encountered|was closed))/;

/**
 * It is not known whether a transaction was committed, or it may be lost with this server: the connection broke during the commit, or
 * the standby did not confirm it.
 */
export class UnconfirmedCommit extends Error {
  constructor(cause?: Error) {
    super(`a commit was not confirmed${cause ? `: ${cause.message}` : ' by the standby'}`, { cause });
  }
}

/** Runs what commits. */
export async function committing<T>(commit: () => Promise<T>): Promise<T> {
  try {
    return await commit();
  } catch (error) {
    throw isUnknown(error) ? new UnconfirmedCommit(error) : error;
  }
}

/** Whether a commit with this error may have been done. One for which the disk was full may have been, if the server ended with it. */
const isUnknown = (error: unknown): error is Error =>
  (isConnectionFault(error) && !isOfFormerPrimary(error)) ||
  (error instanceof pg.DatabaseError && insufficientResources.test(error.code ?? ''));

/** What a caller got as an error, although the change may be done and seen by others. */
export const isOutcomeUnknown = (error: unknown): boolean => error instanceof AppError && error.cause instanceof UnconfirmedCommit;

/** No reply came although the server may be well, or the wait for the standby was cancelled: the standby may be away. */
export const isStandbyAway = (error: unknown): boolean =>
  error instanceof UnconfirmedCommit && (!(error.cause instanceof Error) || noReply.test(error.cause.message));
const noReply = /^Query read timeout/;

/** The connection can't be used any more. */
export function isConnectionFault(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  if (error instanceof UnconfirmedCommit) return isConnectionFault(error.cause);
  if (error instanceof NotPrimary) return true;
  if (error instanceof pg.DatabaseError) return serverFaults.test(error.code ?? '') || fatal.has(error.severity ?? '');
  return networkFaults.has((error as NodeJS.ErrnoException).code ?? '') || clientFaults.test(error.message);
}

/** The server was a primary when it was connected to, and is none any more: no connection to it can be used. */
export const isOfFormerPrimary = (error: unknown): boolean =>
  error instanceof NotPrimary || (error instanceof pg.DatabaseError && error.code === '25006');

/** The server did not accept a connection in time, or of several none was the primary: it may be the slow one, or be chosen just now. */
const isSlow = (error: unknown): boolean =>
  (error instanceof NotPrimary && error.isOneOfSeveral) ||
  (error instanceof Error && /^(timeout (exceeded|expired)|Connection terminated due to connection timeout)/.test(error.message));

/**
 * The server gave up the statement: it timed out, was in a deadlock, there was no room or memory for it, or its preparation was
 * cancelled, for which others in the same pipeline had waited (26000).
 */
const isGivenUp = (error: unknown): boolean => error instanceof pg.DatabaseError && /^(57014|40P01|26000|53...)$/.test(error.code ?? '');

/** What the caller of an operation gets: `unavailable` if the server is the cause. */
export function reportedAs(error: unknown): unknown {
  if (error instanceof UnconfirmedCommit) return outcomeUnknown(error);
  return isConnectionFault(error) || isGivenUp(error) ? unavailable(error) : error;
}

const openTimeoutMs = 10_000;
const openRetryMs = 100;

/** Opens a connection when a process starts. Tries again if the server does not accept it in time: it may be starting, or busy. */
export async function openPatiently<T>(open: () => Promise<T>): Promise<T> {
  for (const giveUpAtMs = performance.now() + openTimeoutMs; ; ) {
    try {
      return await open();
    } catch (error) {
      if (!isSlow(error) || performance.now() > giveUpAtMs) throw error;
      await sleep(openRetryMs);
    }
  }
}
