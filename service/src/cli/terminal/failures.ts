import { ReplyError } from 'ioredis';
import pg from 'pg';
import { NotMigrated } from '../../dependencies.ts';
import type { Config } from '../../platform/config.ts';
import { applicationRole } from '../../platform/db/pool.ts';
import { explainPostgresFailure, UnconfirmedCommit } from '../../platform/db/postgres-failures.ts';
import { NotPrimary, OldPostgres } from '../../platform/db/postgres-servers.ts';
import { AppError } from '../../platform/errors.ts';
import { explainRedisFailure, RedisLost } from '../../platform/redis/redis-link.ts';
import { describePostgres, describeRedis, howToEncode, showsPassword } from '../../platform/server-urls.ts';
import { findTlsFault, problemAndFix } from '../../platform/tls-faults.ts';

/** The properties that Node and pg add to an error. */
interface Details {
  readonly code?: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
  readonly syscall?: string;
}

type Settings = Pick<Config, 'databaseUrl' | 'redisUrl' | 'host'>;

/** Says in one line what failed, on which server, and what the operator can do about it. */
export function explainFailure(error: unknown, settings: Settings | undefined): string {
  // Without a configuration, no server was tried.
  if (!settings) return error instanceof Error ? error.message : String(error);
  const { databaseUrl, redisUrl, host } = settings;
  if (error instanceof RedisLost || error instanceof ReplyError) return `${describeRedis(redisUrl)}: ${explainRedis(error, redisUrl)}`;
  const reason = reasonOf(error);
  const message = reason.message.replace(/\s*\n\s*/g, ' ');
  const { code = '', address, port, hostname } = reason as Details;
  if (code === 'EADDRINUSE') return `Port ${port} on ${address} is already in use. Set PORT to another port.`;
  const postgres = describePostgres(databaseUrl);
  if (code === 'ENOTFOUND' && hostname === host && !postgres.includes(host)) return `The host "${host}" was not found. Correct HOST.`;
  if (!isOfPostgres(reason)) return message;
  if (showsPassword(databaseUrl)) return `${postgres}: it can't be reached. ${howToEncode}`;
  return `${postgres}: ${explainPostgres(reason, code, message, databaseUrl)}`;
}

function explainRedis(error: unknown, redisUrl: string): string {
  const cause = error instanceof RedisLost ? error.cause : error;
  return problemAndFix(explainRedisFailure(cause instanceof Error ? cause : undefined, redisUrl));
}

/** Errors of a listening socket and of files are not. */
function isOfPostgres(reason: Error): boolean {
  const { code = '', syscall = '' } = reason as Details;
  const isOfConnection =
    ['connect', 'getaddrinfo', 'read', 'write'].includes(syscall) || /^(ECONN|EPIPE|ERR_INVALID_URL|ERR_TLS)/.test(code);
  return (
    reason instanceof NotMigrated ||
    reason instanceof OldPostgres ||
    reason instanceof NotPrimary ||
    reason instanceof UnconfirmedCommit ||
    reason instanceof pg.DatabaseError ||
    isOfConnection ||
    findTlsFault(reason) !== undefined ||
    withoutCode.some((beginning) => reason.message.startsWith(beginning))
  );
}

function explainPostgres(reason: Error, code: string, message: string, databaseUrl: string): string {
  if (isEmptyDatabase(code, message)) return "it is empty. Run 'homeward migrate' first.";
  if (code === permissionDenied && message.includes(applicationRole)) {
    return `the user in DATABASE_URL may not use the role ${applicationRole}. Run 'homeward migrate' as that user, or grant it the role.`;
  }
  if (reason instanceof OldPostgres) return message;
  if (reason instanceof NotMigrated) return message.replace('The database lacks', 'it lacks');
  return problemAndFix(explainPostgresFailure(reason, databaseUrl));
}

/** The pool words an outage for callers of the API. An operator needs the error behind it. */
function reasonOf(error: unknown): Error {
  const inner = error instanceof AppError && error.cause instanceof Error ? error.cause : error;
  const first = inner instanceof AggregateError ? inner.errors[0] : inner;
  return first instanceof Error ? first : new Error(String(first));
}

/** How errors begin that pg reports without a code. */
const withoutCode = [
  'Connection terminated',
  'Query read timeout',
  'timeout exceeded',
  'timeout expired',
  'Client ',
  'SASL:',
  'The server does not support SSL',
  'There was an error establishing an SSL',
  'PostgreSQL is unreachable',
];

// SQLSTATEs.
const tableMissing = '42P01';
const invalidValue = '22023';
const permissionDenied = '42501';

/** The database has no tables yet, or the server does not have the application role yet. */
const isEmptyDatabase = (code: string, message: string) =>
  code === tableMissing || (code === invalidValue && message.includes(applicationRole));
