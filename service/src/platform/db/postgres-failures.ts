import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { AppError, outcomeUnknown, unavailable } from '../errors.ts';
import { serverName, usesTls } from '../server-urls.ts';
import { type Explained, explainTlsFault, findTlsFault } from '../tls-faults.ts';
import { failuresOf, NotPrimary } from './postgres-servers.ts';

/** Explains an error of a connection to PostgreSQL. The problem is the rest of a sentence about the server, or about each of several. */
export function explainPostgresFailure(error: Error, databaseUrl: string): Explained {
  const failures = failuresOf(error).map(({ address, error: one }) => ({ server: serverName(address), ...explainOne(one, address) }));
  if (failures.length === 0) return explainOne(error, databaseUrl);
  return {
    problem: failures.map(({ server, problem }) => `${server}: ${problem}`).join(' '),
    fix: [...new Set(failures.map(({ fix }) => fix))].join(' ').trim(),
  };
}

function explainOne(failure: Error, address: string): Explained {
  // A host may have several addresses.
  const [error = failure] = failure instanceof AggregateError ? (failure.errors as Error[]) : [];
  const { code = '' } = error as { code?: string };
  const message = error.message.replace(/\s*\n\s*/g, ' ');
  if (error instanceof NotPrimary && error.isFormer) return { problem: `${message}.`, fix: '' };
  if (error instanceof NotPrimary || code === readOnly)
    return { problem: 'it is a standby, or read-only.', fix: 'Let DATABASE_URL lead to the primary, or name all servers in it.' };
  if (error instanceof UnconfirmedCommit)
    return {
      problem: 'it did not confirm the commit, so the command may have been carried out or not.',
      fix: 'Is its synchronous standby away? When it is back, look whether it was, and run the command again if not.',
    };
  return explainNetwork(code, message) ?? explainTls(error, message, address) ?? explainLogin(code, error, message, address);
}

function explainNetwork(code: string, message: string): Explained | undefined {
  if (code === 'ECONNREFUSED' || code === 'ENOENT')
    return { problem: 'nothing is listening there.', fix: 'Is DATABASE_URL correct, and is PostgreSQL running?' };
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return { problem: 'the host was not found.', fix: 'Correct the host in DATABASE_URL, or the name server of this machine.' };
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH')
    return { problem: 'no network leads there.', fix: 'Correct the host in DATABASE_URL, or the routes and firewall of this machine.' };
  if (code === 'ETIMEDOUT' || isTimeout.test(message))
    return {
      problem: 'it does not reply.',
      fix: 'Is DATABASE_URL correct, is PostgreSQL running, and does a firewall let this machine through?',
    };
  if (code === 'ECONNRESET' || isClosed.test(message))
    return { problem: 'it closes the connection.', fix: 'Is this the port of PostgreSQL? If it is, look at its log.' };
  return undefined;
}

function explainTls(error: Error, message: string, address: string): Explained | undefined {
  const withoutTls = 'Set ssl = on there, with a certificate; or, on a network that nobody else uses, remove sslmode from DATABASE_URL.';
  if (message === 'The server does not support SSL connections') return { problem: 'it does not speak TLS.', fix: withoutTls };
  const clientCertificate = 'Add sslcert=FILE and sslkey=FILE to DATABASE_URL, with a certificate for this user and its key.';
  if (/valid client certificate|^certificate authentication failed/.test(message))
    return { problem: 'it demands a certificate of the client.', fix: clientCertificate };
  const fault = findTlsFault(error);
  if (!fault) return demandsTls.test(message) ? { problem: 'it demands TLS.', fix: howToUseTls } : undefined;
  const trust = /[?&]sslrootcert=/.test(address)
    ? 'The file of sslrootcert in DATABASE_URL has another CA: let it have the certificate of the CA that signed that of the server.'
    : 'Add sslrootcert=FILE to DATABASE_URL, beside sslmode=verify-full: the file has the certificate of the CA.';
  return explainTlsFault(fault, { variable: 'DATABASE_URL', trust, clientCertificate, withoutTls });
}

/** What PostgreSQL says itself. It does so in the language of the server, so what is important does not depend on the text. */
function explainLogin(code: string, error: Error, message: string, address: string): Explained {
  const { routine } = error as { routine?: string };
  const [, name = ''] = /"([^"]*)"/.exec(message) ?? [];
  if (code === databaseMissing) return { problem: 'the database does not exist.', fix: 'Create it, or correct DATABASE_URL.' };
  if (code === permissionDenied && routine === 'CheckMyDatabase')
    return {
      problem: 'the user of DATABASE_URL may not connect to this database.',
      fix: 'As its owner: grant connect on database … to that user. Or correct the database in DATABASE_URL.',
    };
  if (/client password must be a (non-empty )?string/.test(message))
    return {
      problem: 'it demands a password, and DATABASE_URL has none.',
      fix: 'Write DATABASE_URL as postgres://USER:PASSWORD@HOST:PORT/NAME.',
    };
  if (code === invalidAuthorization && (routine === 'ClientAuthentication' || /pg_hba\.conf/.test(message))) return explainRules(address);
  if (code === invalidAuthorization && message.endsWith('does not exist'))
    return { problem: `it has no role "${name}".`, fix: 'Create that role, with login, or correct the user in DATABASE_URL.' };
  if (code === invalidAuthorization && message.endsWith('not permitted to log in'))
    return {
      problem: `the role "${name}" may not log in.`,
      fix: `As a superuser: alter role "${name}" login. Or correct the user in DATABASE_URL.`,
    };
  if (code === invalidAuthorization && /^(peer|ident) authentication failed/i.test(message))
    return {
      problem: `by its rules, only the user "${name}" of the operating system may be the role "${name}".`,
      fix: 'Write a host, a user and a password in DATABASE_URL, or correct pg_hba.conf.',
    };
  if (code === invalidPassword || code === invalidAuthorization || message.startsWith('SASL:'))
    return {
      problem: `it rejects the user${name && ` "${name}"`} or the password.`,
      fix: 'Correct DATABASE_URL: in the user and the password, special characters are percent-encoded.',
    };
  if (code === tooManyConnections && routine === 'InitializeSessionUserId')
    return {
      problem: `its role "${name}" has as many connections as its connection limit allows.`,
      fix: `As a superuser: alter role "${name}" connection limit … (docs/operations/database.md has the sum), or lower HOMEWARD_POOL_SIZE.`,
    };
  if (code === tooManyConnections && routine === 'CheckMyDatabase')
    return {
      problem: `the database "${name}" has as many connections as its connection limit allows.`,
      fix: `As its owner: alter database "${name}" connection limit … (docs/operations/database.md has the sum), or lower HOMEWARD_POOL_SIZE.`,
    };
  if (code === tooManyConnections)
    return {
      problem: 'it has no connection left.',
      fix: 'End connections that nobody needs, raise max_connections or the limit of the user, or lower HOMEWARD_POOL_SIZE.',
    };
  if (code === notReady) return { problem: 'it is starting up or shutting down.', fix: 'Wait a moment, or look at its log.' };
  return { problem: message, fix: '' };
}

/** pg_hba.conf has no rule that lets this connection in. A rule may demand TLS. */
function explainRules(address: string): Explained {
  if (usesTls(address))
    return {
      problem: 'it has no rule for this user, database and address in pg_hba.conf.',
      fix: 'Correct the user and the database in DATABASE_URL, or permit them from this machine in pg_hba.conf.',
    };
  return {
    problem: 'it demands TLS, or has no rule for this user, database and address in pg_hba.conf.',
    fix: `${howToUseTls} If that is not it, permit the user from this machine in pg_hba.conf.`,
  };
}

const howToUseTls = 'Add ?sslmode=verify-full to DATABASE_URL, and &sslrootcert=FILE if the CA is your own.';

export const hasNoConnectionLeft = (error: unknown) => error instanceof pg.DatabaseError && error.code === tooManyConnections;

const isTimeout = /^(timeout (exceeded|expired)|Connection terminated due to connection timeout|Query read timeout)/;
const isClosed = /^(Connection terminated unexpectedly|There was an error establishing an SSL connection)/;
/** As poolers and providers say it. */
const demandsTls = /\b(SSL|TLS)\b.*\b(required|mandatory)\b|\binsecure\b.*sslmode/i;

// SQLSTATEs.
const databaseMissing = '3D000';
const tooManyConnections = '53300';
const notReady = '57P03';
const readOnly = '25006';
const permissionDenied = '42501';
const invalidAuthorization = '28000';
const invalidPassword = '28P01';

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
