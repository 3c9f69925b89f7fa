import pg from 'pg';
import { unavailable } from '../errors.ts';
import { FairTurns, NoTurn } from './fair-turns.ts';
import { type Db, type Settings, type Snapshotter, Transaction, type Transactor } from './handles.ts';
import {
  type ConnectionCounts,
  type ConnectionOptions,
  isUnconfirmedCommit,
  PipelinedConnections,
  UnconfirmedCommit,
} from './pipelined-connections.ts';
import { StatementWatch, type WatchStatement } from './statement-watch.ts';

// PostgreSQL's bigint is exact only as a BigInt.
pg.types.setTypeParser(pg.types.builtins.INT8, BigInt);

/** The role of every process except `migrate`. The first migration creates it. */
export const applicationRole = 'homeward_app';
/** The names of the connections of every process except `migrate`, as PostgreSQL shows them. */
export const applicationNames = { pool: 'homeward', probe: 'homeward probe' } as const;

const connectTimeoutMs = 500;
const turnTimeoutMs = 500;
const startTimeoutMs = 10_000;
const statementTimeoutMs = 2_000;
/** Longer than PostgreSQL's own, which is then the one that reports. */
const queryTimeoutMs = 2_500;
const idleInTransactionMs = 5_000;
/** Per client. Bounds memory only; the wait for a connection is bounded by `turnTimeoutMs`. */
const pendingMax = 1_000;
/** From here on, single statements that can be retried for nothing are rejected, long before all are. */
const busyMin = 250;
const probeIntervalMs = 250;
const probeTimeoutMs = 500;

/** What the connections are doing, by their use. */
export interface PoolState {
  readonly connections: Readonly<Record<'transactions' | 'statements' | 'looks', ConnectionCounts>>;
  /** Transactions that wait for a connection. */
  readonly waiting: number;
  readonly inFlight: Readonly<Record<'statements' | 'looks', number>>;
}

/**
 * The connections of one process to PostgreSQL, with a circuit breaker. A probe on a separate connection checks whether
 * PostgreSQL is reachable. While it is not, every call is rejected at once with `unavailable`. If all connections are busy,
 * a call waits for one, up to `turnTimeoutMs`.
 */
export class Pool implements Transactor, Snapshotter {
  readonly #pool: pg.Pool;
  /** One turn for each connection of the pool. A client that needs many connections at once only delays itself. */
  readonly #turns: FairTurns;
  /** Half of the connections, for single statements. The pool's are for transactions. */
  readonly #pipelined: PipelinedConnections;
  readonly #ahead: PipelinedConnections;
  readonly #databaseUrl: string;
  readonly #watch = new StatementWatch();
  #reachable = true;
  #closed = false;
  /** Connections with a commit that the standby did not confirm. */
  readonly #unconfirmed = new WeakSet<pg.PoolClient>();
  #prober: pg.Client | undefined;
  #nextProbe: NodeJS.Timeout | undefined;

  /**
   * `byIndex` makes the planner use indexes even if a table's statistics are out of date, and plan each statement once. For a worker:
   * its queues are often empty when they are analysed, each of its statements has an index, and planning one over a month of
   * partitions takes longer than running it.
   */
  constructor(databaseUrl: string, size: number, { byIndex = false } = {}) {
    this.#databaseUrl = databaseUrl;
    const options: ConnectionOptions = {
      connectionString: databaseUrl,
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: queryTimeoutMs,
      keepAlive: true,
      application_name: applicationNames.pool,
      // Not as startup parameters, which PgBouncer rejects or drops: without its role a process would have the rights of its login.
      onConnect: async (client) => void (await client.query(settingsOf(byIndex))),
    };
    const pipelinedCount = Math.max(Math.floor(size / 2), 1);
    const turnsMax = Math.max(size - pipelinedCount, 1);
    this.#pool = new pg.Pool({ ...options, max: turnsMax, idleTimeoutMillis: 0 });
    this.#turns = new FairTurns({ turnsMax, waitMsMax: turnTimeoutMs, pendingOfOwnerMax: pendingMax });
    this.#pipelined = new PipelinedConnections(options, pipelinedCount, () => this.#probeNow());
    this.#ahead = new PipelinedConnections(options, 1, () => this.#probeNow());
    // A connection can break while it is checked out, when the pool itself does not listen for errors.
    this.#pool.on('connect', (client) => {
      client.on('error', () => this.#probeNow());
      client.on('notice', (notice) => isUnconfirmedCommit(notice) && this.#unconfirmed.add(client));
    });
    this.#pool.on('error', () => this.#probeNow());
  }

  get reachable(): boolean {
    return this.#reachable;
  }

  get state(): PoolState {
    const { totalCount, idleCount, options } = this.#pool;
    const transactions = { busy: totalCount - idleCount, idle: idleCount, max: options.max };
    return {
      connections: { transactions, statements: this.#pipelined.connections, looks: this.#ahead.connections },
      waiting: this.#turns.waiting,
      inFlight: { statements: this.#pipelined.pending, looks: this.#ahead.pending },
    };
  }

  /** Calls `watch` when a statement is sent, also within transactions. Probes are left out. */
  watchStatements(watch: WatchStatement): void {
    this.#watch.add(watch);
  }

  /** True: single statements queue up. Reject reads that many callers send, so that there is room for writes and keys. */
  get isBusy(): boolean {
    return this.#pipelined.pending >= busyMin;
  }

  /** Opens `count` connections now, so that no request has to wait for one. Waits for a server that is still starting. */
  async connect(count = 1): Promise<void> {
    const clients: pg.PoolClient[] = [];
    const deadline = performance.now() + startTimeoutMs;
    try {
      while (clients.length < count) {
        const client = await this.#pool.connect().catch((error) => {
          if (!isSlow(error) || performance.now() > deadline) throw error;
        });
        if (client) clients.push(client);
      }
    } finally {
      for (const client of clients) client.release();
    }
  }

  /** For a process that serves requests: opens all connections and starts the probe. */
  async open(): Promise<void> {
    await this.connect(this.#pool.options.max);
    await this.#pipelined.open();
    await this.#ahead.open();
    await this.startProbing();
  }

  /** For every long-running process: until then PostgreSQL counts as reachable. */
  async startProbing(): Promise<void> {
    await this.#probe();
  }

  async query<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<pg.QueryResult<Row>> {
    if (!this.#reachable || !this.#pipelined.isOpen) return this.#withClient(undefined, (client) => this.#watch.run(client, statement));
    if (this.#pipelined.pending >= pendingMax) throw unavailable(new Error(`${pendingMax} statements are already in flight`));
    return this.#pipeline(this.#pipelined, statement);
  }

  /** Runs statements on a separate connection, so that they never wait behind others. For what every request waits for. */
  readonly ahead: Db = {
    query: <Row extends pg.QueryResultRow>(statement: pg.QueryConfig) =>
      this.#reachable && this.#ahead.isOpen ? this.#pipeline<Row>(this.#ahead, statement) : this.query<Row>(statement),
  };

  async #pipeline<Row extends pg.QueryResultRow>(
    connections: PipelinedConnections,
    statement: pg.QueryConfig,
  ): Promise<pg.QueryResult<Row>> {
    try {
      return await this.#watch.run<Row>(connections, statement);
    } catch (error) {
      if (isConnectionFault(error)) this.#probeNow();
      throw isConnectionFault(error) || isCancelled(error) || error instanceof UnconfirmedCommit ? unavailable(error) : error;
    }
  }

  /** Commits everything that `work` did, or nothing. If the commit itself fails, the outcome is unknown: 503, never success. */
  async transaction<T>(work: (tx: Transaction) => Promise<T>, clientId?: bigint): Promise<T> {
    return this.#within('begin', work, clientId);
  }

  async snapshot<T>(work: (tx: Db) => Promise<T>, clientId?: bigint, settings: Settings = {}): Promise<T> {
    // One text of several statements is one round trip.
    const begin = ['begin isolation level repeatable read read only', ...setEach(settings, 'set local')].join('; ');
    return this.#within(begin, work, clientId);
  }

  async #within<T>(begin: string, work: (tx: Transaction) => Promise<T>, clientId?: bigint): Promise<T> {
    return this.#withClient(clientId, async (client) => {
      const db = this.#watch.over(client);
      await db.query({ text: begin });
      try {
        const result = await work(new Transaction(db));
        await db.query({ text: 'commit' });
        return result;
      } catch (error) {
        if (!isConnectionFault(error)) await db.query({ text: 'rollback' });
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#nextProbe);
    await Promise.all([this.#pool.end(), this.#pipelined.close(), this.#ahead.close(), this.#prober?.end().catch(() => {})]);
  }

  async #withClient<T>(clientId: bigint | undefined, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    if (!this.#reachable) throw unavailable(new Error('PostgreSQL is unreachable'));
    try {
      return await this.#turns.run(clientId, () => this.#withConnection(work));
    } catch (error) {
      throw error instanceof NoTurn ? unavailable(error) : error;
    }
  }

  async #withConnection<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect().catch((error) => {
      this.#probeNow();
      throw unavailable(error);
    });
    let fault: Error | undefined;
    try {
      const result = await work(client);
      if (this.#unconfirmed.delete(client)) throw unavailable(new UnconfirmedCommit('a commit was not confirmed by the standby'));
      return result;
    } catch (error) {
      if (isConnectionFault(error)) {
        fault = error;
        this.#probeNow();
      }
      throw fault || isCancelled(error) ? unavailable(error) : error;
    } finally {
      client.release(fault);
    }
  }

  /** Probes at once after a failure, unless probing has not begun or a probe is in flight. */
  #probeNow(): void {
    if (!this.#nextProbe || this.#closed) return;
    clearTimeout(this.#nextProbe);
    this.#nextProbe = undefined;
    void this.#probe();
  }

  async #probe(): Promise<void> {
    // Try twice: if only the probe's connection was broken, the second attempt opens a new one.
    this.#reachable = (await this.#isReachable()) || (await this.#isReachable());
    // What waits for a reply there is waited for by every request.
    if (!this.#reachable) this.#ahead.abandon();
    if (!this.#closed) this.#nextProbe = setTimeout(() => void this.#probe(), probeIntervalMs).unref();
  }

  async #isReachable(): Promise<boolean> {
    try {
      if (!this.#prober) {
        const prober = new pg.Client({
          connectionString: this.#databaseUrl,
          connectionTimeoutMillis: probeTimeoutMs,
          query_timeout: probeTimeoutMs,
          application_name: applicationNames.probe,
        });
        prober.on('error', () => this.#probeNow());
        await prober.connect();
        this.#prober = prober;
      }
      await this.#prober.query('select 1');
      return true;
    } catch {
      // Destroy a connection that did not reply in time instead of closing it: closing would wait for it.
      const broken = this.#prober;
      this.#prober = undefined;
      (broken as { connection?: { stream?: { destroy(): void } } } | undefined)?.connection?.stream?.destroy();
      return false;
    }
  }
}

/** The settings of a connection, as one text of several statements. */
function settingsOf(byIndex: boolean): string {
  const settings = {
    role: applicationRole,
    statement_timeout: statementTimeoutMs,
    // A process that stops in mid-transaction must not hold its locks forever.
    idle_in_transaction_session_timeout: idleInTransactionMs,
    // Every statement is short, so compiling takes longer than running. A high cost estimate would trigger it.
    jit: 'off',
    ...(byIndex && { enable_seqscan: 'off', enable_bitmapscan: 'off', plan_cache_mode: 'force_generic_plan' }),
  };
  return setEach(settings, 'set').join('; ');
}

const setEach = (settings: Settings, set: 'set' | 'set local') =>
  Object.entries(settings).map(([name, value]) => `${set} ${name} = ${value}`);

const networkFaults = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND']);
// SQLSTATE: connection exceptions, shutdowns, insufficient resources, a primary that became a standby, idle in transaction.
const serverFaults = /^(08|57P|53|25006|25P03)/;
// Errors that pg reports without a code.
const clientFaults = /^(Connection terminated|Query read timeout|timeout exceeded|Client (has encountered|was closed))/;

function isConnectionFault(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  if (error instanceof pg.DatabaseError) return serverFaults.test(error.code ?? '');
  return networkFaults.has((error as NodeJS.ErrnoException).code ?? '') || clientFaults.test(error.message);
}

const isSlow = (error: unknown) =>
  error instanceof Error && /^(timeout exceeded|Connection terminated due to connection timeout)/.test(error.message);

/**
 * The server cancelled the statement: it timed out, was in a deadlock, or its preparation was cancelled, for which others in the same
 * pipeline had waited (26000).
 */
const isCancelled = (error: unknown) => error instanceof pg.DatabaseError && /^(57014|40P01|26000)$/.test(error.code ?? '');

/** True if `error` is a violation of the named constraint. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof pg.DatabaseError && error.constraint === constraint;
}

/** Whether a statement with `nowait` found a row that another transaction has locked. */
export function isLockedByOther(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '55P03';
}
