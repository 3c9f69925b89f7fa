import { applicationRole } from '../db/pool.ts';
import { NotMigrated } from '../dependencies.ts';
import { AppError } from '../errors.ts';
import { RedisLost } from '../redis/redis-link.ts';

/** The properties that Node and pg add to an error. */
interface Details {
  readonly code?: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
}

/** Says in one line what failed and what the operator can do about it. */
export function explainFailure(error: unknown): string {
  if (error instanceof NotMigrated) return error.message;
  if (error instanceof RedisLost) return 'Redis does not respond. Is REDIS_URL correct, and is Redis running?';
  const reason = reasonOf(error);
  const message = reason.message.replace(/\s*\n\s*/g, ' ');
  const { code = '', address, port, hostname } = reason as Details;
  if (isEmptyDatabase(code, message)) return "The database is empty. Run 'homeward migrate' first.";
  if (code === 'ECONNREFUSED') return `Nothing is listening at ${address}:${port}. Is DATABASE_URL correct, and is PostgreSQL running?`;
  if (code === 'ENOTFOUND') return `The host "${hostname}" was not found. Correct DATABASE_URL.`;
  if (code === 'EADDRINUSE') return `Port ${port} on ${address} is already in use. Set PORT to another port.`;
  if (code === databaseMissing) return `PostgreSQL says: ${message}. Create it, or correct DATABASE_URL.`;
  if (authenticationFailed.has(code) || message.startsWith('SASL:'))
    return 'PostgreSQL rejects the user or the password. Correct DATABASE_URL.';
  if (code === permissionDenied && message.includes(applicationRole)) {
    return `The user in DATABASE_URL may not use the role ${applicationRole}. Run 'homeward migrate' as that user, or grant it the role.`;
  }
  return message;
}

/** The pool words an outage for callers of the API. An operator needs the error behind it. */
function reasonOf(error: unknown): Error {
  const inner = error instanceof AppError && error.cause instanceof Error ? error.cause : error;
  const first = inner instanceof AggregateError ? inner.errors[0] : inner;
  return first instanceof Error ? first : new Error(String(first));
}

// SQLSTATEs.
const tableMissing = '42P01';
const invalidValue = '22023';
const databaseMissing = '3D000';
const permissionDenied = '42501';
const authenticationFailed = new Set(['28P01', '28000']);

/** The database has no tables yet, or the server does not have the application role yet. */
const isEmptyDatabase = (code: string, message: string) =>
  code === tableMissing || (code === invalidValue && message.includes(applicationRole));
