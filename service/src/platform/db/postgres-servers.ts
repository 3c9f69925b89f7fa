import pg from 'pg';
import { addressesOf } from '../server-urls.ts';
import type { Db } from './handles.ts';

/**
 * The names of the connections of every process except `migrate`, as PostgreSQL shows them. Those with which the API and the console write
 * have names of their own: what ends the right of somebody waits for them alone (ends.ts).
 */
export const applicationNames = {
  pool: 'homeward',
  serve: 'homeward serve',
  console: 'homeward console',
  probe: 'homeward probe',
} as const;

/** Processes that act for keys, people and links. */
export type ActingProcess = 'serve' | 'console';

/** A standby, a primary that is read-only, or one that another has taken over from: what it shows may be old, and what is written may be lost. */
export class NotPrimary extends Error {
  /** The last of several servers, of which another may be the primary soon, or was only slow. */
  readonly isOneOfSeveral: boolean;
  /** Another has taken over from it, as the message says. */
  readonly isFormer: boolean;

  constructor(message = 'the server is a standby, or read-only', { isOneOfSeveral = false, isFormer = false } = {}) {
    super(message);
    this.isOneOfSeveral = isOneOfSeveral;
    this.isFormer = isFormer;
  }
}

/** What one of several servers failed with. */
interface ServerFailure {
  readonly address: string;
  readonly error: Error;
}

/** By the error that is thrown for all of them. */
const failuresByError = new WeakMap<Error, readonly ServerFailure[]>();

/** What each server failed with, if there are several. */
export const failuresOf = (error: Error): readonly ServerFailure[] => failuresByError.get(error) ?? [];

/** What a connection is asked before it is used. */
export interface ServerState {
  readonly isReadOnly: boolean;
  /** Hexadecimal. A promotion begins the next one. Null on a standby, and where PostgreSQL doesn't tell. */
  readonly timeline: string | null;
  /** The same for a primary and its standbys. Null where PostgreSQL doesn't tell. */
  readonly system: string | null;
}

const stateOf = `select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as "isReadOnly",
  not pg_is_in_recovery() and has_function_privilege('pg_control_system()', 'execute') as "tellsSystem"`;
/** On its own: PostgreSQL asks for the privilege before it runs a statement, whether or not it gets to the function. */
const systemOf =
  'select system_identifier::text as system, left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline from pg_control_system()';

/** A connection, which knows where its server is. */
type Asked = Pick<pg.ClientBase, 'query'> & Partial<Pick<pg.Client, 'host' | 'port'>>;

export async function readServerState(client: Asked): Promise<ServerState> {
  const { rows } = await client.query<{ isReadOnly: boolean; tellsSystem: boolean }>(stateOf);
  const { isReadOnly = true, tellsSystem = false } = rows[0] ?? {};
  const told = tellsSystem ? (await client.query<{ system: string; timeline: string }>(systemOf)).rows[0] : undefined;
  return { isReadOnly, timeline: told?.timeline ?? null, system: told?.system ?? null };
}

/** The servers of which one is the primary, and which of them it was last. */
export class PostgresServers {
  readonly #addresses: readonly string[];
  #current = 0;
  /** Of the primary that was asked last. */
  #seen: { readonly system: string; readonly timeline: string } | undefined;

  constructor(databaseUrl: string) {
    this.#addresses = addressesOf(databaseUrl);
  }

  get count(): number {
    return this.#addresses.length;
  }

  /** The server to try next. */
  get current(): string {
    return this.#addresses[this.#current] ?? '';
  }

  /** This one can't be used. Several connections may notice it. */
  leave(address: string): void {
    if (address === this.current) this.#current = (this.#current + 1) % this.count;
  }

  /**
   * To be asked of each connection before it is used. Where two servers take writes, the one that was promoted later is the primary:
   * the other one was cut off, or its machine came back, and nobody has stopped it. Returns which server it is; undefined where PostgreSQL
   * doesn't tell.
   */
  async requirePrimary(client: Asked): Promise<string | undefined> {
    const { isReadOnly, timeline, system } = await readServerState(client);
    if (isReadOnly) throw new NotPrimary();
    if (timeline === null || system === null) return undefined;
    // Of another system, which an upgrade or a dump that is loaded begins, timelines can't be compared.
    if (this.#seen?.system === system && timeline < this.#seen.timeline) throw formerPrimary(client, timeline, this.#seen.timeline);
    this.#seen = { system, timeline };
    return `${system} ${timeline}`;
  }

  /** Once a connection is ready: another one may have found meanwhile that the server was taken over from. */
  requireStillPrimary(server: string | undefined): void {
    if (server !== undefined && this.#seen && server !== `${this.#seen.system} ${this.#seen.timeline}`) throw new NotPrimary();
  }

  /** Calls `open` for one server after the other, the current one first, until it succeeds. */
  async connect<T>(open: (address: string) => Promise<T>): Promise<T> {
    let failure: unknown;
    const failures: ServerFailure[] = [];
    for (let tries = 0; tries < this.count; tries += 1) {
      const address = this.current;
      try {
        return await open(address);
      } catch (error) {
        this.leave(address);
        if (error instanceof Error) failures.push({ address, error });
        // A server that replies says more than one that does not.
        if (!(error instanceof NotPrimary)) failure ??= error;
        else failure = new NotPrimary(error.message, { isOneOfSeveral: this.count > 1, isFormer: error.isFormer });
      }
    }
    if (failure instanceof Error && this.count > 1) failuresByError.set(failure, failures);
    throw failure;
  }
}

function formerPrimary({ host, port }: Asked, timeline: string, seen: string): NotPrimary {
  const [here, later] = [timeline, seen].map((text) => Number.parseInt(text, 16));
  const problem = `the server ${host}:${port} is a former primary (its timeline is ${here}, and ${later} was seen)`;
  return new NotPrimary(`${problem}; if it was restored, or is the primary again on purpose, restart this process`, { isFormer: true });
}

/**
 * One connection, to the first server of several that is a primary. If there is only one server, or none is a primary, that is for the
 * caller to find out: what it does may not need one.
 */
export async function connectToPrimary(databaseUrl: string, options: pg.ClientConfig): Promise<pg.Client> {
  const servers = new PostgresServers(databaseUrl);
  const open = async (address: string) => {
    const client = new pg.Client({ ...options, connectionString: address });
    // A broken connection is reported by the next query.
    client.on('error', () => {});
    try {
      await client.connect();
    } catch (error) {
      // The driver leaves it open if it has no password: then the process could not end.
      client.end().catch(() => {});
      throw error;
    }
    return client;
  };
  const openPrimary = async (address: string) => {
    const client = await open(address);
    const { isReadOnly } = await readServerState(client);
    if (!isReadOnly) return client;
    await client.end();
    throw new NotPrimary();
  };
  if (servers.count === 1) return open(servers.current);
  return servers.connect(openPrimary);
}

export const versionMin = 15;

/** PostgreSQL is older than what the store was tested with. Its message is for the operator. */
export class OldPostgres extends Error {
  constructor(version: string) {
    super(`it is version ${version}. Upgrade PostgreSQL to ${versionMin} or newer.`);
  }
}

export async function requireSupportedVersion(db: Db): Promise<void> {
  const { rows } = await db.query<{ number: number; version: string }>({
    text: `select current_setting('server_version_num')::int as number, current_setting('server_version') as version`,
  });
  const { number = 0, version = 'unknown' } = rows[0] ?? {};
  requireSupported(number, version);
}

/** `number` is 150004 for 15.4. */
export function requireSupported(number: number, version: string): void {
  if (number < versionMin * 10_000) throw new OldPostgres(version);
}
