import pg from 'pg';
import { UnconfirmedCommit } from './connection-faults.ts';
import { NotPrimary } from './postgres-servers.ts';

/** What is wrong, and what an operator can do about it; empty if that is not known. */
export interface Explained {
  readonly problem: string;
  readonly fix: string;
}

/** Explains an error of a connection to PostgreSQL. The problem is the rest of a sentence about the server. */
export function explainPostgresFailure(error: Error): Explained {
  const { code = '' } = error as { code?: string };
  const message = error.message.replace(/\s*\n\s*/g, ' ');
  if (error instanceof NotPrimary || code === readOnly)
    return { problem: 'it is a standby, or read-only.', fix: 'Let DATABASE_URL lead to the primary, or name all servers in it.' };
  if (error instanceof UnconfirmedCommit)
    return {
      problem: 'it did not confirm the commit, so the command may have been carried out or not.',
      fix: 'Is its synchronous standby away? When it is back, look whether it was, and run the command again if not.',
    };
  if (code === 'ECONNREFUSED' || code === 'ENOENT')
    return { problem: 'nothing is listening there.', fix: 'Is DATABASE_URL correct, and is PostgreSQL running?' };
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return { problem: 'the host was not found.', fix: 'Correct DATABASE_URL.' };
  if (code === 'ETIMEDOUT' || isTimeout.test(message))
    return {
      problem: 'it does not reply.',
      fix: 'Is DATABASE_URL correct, is PostgreSQL running, and does a firewall let this machine through?',
    };
  if (code === databaseMissing) return { problem: 'the database does not exist.', fix: 'Create it, or correct DATABASE_URL.' };
  if (authenticationFailed.has(code) || message.startsWith('SASL:'))
    return { problem: 'it rejects the user or the password.', fix: 'Correct DATABASE_URL.' };
  if (code === tooManyConnections)
    return {
      problem: 'it has no connection left.',
      fix: 'End connections that nobody needs, raise max_connections, or lower HOMEWARD_POOL_SIZE.',
    };
  if (code === notReady) return { problem: 'it is starting up or shutting down.', fix: 'Wait a moment, or look at its log.' };
  return { problem: message, fix: '' };
}

export const hasNoConnectionLeft = (error: unknown) => error instanceof pg.DatabaseError && error.code === tooManyConnections;

const isTimeout = /^(timeout (exceeded|expired)|Connection terminated due to connection timeout|Query read timeout)/;

// SQLSTATEs.
const databaseMissing = '3D000';
const tooManyConnections = '53300';
const notReady = '57P03';
const readOnly = '25006';
const authenticationFailed = new Set(['28P01', '28000']);
