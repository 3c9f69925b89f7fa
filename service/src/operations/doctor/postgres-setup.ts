import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Environment } from '../../platform/config.ts';
import type { Db } from '../../platform/db/handles.ts';
import { explainPostgresFailure } from '../../platform/db/postgres-failures.ts';
import { readServerState, type ServerState } from '../../platform/db/postgres-servers.ts';
import { addressesOf, serverName } from '../../platform/server-urls.ts';
import { type Archiver, readPid, readStartTime, type SessionSetting, tryWrites } from './doctor-queries.ts';
import { broken, duration, type Judgement, note, ok, warning } from './finding.ts';

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

const timeoutMs = 2_500;
const endTimeoutMs = 500;

/** One of the servers that DATABASE_URL names. */
export interface Host {
  readonly address: string;
  /** As in the address: db1:5432. */
  readonly name: string;
  /** Undefined if it could not be asked. */
  readonly state?: ServerState & { readonly startedAt: string };
  readonly failure?: Error;
}

/** Asks each server of DATABASE_URL, if there are several: two may accept writes, and a process only sees the first. */
export async function readHosts(databaseUrl: string): Promise<readonly Host[]> {
  const addresses = addressesOf(databaseUrl);
  return addresses.length > 1 ? Promise.all(addresses.map(readHost)) : [];
}

async function readHost(address: string): Promise<Host> {
  const client = new pg.Client({
    connectionString: address,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    application_name: 'homeward doctor',
  });
  client.on('error', () => {});
  const name = serverName(address);
  try {
    await client.connect();
    return { address, name, state: { ...(await readServerState(client)), startedAt: await readStartTime(client) } };
  } catch (error) {
    const first = error instanceof AggregateError ? error.errors[0] : error;
    return { address, name, failure: first instanceof Error ? first : new Error(String(first)) };
  } finally {
    // Its place may be the last one that is free.
    await Promise.race([client.end(), sleep(endTimeoutMs)]).catch(() => {});
  }
}

/** Those that accept writes, the one that was promoted last first. A server with two names is one. */
export function primariesOf(hosts: readonly Host[]): readonly Host[] {
  const primaries = hosts.filter(({ state }) => state && !state.isReadOnly);
  const identity = ({ state }: Host) => `${state?.system} ${state?.timeline} ${state?.startedAt}`;
  const distinct = [...new Map(primaries.toReversed().map((host) => [identity(host), host])).values()].toReversed();
  return distinct.toSorted((a, b) => timelineOf(b) - timelineOf(a));
}

export function judgeHosts(hosts: readonly Host[]): Judgement {
  const primaries = primariesOf(hosts);
  const [primary, ...others] = primaries;
  if (primary && others.length > 0) return judgeTwoPrimaries(primary, others);
  const failed = hosts.flatMap(({ name, address, failure }) => (failure ? [{ name, ...explainPostgresFailure(failure, address) }] : []));
  const standbys = hosts.filter(({ state }) => state?.isReadOnly).map(({ name }) => name);
  const rest = [primary && `The primary is ${primary.name}.`, standbys.length > 0 && `Standbys, or read-only: ${standbys.join(', ')}.`];
  const found = [...failed.map(({ name, problem }) => `${name}: ${problem}`), ...rest.filter(Boolean)].join(' ');
  if (!primary)
    return broken(
      `No server accepts writes. ${found}`,
      // One that this machine can't log in to may well be the primary.
      failed.find(({ problem }) => !isDown.test(problem))?.fix || 'During a failover, wait. Otherwise see what your failover tool says.',
    );
  const [first] = failed;
  if (!first) return ok(found);
  // To be started by hand, a former primary would accept writes beside the one that has taken over.
  const join = `Let your failover tool start it, as a standby of ${primary.name}, or remove it from DATABASE_URL.`;
  return warning(found, isDown.test(first.problem) ? join : first.fix || join);
}

const isDown = /nothing is listening|does not reply/;

function judgeTwoPrimaries(primary: Host, others: readonly Host[]): Judgement {
  const named = [primary, ...others].map((host) => `${host.name} (timeline ${timelineOf(host)})`);
  const found = `${listed(named)} all accept writes: what is written to one is missing at the other.`;
  const isLater = others.every((host) => host.state?.system === primary.state?.system && timelineOf(host) < timelineOf(primary));
  const names = listed(others.map(({ name }) => name));
  const fix =
    isLater && primary.state?.system
      ? `Stop PostgreSQL on ${names}: ${primary.name} was promoted later. Keep the data of ${names}: what was written there since is nowhere else.`
      : 'Stop PostgreSQL on all but the one that your failover tool calls the primary, and keep their data.';
  return broken(found, fix);
}

const timelineOf = ({ state }: Host) => Number.parseInt(state?.timeline ?? '0', 16);
const listed = (words: readonly string[]) => new Intl.ListFormat('en-GB').format(words);

/**
 * Whether statements of one connection go to different connections of PostgreSQL, as behind a pooler in transaction mode: a second
 * connection takes the one that the first has used. Changes nothing, since what it set would stay there for others. Undefined: they don't.
 */
export async function checkPooling(first: pg.Client, options: pg.ClientConfig): Promise<Judgement | undefined> {
  const second = new pg.Client(options);
  second.on('error', () => {});
  try {
    await second.connect();
  } catch {
    // There may be no connection left, which another check says.
    return undefined;
  }
  try {
    const before = await readPid(first);
    await second.query('begin');
    await readPid(second);
    const while_ = await readPid(first);
    await second.query('commit');
    await first.query('begin');
    const after = await readPid(first);
    await first.query('commit');
    if (before === while_ && before === after) return undefined;
  } finally {
    await second.end().catch(() => {});
  }
  const found =
    'DATABASE_URL leads to a pooler in transaction mode: the role, the timeouts and the prepared statements of a connection are lost.';
  return broken(found, 'Let the pooler use session mode (pool_mode = session for PgBouncer), or connect to PostgreSQL directly.');
}
