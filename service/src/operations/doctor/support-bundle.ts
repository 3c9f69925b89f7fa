import { open } from 'node:fs/promises';
import { arch, cpus, freemem, loadavg, platform, release, totalmem, uptime } from 'node:os';
import type pg from 'pg';
import { type Config, variables } from '../../platform/config.ts';
import { applicationRole } from '../../platform/db/pool.ts';
import { connectToPrimary } from '../../platform/db/postgres-servers.ts';
import { addressesOf, describePostgres, describeRedis } from '../../platform/server-urls.ts';
import {
  explain,
  findStatementsSchema,
  readVersion,
  type SlowStatement,
  selectFailedAttempts,
  selectShownSettings,
  selectSlowest,
  selectTableSizes,
} from './bundle-queries.ts';
import { bytesText, duration, type Finding, within } from './finding.ts';
import { redactor, secretsOf, withoutStrings, withoutValues, withSecretFiles } from './redaction.ts';
import { examineRedis } from './redis-checks.ts';

type Environment = Readonly<Record<string, string | undefined>>;

interface BundleParts {
  /** Undefined: it is invalid, and a finding says why. */
  readonly config: Config | undefined;
  readonly env: Environment;
  readonly version: string;
  readonly findings: readonly Finding[];
  /** A log whose last warnings and errors are included. */
  readonly logFile?: string | undefined;
}

const timeoutMs = 5_000;
const partTimeoutMs = 15_000;
const sectionLengthMax = 200_000;
const slowestMax = 5;
const tablesMax = 50;
const attemptsMax = 20;

/** Variables whose values hold no secret and no address of a person. Of the others it is only said whether they are set. */
const shownVariables: ReadonlySet<string> = new Set([
  'HOST',
  'PORT',
  'HOMEWARD_ENVIRONMENT',
  'HOMEWARD_CATEGORIES',
  'HOMEWARD_ORDER_EXPIRY',
  'HOMEWARD_ADOPTER_RETENTION',
  'HOMEWARD_ADOPTION_RETENTION',
  'HOMEWARD_JOURNAL',
  'HOMEWARD_TRUSTED_PROXIES',
  'HOMEWARD_POOL_SIZE',
  'HOMEWARD_METRICS_PORT',
  'HOMEWARD_METRICS_HOST',
  'HOMEWARD_PAGE_CACHE',
  'HOMEWARD_WEBHOOKS_TO_LOOPBACK',
  'HOMEWARD_DRAIN_MS',
  'LOG_LEVEL',
]);

const redisFields: ReadonlySet<string> = new Set([
  'redis_version',
  'valkey_version',
  'server_name',
  'redis_mode',
  'os',
  'uptime_in_seconds',
  'role',
  'connected_slaves',
  'min_slaves_good_slaves',
  'loading',
  'connected_clients',
  'maxclients',
  'blocked_clients',
  'used_memory_human',
  'used_memory_peak_human',
  'maxmemory_human',
  'maxmemory_policy',
  'mem_fragmentation_ratio',
  'evicted_keys',
  'expired_keys',
  'rejected_connections',
  'total_commands_processed',
  'instantaneous_ops_per_sec',
  'latest_fork_usec',
  'aof_enabled',
  'rdb_last_bgsave_status',
]);
/** How many keys a database has. */
const redisDatabase = /^db\d+$/;

/** One Markdown text: any editor opens it, and the operator can read it before sending it. */
export async function buildBundle(parts: BundleParts): Promise<string> {
  const { config, env, version, findings, logFile } = parts;
  const sections: ReadonlyArray<readonly [title: string, text: () => string | Promise<string>]> = [
    [
      'Findings',
      () => fenced(findings.map(({ severity, check, found, fix }) => `${severity}: ${check}: ${found}${fix ? ` Fix: ${fix}` : ''}`)),
    ],
    ['Versions and machine', () => fenced(describeMachine(version))],
    ['Configuration', () => fenced(describeSettings(env, config))],
    ['Warnings and errors of the log', async () => (logFile ? fenced(await readLastErrors(logFile)) : 'None: give a file with `--log`.')],
    ['PostgreSQL', async () => (config ? describeDatabase(config) : 'Not available: the configuration is wrong.')],
    ['Redis', async () => (config ? describeCache(config) : 'Not available: the configuration is wrong.')],
  ];
  const texts = await Promise.all(sections.map(async ([title, text]) => `## ${title}\n\n${await orReason(text)}\n`));
  const made = `Made at ${new Date().toISOString()} by homeward ${version}.`;
  const replaced = 'Passwords, keys, e-mail addresses and values in errors are replaced by …; read it before you send it.';
  const head = `# Homeward support bundle\n\n${made} ${replaced}\n`;
  const urls = config ? [...addressesOf(config.databaseUrl), config.redisUrl] : [];
  return redactor(secretsOf(await withSecretFiles(env), urls))([head, ...texts].join('\n'));
}

async function orReason(text: () => string | Promise<string>): Promise<string> {
  try {
    const found = await within(partTimeoutMs, 'this part', Promise.resolve(text()));
    return found.length > sectionLengthMax ? `${found.slice(0, sectionLengthMax)}\n\`\`\`\nCut here.` : found;
  } catch (error) {
    return `Not available: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function describeMachine(version: string): string[] {
  return [
    `homeward ${version}`,
    `Node.js ${process.version}`,
    `${platform()} ${release()} ${arch()}, up for ${duration(uptime())}`,
    `${cpus().length} cores, load ${loadavg()
      .map((load) => load.toFixed(2))
      .join(' ')}`,
    `memory ${bytesText(totalmem())}, ${bytesText(freemem())} free`,
  ];
}

function describeSettings(env: Environment, config: Config | undefined): string[] {
  const shown = (name: string, fallback: string) => {
    const value = env[name];
    if (name === 'DATABASE_URL' && config) return describePostgres(config.databaseUrl);
    if (name === 'REDIS_URL' && config) return describeRedis(config.redisUrl);
    if (!value) return fallback ? `${fallback} (default)` : 'not set';
    return shownVariables.has(name) ? value : 'set';
  };
  const own = Object.entries(variables).map(([name, { fallback }]) => `${name}: ${shown(name, fallback)}`);
  // They change how Node.js, pg and the exporter of traces behave.
  const others = Object.keys(env).filter((name) => /^(PG|NODE_|OTEL_|UV_)/.test(name));
  return [...own, ...others.sort().map((name) => `${name}: set`)];
}

async function describeDatabase(config: Config): Promise<string> {
  const db = await connectToPrimary(config.databaseUrl, {
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    application_name: 'homeward support-bundle',
  });
  try {
    // Before those of this session are set.
    const settings = await selectShownSettings(db);
    await db.query('set statement_timeout = 2500; set lock_timeout = 500');
    const parts = [
      fenced([await readVersion(db)]),
      `### Settings\n\n${fenced(settings.map(({ name, value, source }) => `${name} = ${value} (${source})`))}`,
      `### Tables\n\n${await orReason(async () => fenced(listed(await selectTableSizes(db, tablesMax))))}`,
      `### Failed deliveries of the last day\n\n${await orReason(async () => fenced(listed(await selectFailedAttempts(db, attemptsMax))))}`,
      `### The ${slowestMax} slowest statements\n\n${await orReason(() => describeSlowest(db))}`,
    ];
    return parts.join('\n\n');
  } finally {
    await db.end().catch(() => {});
  }
}

async function describeSlowest(db: pg.Client): Promise<string> {
  const schema = await findStatementsSchema(db);
  if (schema === undefined) {
    return "Not available: PostgreSQL does not measure statements. To let it, set `shared_preload_libraries = 'pg_stat_statements'`, restart it, and run `create extension pg_stat_statements` in the store's database as a superuser.";
  }
  const slowest = await selectSlowest(db, schema, applicationRole, slowestMax);
  if (slowest.length === 0) return 'None: no statement was measured, or this user may not see them (`grant pg_monitor to …`).';
  const described: string[] = [];
  for (const statement of slowest) described.push(await describeStatement(db, statement));
  return described.join('\n\n');
}

async function describeStatement(db: pg.Client, { text, calls, meanMs, maxMs, totalMs, rows }: SlowStatement): Promise<string> {
  const times = `${calls} calls, ${meanMs.toFixed(2)} ms on average, ${maxMs.toFixed(2)} ms at most, ${totalMs.toFixed(0)} ms in all, ${rows} rows.`;
  const plan = await explain(db, applicationRole, text).then(
    (lines) => lines.map(withoutStrings),
    (error: Error) => [`It can't be planned without its values: ${withoutValues(error.message)}`],
  );
  return `${times}\n\n${fenced([withoutStrings(text), '', ...plan])}`;
}

async function describeCache(config: Config): Promise<string> {
  const { info } = await examineRedis(config);
  if (!info) return 'Not available: see the findings.';
  const shown = [...info].filter(([name]) => redisFields.has(name) || redisDatabase.test(name));
  return fenced(shown.map(([name, value]) => `${name}: ${value}`));
}

/** Text from elsewhere must not end the block. */
const fenced = (lines: readonly string[]) => `\`\`\`text\n${lines.join('\n').replaceAll('```', "'''") || 'none'}\n\`\`\``;

type Cell = string | number | bigint | Date | null;

/** A line for each row, below the names of the columns. */
function listed<Row extends object>(rows: readonly Row[]): string[] {
  const plain = (value: Cell) => (value instanceof Date ? value.toISOString() : String(value ?? '-'));
  return [...rows.slice(0, 1).map((row) => Object.keys(row)), ...rows.map((row) => (Object.values(row) as Cell[]).map(plain))].map((line) =>
    line.join('  '),
  );
}

const tailBytes = 4_194_304;
const linesMax = 50;
const stackLinesMax = 8;
const lineCharsMax = 2_000;
const warnLevel = 40;
const levels: Readonly<Record<number, string>> = { 40: 'warning', 50: 'error', 60: 'fatal' };

/** Fields that say what happened and hold no data of a caller, unlike `url`. */
const plainFields = ['msg', 'job', 'reason', 'route', 'status', 'ms', 'reqId', 'webhook', 'client', 'code'] as const;

/** The last warnings and errors of a log, from the last megabytes of the file. Lines that are not of the log are left out. */
async function readLastErrors(file: string): Promise<string[]> {
  await using opened = await open(file, 'r');
  const { size } = await opened.stat();
  const bytes = Buffer.alloc(Math.min(size, tailBytes));
  const { bytesRead } = await opened.read(bytes, 0, bytes.length, Math.max(size - tailBytes, 0));
  return bytes.toString('utf8', 0, bytesRead).split('\n').flatMap(readLine).slice(-linesMax);
}

function readLine(line: string): string[] {
  const entry = parse(line);
  if (!entry || typeof entry['level'] !== 'number' || entry['level'] < warnLevel) return [];
  const at = new Date(Number(entry['time']));
  const fields = plainFields.flatMap((name) => (entry[name] === undefined ? [] : [`${name}=${withoutValues(shown(entry[name]))}`]));
  const { type, message, code, stack } = (entry['err'] ?? {}) as Readonly<Record<string, unknown>>;
  const error = message === undefined ? [] : [`err=${[type, code, withoutValues(shown(message))].filter(Boolean).join(' ')}`];
  // Without the message, which may have several lines.
  const frames = typeof stack === 'string' ? stack.split('\n').filter((frame) => /^\s+at /.test(frame)) : [];
  return [
    [
      `${Number.isNaN(at.getTime()) ? '-' : at.toISOString()} ${levels[entry['level']] ?? entry['level']} ${[...fields, ...error].join(' ')}`,
      ...frames.slice(0, stackLinesMax),
    ]
      .map((text) => text.slice(0, lineCharsMax))
      .join('\n'),
  ];
}

/** Anyone could have written the line. */
const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'object' && entry !== null ? (entry as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
