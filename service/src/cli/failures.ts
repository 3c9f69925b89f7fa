import { applicationRole } from '../db/pool.ts';
import { NotMigrated } from '../dependencies.ts';
import { AppError } from '../errors.ts';
import { RedisLost } from '../redis/redis-link.ts';

/** What node and pg tell about a failure, beside its message. */
interface Details {
  readonly code?: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
}

/** Says in one line, to whoever runs a command, what failed and what to do about it. */
export function explainFailure(error: unknown): string {
  if (error instanceof NotMigrated) return error.message;
  if (error instanceof RedisLost) return 'Redis does not answer. Is REDIS_URL right and Redis running?';
  const reason = reasonOf(error);
  const message = reason.message.replace(/\s*\n\s*/g, ' ');
  const { code = '', address, port, hostname } = reason as Details;
  if (isEmptyDatabase(code, message)) return "The database is empty. Run 'homeward migrate' first.";
  if (code === 'ECONNREFUSED') return `Nothing answers at ${address}:${port}. Is DATABASE_URL right and PostgreSQL running?`;
  if (code === 'ENOTFOUND') return `There is no host "${hostname}". Correct DATABASE_URL.`;
  if (code === 'EADDRINUSE') return `Port ${port} of ${address} is taken. Set PORT to another.`;
  if (code === databaseMissing) return `PostgreSQL answers: ${message}. Create it, or correct DATABASE_URL.`;
  if (wantsPassword.has(code) || message.startsWith('SASL:')) return 'PostgreSQL refuses the user or the password. Correct DATABASE_URL.';
  if (code === notAllowed && message.includes(applicationRole)) {
    return `The user of DATABASE_URL may not act as ${applicationRole}. Run 'homeward migrate' as that user, or grant it the role.`;
  }
  return message;
}

/** The pool words an outage for callers of the API; what lies behind it is of use here. */
function reasonOf(error: unknown): Error {
  const inner = error instanceof AppError && error.cause instanceof Error ? error.cause : error;
  const first = inner instanceof AggregateError ? inner.errors[0] : inner;
  return first instanceof Error ? first : new Error(String(first));
}

// SQLSTATEs.
const tableMissing = '42P01';
const valueRejected = '22023';
const databaseMissing = '3D000';
const notAllowed = '42501';
const wantsPassword = new Set(['28P01', '28000']);

/** No table yet, or no role yet: that of a server which Homeward has never met. */
const isEmptyDatabase = (code: string, message: string) =>
  code === tableMissing || (code === valueRejected && message.includes(applicationRole));
