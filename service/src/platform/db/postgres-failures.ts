import pg from 'pg';
import { serverName, usesTls } from '../server-urls.ts';
import { type Explained, explainTlsFault, findTlsFault } from '../tls-faults.ts';
import { UnconfirmedCommit } from './connection-faults.ts';
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
