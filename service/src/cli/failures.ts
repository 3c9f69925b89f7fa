import { ReplyError } from 'ioredis';
import pg from 'pg';
import type { Config } from '../config.ts';
import { UnconfirmedCommit } from '../db/connection-faults.ts';
import { applicationRole } from '../db/pool.ts';
import { explainPostgresFailure } from '../db/postgres-failures.ts';
import { NotPrimary } from '../db/postgres-servers.ts';
import { OldPostgres } from '../db/postgres-version.ts';
import { NotMigrated } from '../dependencies.ts';
import { AppError } from '../errors.ts';
import { RedisLost } from '../redis/redis-link.ts';
import { NoPrimary } from '../redis/sentinels.ts';
import { describePostgres, describeRedis, howToEncode, showsPassword } from '../server-addresses.ts';

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
  if (error instanceof RedisLost && error.cause instanceof NoPrimary) return `${describeRedis(redisUrl)}: ${error.cause.message}.`;
  if (error instanceof RedisLost) return `${describeRedis(redisUrl)} does not respond. Is REDIS_URL correct, and is Redis running?`;
  const reason = reasonOf(error);
  const message = reason.message.replace(/\s*\n\s*/g, ' ');
  if (reason instanceof ReplyError) return `${describeRedis(redisUrl)}: ${message}`;
  const { code = '', address, port, hostname } = reason as Details;
  if (code === 'EADDRINUSE') return `Port ${port} on ${address} is already in use. Set PORT to another port.`;
  const postgres = describePostgres(databaseUrl);
  if (code === 'ENOTFOUND' && hostname === host && !postgres.includes(host)) return `The host "${host}" was not found. Correct HOST.`;
  if (!isOfPostgres(reason)) return message;
  if (showsPassword(databaseUrl)) return `${postgres}: it can't be reached. ${howToEncode}`;
  return `${postgres}: ${explainPostgres(reason, code, message)}`;
}

/** Errors of a listening socket and of files are not. */
function isOfPostgres(reason: Error): boolean {
  const { code = '', syscall = '' } = reason as Details;
  const isOfConnection =
    ['connect', 'getaddrinfo', 'read', 'write'].includes(syscall) || /^(ECONN|EPIPE|ERR_INVALID_URL|ERR_TLS|.*CERT)/.test(code);
  return (
    reason instanceof NotMigrated ||
    reason instanceof OldPostgres ||
    reason instanceof NotPrimary ||
    reason instanceof UnconfirmedCommit ||
    reason instanceof pg.DatabaseError ||
    isOfConnection ||
    withoutCode.test(reason.message)
  );
}

function explainPostgres(reason: Error, code: string, message: string): string {
  if (isEmptyDatabase(code, message)) return "it is empty. Run 'homeward migrate' first.";
  if (code === permissionDenied && message.includes(applicationRole)) {
    return `the user in DATABASE_URL may not use the role ${applicationRole}. Run 'homeward migrate' as that user, or grant it the role.`;
  }
  if (reason instanceof OldPostgres) return message;
  if (reason instanceof NotMigrated) return message.replace('The database lacks', 'it lacks');
  const { problem, fix } = explainPostgresFailure(reason);
  return `${problem} ${fix}`.trim();
}

/** The pool words an outage for callers of the API. An operator needs the error behind it. */
function reasonOf(error: unknown): Error {
  const inner = error instanceof AppError && error.cause instanceof Error ? error.cause : error;
  const first = inner instanceof AggregateError ? inner.errors[0] : inner;
  return first instanceof Error ? first : new Error(String(first));
}

/** Errors that pg reports without a code. */
const withoutCode =
  /^(Connection terminated|Query read timeout|timeout (exceeded|expired)|Client |SASL:|The server does not support SSL|PostgreSQL is unreachable)/;

// SQLSTATEs.
const tableMissing = '42P01';
const invalidValue = '22023';
const permissionDenied = '42501';

/** The database has no tables yet, or the server does not have the application role yet. */
const isEmptyDatabase = (code: string, message: string) =>
  code === tableMissing || (code === invalidValue && message.includes(applicationRole));
