import pg from 'pg';
import { getRecordedMark } from '../../animals/photos/photo-mark.ts';
import type { Config } from '../../platform/config.ts';
import { readServers } from '../../platform/db/deployment.ts';
import type { Db } from '../../platform/db/handles.ts';
import { compareMigrations } from '../../platform/db/migrate.ts';
import { applicationRole, connectionsOf } from '../../platform/db/pool.ts';
import { explainPostgresFailure, hasNoConnectionLeft } from '../../platform/db/postgres-failures.ts';
import { connectToPrimary, versionMin } from '../../platform/db/postgres-servers.ts';
import { addressesOf, describePostgres, howToEncode, showsPassword } from '../../platform/server-urls.ts';
import {
  countKeysByEnvironment,
  countMissingOriginals,
  type EndedAccess,
  findSomePicture,
  readClockMs,
  type Server,
  type SessionSetting,
  selectArchiver,
  selectConnections,
  selectEndedAccess,
  selectHasPhotos,
  selectLockHolders,
  selectRights,
  selectServer,
  selectSessionSettings,
  setRole,
} from './doctor-queries.ts';
import {
  broken,
  type CheckName,
  checkNames,
  type Finding,
  findingOf,
  guarded,
  isLocked,
  type Judgement,
  note,
  ok,
  skipped,
  warning,
  within,
} from './finding.ts';
import { type ClockReading, endedMax } from './machine-checks.ts';
import { type KnownPhotos, originalMissingHours } from './photos-check.ts';
import { activityChecks, judgeLocks } from './postgres-activity.ts';
import {
  checkPooling,
  checkWrites,
  judgeArchiving,
  judgeEnvironment,
  judgeHosts,
  judgeSettings,
  primariesOf,
  readHosts,
  requiredSettings,
} from './postgres-setup.ts';
import { checkObjects, checkSequences, expectedTables } from './schema-check.ts';
import { workChecks } from './work-checks.ts';

const timeoutMs = 5_000;
/** Of all statements together: a server that is slow for each of them is as good as none. */
const totalTimeoutMs = 15_000;
const closeTimeoutMs = 500;
const clientOptions = { connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs, application_name: 'homeward doctor' };

interface PostgresReport {
  readonly findings: readonly Finding[];
  readonly clock?: ClockReading;
  /** Null if this user may not know it. */
  readonly dataDirectory?: string | null;
  /** Undefined if they are not known. */
  readonly photos?: KnownPhotos | undefined;
  readonly ended?: EndedAccess | undefined;
}

const schemaNames = [
  'environment',
  'postgres-schema',
  'postgres-sequences',
  'postgres-writes',
  'postgres-server',
  'worker',
  'feed',
  'endpoints',
] as const satisfies readonly CheckName[];

/** Everything that PostgreSQL tells, on one connection: there may not be a second one, which is only tried. */
export async function examinePostgres(config: Config): Promise<PostgresReport> {
  const server = describePostgres(config.databaseUrl);
  if (showsPassword(config.databaseUrl)) {
    return { findings: unusable(broken(`${server} can't be reached: DATABASE_URL can't be parsed.`, howToEncode)) };
  }
  // Before the connection that is used for the rest.
  const hosts = await readHosts(config.databaseUrl);
  const hostFindings = hosts.length > 0 ? [findingOf('postgres-hosts', judgeHosts(hosts))] : [];
  let client: pg.Client | undefined;
  try {
    const startMs = performance.now();
    const address = primariesOf(hosts)[0]?.address ?? config.databaseUrl;
    client = await connectToPrimary(address, clientOptions);
    const [connectionString = address] = addressesOf(address);
    const pooling = await checkPooling(client, { ...clientOptions, connectionString });
    if (pooling) return { findings: [...hostFindings, ...unusable(pooling, 'PostgreSQL is behind a pooler in transaction mode.')] };
    // Before this session changes any.
    const settings = await selectSessionSettings(client, Object.keys(requiredSettings));
    await client.query('set statement_timeout = 2500; set lock_timeout = 500; set default_transaction_read_only = on');
    const found = await selectServer(client);
    const examined = examine(client, found, { config, server, settings, connectMs: performance.now() - startMs });
    const report = await within(totalTimeoutMs, 'the examination', examined);
    return { ...report, findings: [...hostFindings, ...report.findings] };
  } catch (error) {
    return { findings: [...hostFindings, ...unreachable(error, server, config.databaseUrl)] };
  } finally {
    if (client) await close(client);
  }
}

interface Circumstances {
  readonly config: Config;
  readonly server: string;
  readonly settings: readonly SessionSetting[];
  readonly connectMs: number;
}

async function examine(db: Db, server: Server, { config, server: address, settings, connectMs }: Circumstances): Promise<PostgresReport> {
  const { version, versionNumber, isStandby, dataDirectory } = server;
  const reached = `${address}: version ${version}, reached in ${Math.round(connectMs)} ms.`;
  const clock = await readClock(db);
  if (isStandby) {
    const fix = 'Let DATABASE_URL lead to the primary, or promote this server.';
    return { findings: unusable(broken(`${address} is a standby, which can't be written to.`, fix), 'the server is a standby.'), ...clock };
  }
  const isOld = versionNumber < versionMin * 10_000;
  const findings = [
    findingOf('postgres', isOld ? broken(reached, `Upgrade PostgreSQL to ${versionMin} or newer.`) : ok(reached)),
    findingOf('postgres-settings', judgeSettings(settings, server)),
    ...(await guarded('postgres-connections', () => checkConnections(db, config.poolSize))),
    ...(await activityChecks(db, server, config.failover)),
    ...(await guarded('postgres-archiving', async () => judgeArchiving(await selectArchiver(db)))),
    ...(await checkSchema(db, server, config)),
  ];
  const photos = await readKnownPhotos(db).catch(() => undefined);
  const ended = await selectEndedAccess(db, endedMax).catch(() => undefined);
  return { findings: await withLockHolders(db, findings), ...clock, dataDirectory, photos, ended };
}

/** A table that doctor could not read is locked, however short that is, and nothing else may be alarming. */
async function withLockHolders(db: Db, findings: readonly Finding[]): Promise<readonly Finding[]> {
  if (!findings.some(isLocked)) return findings;
  await db.query({ text: 'reset role' });
  const locks = await guarded('postgres-locks', async () => judgeLocks(await selectLockHolders(db, 0, 0)));
  return [...findings.filter(({ check }) => check !== 'postgres-locks'), ...locks];
}

async function readKnownPhotos(db: Db): Promise<KnownPhotos> {
  return {
    hasPhotos: await selectHasPhotos(db),
    picture: await findSomePicture(db),
    originalsMissing: await countMissingOriginals(db, originalMissingHours),
    mark: await getRecordedMark(db),
  };
}

/** The role and the migrations, and the work that needs both. From here on with the rights that the processes have. */
async function checkSchema(db: Db, server: Server, { environment }: Pick<Config, 'environment'>): Promise<Finding[]> {
  if (!server.isMigrated) {
    const [schema] = server.schemas;
    if (schema !== undefined) return elsewhere(server, schema);
    const empty = findingOf('postgres-migrations', broken('The database is empty.', "Run 'homeward migrate'."));
    return [empty, ...['postgres-role' as const, ...schemaNames].map((name) => skipped(name, 'the database is empty.'))];
  }
  const role = await guarded('postgres-role', () => checkRole(db, server.login));
  const mayRead = !role.some(({ severity }) => severity === 'broken');
  const migrations = mayRead
    ? await guarded('postgres-migrations', () => checkMigrations(db))
    : [skipped('postgres-migrations', `that needs the role ${applicationRole}.`)];
  const isCurrent = mayRead && !migrations.some(({ severity }) => severity === 'broken');
  const because = mayRead ? 'a migration is missing.' : `that needs the role ${applicationRole}.`;
  if (!isCurrent) return [...role, ...migrations, ...schemaNames.map((name) => skipped(name, because))];
  const isNewer = migrations.some(({ severity }) => severity === 'note');
  const schema = isNewer
    ? [skipped('postgres-schema', 'the database is newer than this release.')]
    : await guarded('postgres-schema', () => checkObjects(db, applicationRole));
  const work = [
    ...(await guarded('environment', async () => judgeEnvironment(environment, await countKeysByEnvironment(db)))),
    ...schema,
    ...(await guarded('postgres-sequences', () => checkSequences(db))),
    // Otherwise it would only say again what is wrong, without its cause.
    ...(schema.some(({ severity }) => severity === 'broken')
      ? [skipped('postgres-writes', 'the schema is not as it should be.')]
      : await guarded('postgres-writes', () => checkWrites(db))),
    ...(await guarded('postgres-server', () => checkServer(db))),
    ...(await workChecks(db)),
  ];
  return [...role, ...migrations, ...work];
}

/** Its tables are there, and this login looks for them in other schemas. */
function elsewhere({ login, database, searchPath }: Server, schema: string): Finding[] {
  const found = `The tables of the store are in the schema ${schema}, and search_path of ${quoted(login)} is ${searchPath}: no process finds them.`;
  const fix = `As a superuser: alter role ${quoted(login)} reset search_path; alter role ${quoted(login)} in database ${quoted(database)} reset search_path. Then restart the processes.`;
  const because = 'the tables are not in the search_path.';
  return [
    findingOf('postgres-settings', broken(found, fix)),
    ...(['postgres-migrations', 'postgres-role', ...schemaNames] as const).map((name) => skipped(name, because)),
  ];
}

async function checkConnections(db: Db, poolSize: number): Promise<Judgement> {
  const { max, left } = await selectConnections(db);
  const { serve: needed } = connectionsOf(poolSize);
  const found = `${Math.max(left, 0)} of ${max} connections are left; one more serve takes ${needed}.`;
  const fix = 'End connections that nobody needs, raise max_connections or the limit of the user, or lower HOMEWARD_POOL_SIZE.';
  if (left <= 0) return broken(found, fix);
  return left < needed ? warning(found, fix) : ok(found);
}

async function checkRole(db: Db, login: string): Promise<Judgement> {
  const { roleExists, isSuperuser, unreadable, mayChangeHistory } = await selectRights(db, applicationRole, expectedTables());
  if (!roleExists) {
    return broken(
      `This server has no role ${applicationRole}, which every process acts as.`,
      `As a superuser: create role ${applicationRole} nologin. Roles are not part of a dump: restore the dump again after that, with its privileges.`,
    );
  }
  try {
    await setRole(db, applicationRole);
  } catch (error) {
    if ((error as { code?: string }).code !== permissionDenied) throw error;
    const grant = `As the owner: grant ${applicationRole} to ${quoted(login)}.`;
    return broken(`The user ${quoted(login)} of DATABASE_URL may not act as ${applicationRole}.`, grant);
  }
  if (unreadable.length > 0) {
    const some = unreadable.slice(0, 3).join(', ');
    const fix = 'Restore the privileges of the tables, for example from the dump without --no-privileges.';
    return broken(`The role ${applicationRole} may not read ${unreadable.length} tables: ${some}.`, fix);
  }
  if (isSuperuser || mayChangeHistory) {
    const fix = isSuperuser
      ? `alter role ${applicationRole} nosuperuser.`
      : `revoke update, delete, truncate on history from ${applicationRole}.`;
    return warning(`The role ${applicationRole} may change the history, which must only be added to.`, `As the owner: ${fix}`);
  }
  return ok(`${quoted(login)} acts as ${applicationRole}.`);
}

async function checkMigrations(db: Db): Promise<Judgement> {
  const { pending, unknown } = await compareMigrations(db);
  if (pending.length > 0) return broken(`The database lacks ${pending.join(', ')}.`, "Run 'homeward migrate'.");
  if (unknown.length === 0) return ok('The database is up to date.');
  const found = `The database has ${unknown.join(', ')}, which this release does not know.`;
  return note(found, 'That is fine during an upgrade. Afterwards upgrade this program too.');
}

async function checkServer(db: Db): Promise<Judgement> {
  const { here, recorded } = await readServers(db);
  if (here === null) {
    const fix = `As a superuser: grant execute on function pg_control_system() to ${applicationRole}. Otherwise run 'homeward restore-check' after each, with --nothing-lost or --from-snapshot.`;
    return note('PostgreSQL does not tell which server it is, so that no failover and no restore is noticed.', fix);
  }
  if (recorded === null || here === recorded) return ok('The store was not restored, as far as PostgreSQL tells.');
  const fix = "Stop every process and run 'homeward restore-check'; after a failover without loss, with --nothing-lost.";
  return warning('The store was restored from a backup, or a standby has taken over.', fix);
}

function unreachable(error: unknown, server: string, databaseUrl: string): Finding[] {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const { problem, fix } = explainPostgresFailure(first instanceof Error ? first : new Error(String(first)), databaseUrl);
  const check = hasNoConnectionLeft(first) ? 'postgres-connections' : 'postgres';
  return unusable(broken(`${server}: ${problem}`, fix || 'Look at the log of PostgreSQL.'), "PostgreSQL can't be used.", check);
}

/** What is wrong, and that nothing else was checked. */
function unusable(judgement: Judgement, because = "PostgreSQL can't be used.", check: CheckName = 'postgres'): Finding[] {
  const others = checkNames.filter(
    (name) => name !== check && /^(postgres-(?!hosts|sessions)|environment|worker|feed|endpoints)/.test(name),
  );
  return [findingOf(check, judgement), ...others.map((name) => skipped(name, because))];
}

async function readClock(db: Db): Promise<Pick<PostgresReport, 'clock'>> {
  const sentMs = Date.now();
  const serverMs = await readClockMs(db);
  return { clock: { sentMs, serverMs, receivedMs: Date.now() } };
}

/** A server that does not reply must not keep the command from ending. */
async function close(client: pg.Client): Promise<void> {
  const timer = setTimeout(() => {
    (client as unknown as { connection?: { stream?: { destroy(): void } } }).connection?.stream?.destroy();
  }, closeTimeoutMs);
  await client.end().catch(() => {});
  clearTimeout(timer);
}

const quoted = (name: string) => pg.escapeIdentifier(name);
const permissionDenied = '42501';
