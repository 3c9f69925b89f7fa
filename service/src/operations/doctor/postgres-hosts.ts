import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { explainPostgresFailure } from '../../platform/db/postgres-failures.ts';
import { readServerState, type ServerState } from '../../platform/db/postgres-servers.ts';
import { addressesOf, serverName } from '../../platform/server-urls.ts';
import { readPid, readStartTime } from './doctor-queries.ts';
import { broken, type Judgement, ok, warning } from './finding.ts';

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
