import pg from 'pg';
import type { Environment } from '../../platform/config.ts';
import type { Db } from '../../platform/db/handles.ts';
import { type Archiver, type SessionSetting, tryWrites } from './doctor-queries.ts';
import { broken, duration, type Judgement, note, ok } from './finding.ts';

const is = (right: string) => (value: string) => value === right;

interface RequiredSetting {
  isRight(value: string): boolean;
  /** What happens otherwise. */
  readonly effect: string;
}

/** What new sessions must have. Everything else the processes set themselves. */
export const requiredSettings: Readonly<Record<string, RequiredSetting>> = {
  default_transaction_read_only: { isRight: is('off'), effect: 'nothing can be written, and every request is 503' },
  default_transaction_isolation: { isRight: is('read committed'), effect: 'orders that race are server errors instead of 409' },
  session_replication_role: { isRight: is('origin'), effect: 'neither triggers nor foreign keys are checked' },
  // PostgreSQL says it in a warning.
  client_min_messages: { isRight: (value) => value !== 'error', effect: 'a commit that no standby has confirmed looks like any other' },
  standard_conforming_strings: { isRight: is('on'), effect: 'texts with a backslash are not what was sent' },
};

/** Of a session of this login that nobody has changed. */
export function judgeSettings(
  settings: readonly SessionSetting[],
  { login, database }: { readonly login: string; readonly database: string },
): Judgement {
  const wrong = settings.filter(({ name, value }) => !requiredSettings[name]?.isRight(value));
  const [first] = wrong;
  if (!first) return ok('New sessions have the settings that the store needs.');
  const { name, source } = first;
  const found = `${wrong.map((one) => `${one.name} is ${one.value}`).join(', ')} in new sessions: ${requiredSettings[name]?.effect}.`;
  return broken(
    found,
    `As a superuser: ${resetOf(name, source, login, database)}. Then end the sessions of ${pg.escapeIdentifier(login)}, or restart the processes.`,
  );
}

function resetOf(name: string, source: string, login: string, database: string): string {
  const places: Record<string, string> = {
    user: `alter role ${pg.escapeIdentifier(login)} reset ${name}`,
    database: `alter database ${pg.escapeIdentifier(database)} reset ${name}`,
    'database user': `alter role ${pg.escapeIdentifier(login)} in database ${pg.escapeIdentifier(database)} reset ${name}`,
    client: `remove ${name} from DATABASE_URL or PGOPTIONS`,
  };
  return places[source] ?? `alter system reset ${name}, or remove it from postgresql.conf, and select pg_reload_conf()`;
}

export function judgeArchiving({ mode, archivedCount, failedCount, lastFailedWal, failedSeconds, isFailing }: Archiver): Judgement {
  if (mode === 'off') return ok('PostgreSQL archives no WAL: what was written since the last backup is on its disk alone.');
  if (!isFailing && archivedCount === 0) {
    const found = 'archive_mode is on, and PostgreSQL has archived nothing since it counts.';
    return note(found, 'Is archive_command set, and does it end? select pg_switch_wal(), and look again.');
  }
  if (!isFailing) return ok('WAL is archived.');
  const found = `Archiving has failed ${failedCount} times, the last time ${duration(failedSeconds ?? 0)} ago with ${lastFailedWal}: backups end there, and pg_wal grows until the disk is full.`;
  return broken(found, 'Let archive_command work again: its message is in the log of PostgreSQL. pg_wal empties by itself then.');
}

export function judgeEnvironment(environment: Environment, counts: Readonly<Record<Environment, number>>): Judgement {
  const other = environment === 'production' ? 'staging' : 'production';
  const total = counts[environment] + counts[other];
  if (counts[other] === 0 || counts[environment] > 0) return ok(`HOMEWARD_ENVIRONMENT is ${environment}, as the keys of the store are.`);
  const found = `HOMEWARD_ENVIRONMENT is ${environment}, and all ${total} valid keys of this store are of ${other}: each of them is 401 here.`;
  return broken(found, `Set HOMEWARD_ENVIRONMENT=${other}, or let DATABASE_URL lead to the database of ${environment}.`);
}

/** By the class of PostgreSQL's error, or the whole code. */
const fixes: Readonly<Record<string, string>> = {
  '53100': "Make room on the disk of PostgreSQL: its log names the file. Don't delete anything in its data directory by hand.",
  '53': 'Look at the log of PostgreSQL, and give it the memory, the disk or the connections that it names.',
  '25006': 'Make the database writable: see default_transaction_read_only, and whether a tool has made it read-only.',
  '42501':
    'Something that the store did not make is in the way: look at the owner and the rights of what the message names, and at triggers that use it.',
  '58': 'Look at the disk, the file system and the log of PostgreSQL. If a disk fails, restore: docs/backup.md.',
  XX: 'A file of PostgreSQL is damaged. Save a copy of the data directory, look at its log, and restore: docs/backup.md. For an index alone: reindex it.',
  P0: 'A trigger or a rule that is not of the store rejects it: look at the triggers of the table that the message names.',
  '23': 'A constraint that is not of the store rejects it: look at those of the table that the message names.',
};

/** Writes an animal and an order as the store does, in a transaction that is rolled back: what prevents it is found whatever it is. */
export async function checkWrites(db: Db): Promise<Judgement> {
  try {
    await tryWrites(db);
    return ok('An animal and an order can be written (tried, and rolled back).');
  } catch (error) {
    const { code = '', message, table, constraint } = error as Error & { code?: string; table?: string; constraint?: string };
    // Another check names who has locked it.
    if (code === lockTimeout || code === cancelled) throw error;
    const where = [table && `table ${table}`, constraint && `constraint ${constraint}`].filter(Boolean).join(', ');
    const found = `An animal or an order can't be written: ${message}${where ? ` (${where})` : ''}.`;
    return broken(found, fixes[code] ?? fixes[code.slice(0, 2)] ?? `Look at the log of PostgreSQL (${code}).`);
  }
}

const lockTimeout = '55P03';
const cancelled = '57014';
