import pg from 'pg';
import { unavailable } from '../errors.ts';
import { FairTurns, NoTurn } from './fair-turns.ts';
import { type Db, type Snapshotter, Transaction, type Transactor } from './handles.ts';
import { isUnconfirmedCommit, PipelinedConnections, UnconfirmedCommit } from './pipelined-connections.ts';

// PostgreSQL's bigint is exact only as a BigInt.
pg.types.setTypeParser(pg.types.builtins.INT8, BigInt);

/** The role that every process but `migrate` acts as; the first migration makes it. */
export const applicationRole = 'homeward_app';

const connectTimeoutMs = 500;
const turnTimeoutMs = 500;
const startTimeoutMs = 10_000;
const statementTimeoutMs = 2_000;
const idleInTransactionMs = 5_000;
/** Bounds memory, for each client; what bounds the wait is the time in which a connection must be had. */
const pendingMax = 1_000;
const probeIntervalMs = 250;
const probeTimeoutMs = 500;

/**
 * The connections of one process. A probe on a connection of its own tells whether PostgreSQL is in reach; while it is
 * not, every call is refused at once with `unavailable`. That all connections are busy is no such case: then a call
 * waits for one, a short while.
 */
export class Pool implements Transactor, Snapshotter {
  readonly #pool: pg.Pool;
  /** One for each connection of the pool: a client that asks for more of them than there are waits behind itself. */
  readonly #turns: FairTurns;
  /** Half of the connections, for single statements; the pool's are for transactions. */
  readonly #pipelined: PipelinedConnections;
  readonly #databaseUrl: string;
  #reachable = true;
  #closed = false;
  /** Connections on which a commit was not confirmed by the standby. */
  readonly #unconfirmed = new WeakSet<pg.PoolClient>();
  #prober: pg.Client | undefined;
  #nextProbe: NodeJS.Timeout | undefined;

  /**
   * `byIndex`: a table that PostgreSQL has not analysed since it filled is read by its indexes all the same. For a worker,
   * whose queues are empty when they are first planned for, and every statement of which has its index.
   */
  constructor(databaseUrl: string, size: number, { byIndex = false } = {}) {
    this.#databaseUrl = databaseUrl;
    const options = {
      connectionString: databaseUrl,
      connectionTimeoutMillis: connectTimeoutMs,
      statement_timeout: statementTimeoutMs,
      query_timeout: statementTimeoutMs + 500,
      // A process that stopped in mid-transaction must not hold its locks for as long as it likes.
      idle_in_transaction_session_timeout: idleInTransactionMs,
      keepAlive: true,
      application_name: 'homeward',
      // Every statement is short: compiling one takes longer than running it, and PostgreSQL would where it guesses high.
      options: `-c role=${applicationRole} -c jit=off ${byIndex ? '-c enable_seqscan=off -c enable_bitmapscan=off' : ''}`.trim(),
    };
    const pipelinedCount = Math.max(Math.floor(size / 2), 1);
    const turnsMax = Math.max(size - pipelinedCount, 1);
    this.#pool = new pg.Pool({ ...options, max: turnsMax, idleTimeoutMillis: 0 });
    this.#turns = new FairTurns({ turnsMax, waitMsMax: turnTimeoutMs, pendingOfOwnerMax: pendingMax });
    this.#pipelined = new PipelinedConnections(options, pipelinedCount, () => this.#probeNow());
    // A connection can break at any time, also while it is lent out, when the pool itself does not listen.
    this.#pool.on('connect', (client) => {
      client.on('error', () => this.#probeNow());
      client.on('notice', (notice) => isUnconfirmedCommit(notice) && this.#unconfirmed.add(client));
    });
    this.#pool.on('error', () => this.#probeNow());
  }

  get reachable(): boolean {
    return this.#reachable;
  }

  /** Opens `count` connections now, so that no request pays for it. A server that is just starting gets the time for it. */
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

  /** For a process that stays: opens all connections, and keeps watch from now on. */
  async open(): Promise<void> {
    await this.connect(this.#pool.options.max);
    await this.#pipelined.open();
    await this.#probe();
  }

  async query<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<pg.QueryResult<Row>> {
    if (!this.#reachable || !this.#pipelined.isOpen) return this.#withClient(undefined, (client) => client.query<Row>(statement));
    if (this.#pipelined.pending >= pendingMax) throw unavailable(new Error(`${pendingMax} statements are under way already`));
    try {
      return await this.#pipelined.query<Row>(statement);
    } catch (error) {
      if (isConnectionFault(error)) this.#probeNow();
      throw isConnectionFault(error) || isCancelled(error) || error instanceof UnconfirmedCommit ? unavailable(error) : error;
    }
  }

  /** Commits all that `work` did, or nothing. Where the commit itself fails, the outcome is unknown: 503, never success. */
  async transaction<T>(work: (tx: Transaction) => Promise<T>, clientId?: bigint): Promise<T> {
    return this.#within('begin', work, clientId);
  }

  async snapshot<T>(work: (tx: Db) => Promise<T>): Promise<T> {
    return this.#within('begin isolation level repeatable read read only', work);
  }

  async #within<T>(begin: string, work: (tx: Transaction) => Promise<T>, clientId?: bigint): Promise<T> {
    return this.#withClient(clientId, async (client) => {
      await client.query(begin);
      try {
        const result = await work(new Transaction(client));
        await client.query('commit');
        return result;
      } catch (error) {
        if (!isConnectionFault(error)) await client.query('rollback');
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#nextProbe);
    await Promise.all([this.#pool.end(), this.#pipelined.close(), this.#prober?.end().catch(() => {})]);
  }

  async #withClient<T>(clientId: bigint | undefined, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    if (!this.#reachable) throw unavailable(new Error('PostgreSQL is out of reach'));
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

  /** Something failed: look at once, unless nobody keeps watch or a look is under way. */
  #probeNow(): void {
    if (!this.#nextProbe || this.#closed) return;
    clearTimeout(this.#nextProbe);
    this.#nextProbe = undefined;
    void this.#probe();
  }

  async #probe(): Promise<void> {
    // The probe's own connection may have broken alone: a fresh one tells.
    this.#reachable = (await this.#isReachable()) || (await this.#isReachable());
    if (!this.#closed) this.#nextProbe = setTimeout(() => void this.#probe(), probeIntervalMs).unref();
  }

  async #isReachable(): Promise<boolean> {
    try {
      if (!this.#prober) {
        const prober = new pg.Client({
          connectionString: this.#databaseUrl,
          connectionTimeoutMillis: probeTimeoutMs,
          query_timeout: probeTimeoutMs,
          application_name: 'homeward probe',
        });
        prober.on('error', () => this.#probeNow());
        await prober.connect();
        this.#prober = prober;
      }
      await this.#prober.query('select 1');
      return true;
    } catch {
      // A connection that did not answer in time is not waited for.
      const broken = this.#prober;
      this.#prober = undefined;
      (broken as { connection?: { stream?: { destroy(): void } } } | undefined)?.connection?.stream?.destroy();
      return false;
    }
  }
}

const networkFaults = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND']);
// SQLSTATE classes: connection exceptions, shutdowns, too few resources, a primary that became a standby, idle too long.
const serverFaults = /^(08|57P|53|25006|25P03)/;
// Faults that pg reports as a plain Error without a code.
const clientFaults = /^(Connection terminated|Query read timeout|timeout exceeded|Client (has encountered|was closed))/;

function isConnectionFault(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  if (error instanceof pg.DatabaseError) return serverFaults.test(error.code ?? '');
  return networkFaults.has((error as NodeJS.ErrnoException).code ?? '') || clientFaults.test(error.message);
}

const isSlow = (error: unknown) =>
  error instanceof Error && /^(timeout exceeded|Connection terminated due to connection timeout)/.test(error.message);

/** By the server, since the statement took too long or stood in a deadlock. */
const isCancelled = (error: unknown) => error instanceof pg.DatabaseError && (error.code === '57014' || error.code === '40P01');

/** True where `error` says that the named constraint was violated. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof pg.DatabaseError && error.constraint === constraint;
}
