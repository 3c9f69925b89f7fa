import pg from 'pg';
import type { Acting, Authority } from '../../domain/actor.ts';
import { NoTurn, type TurnOptions } from '../bounded/fair-turns.ts';
import type { Clock } from '../clock.ts';
import { AppError, retryLater, unavailable } from '../errors.ts';
import { skipLostIds } from './deployment.ts';
import { settleEarlier } from './ends.ts';
import { ExclusiveConnections } from './exclusive-connections.ts';
import {
  type Db,
  type Searcher,
  type SearchOwner,
  type Settings,
  type Snapshotter,
  StatementWatch,
  Transaction,
  type Transactor,
  type WatchStatement,
} from './handles.ts';
import { type ConnectionOptions, PipelinedConnections } from './pipelined-connections.ts';
import { committing, isConnectionFault, isOfFormerPrimary, isStandbyAway, reportedAs, UnconfirmedCommit } from './postgres-failures.ts';
import { type ActingProcess, applicationNames, PostgresServers } from './postgres-servers.ts';
import { PrimaryProbe, WriteConfirmation } from './probes.ts';

// PostgreSQL's bigint is exact only as a BigInt.
pg.types.setTypeParser(pg.types.builtins.INT8, BigInt);
// The types of `pg` name no arrays.
const int8Array = 1016 as number as typeof pg.types.builtins.INT8;
const parseTexts = pg.types.getTypeParser(int8Array) as (text: string) => string[];
pg.types.setTypeParser(int8Array, (text) => parseTexts(text).map(BigInt));

/** The role of every process except `migrate`. The first migration creates it. */
export const applicationRole = 'homeward_app';

const connectTimeoutMs = 500;
const turnTimeoutMs = 500;
const statementTimeoutMs = 2_000;
/** Longer than PostgreSQL's own, which is then the one that reports. */
const queryTimeoutMs = 2_500;
const idleInTransactionMs = 5_000;
/** Per client. Bounds memory only; the wait for a connection is bounded by `turnTimeoutMs`. */
const pendingMax = 1_000;
/** From here on, single statements that can be retried for nothing are rejected, long before all are. */
const busyMin = 250;
/** A single statement that would wait longer behind others takes its turn on a connection for transactions: commits may be slow. */
const pipelineWaitMsMax = 100;

/** In addition to the size of the pool. Searches take longer than all else, so they have connections of their own. */
const searchConnections = 4;
const searchesOfClientMax = 2;
/** How long a search waits for others of its client, before it is rejected. */
const searchTurnTimeoutMs = 500;
/** The same for a search of a person: colleagues share the turns of their client, and somebody looks at the page until it comes. */
const searchOfPersonWaitMsMax = 5_000;
/** How long it waits for those of other clients: until each that is running now has ended. */
const searchWaitMsMax = 2_000;
/**
 * After a search, its client's turn rests: three times as long as it took beyond 20 ms. Most searches take less. Those that take 60 ms use a
 * third of the time of their client's turns, and those that take the whole second that they may take, 80%.
 */
const restMsAfter = (tookMs: number) => Math.min(3 * Math.max(tookMs - searchUsualMs, 0), searchRestMsMax);
const searchUsualMs = 20;
const searchRestMsMax = 250;
/** For each statement of a search. Also, a search that has taken longer sends no other statement. */
const searchTimeoutMs = 1_000;

/** How many connections of a pool are for transactions, for single statements that read, and for those that write. */
function partsOf(size: number): Readonly<Record<'transactions' | 'reads' | 'writes', number>> {
  const writes = Math.max(Math.floor(size / 4), 1);
  const reads = Math.max(Math.floor(size / 2) - writes, 1);
  return { transactions: Math.max(size - reads - writes, 1), reads, writes };
}

/**
 * The connections that a process opens at most. Each has one for the probe, and one that waits for a standby that is away; one that serves
 * requests also has those for single statements, for searches and for looks.
 */
export function connectionsOf(poolSize: number): Readonly<Record<'serve' | 'worker', number>> {
  const { transactions, reads, writes } = partsOf(poolSize);
  const worker = transactions + 2;
  return { worker, serve: worker + reads + writes + searchConnections + 1 };
}

interface PoolOptions {
  readonly byIndex?: boolean;
  readonly timeoutFactor?: number;
  readonly onIdsSkipped?: () => void;
  /** What the process is, if it acts for others. */
  readonly actsAs?: ActingProcess | undefined;
}

/**
 * The connections of one process to PostgreSQL, with a circuit breaker. A probe on a separate connection checks whether
 * PostgreSQL is reachable. While it is not, every call is rejected at once with `unavailable`. If all connections are busy,
 * a call waits for one, up to `turnTimeoutMs`.
 */
export class Pool implements Transactor, Snapshotter, Searcher {
  /** Half of the connections. A client has all but one of them at most. */
  readonly #transactions: ExclusiveConnections;
  /** For single statements that read. They are on connections of their own, since a commit may have to wait for a standby. */
  readonly #reads: PipelinedConnections;
  /** For single statements that write. */
  readonly #writes: PipelinedConnections;
  readonly #searches: ExclusiveConnections;
  readonly #ahead: PipelinedConnections;
  readonly #servers: PostgresServers;
  readonly #watch = new StatementWatch();
  readonly #confirmation: WriteConfirmation;
  #onConfirmation: (isConfirmed: boolean) => void = () => {};
  readonly #probe: PrimaryProbe;
  /** The server on which ids that may be lost are skipped. */
  #idsServer: string | undefined;
  readonly #onIdsSkipped: () => void;
  #onReachability: (lost: Error | undefined) => void = () => {};

  /**
   * `byIndex` makes the planner use indexes even if a table's statistics are out of date, and plan each statement once. For a worker:
   * its queues are often empty when they are analysed, each of its statements has an index, and planning one over a month of
   * partitions takes longer than running it. Always for transactions and single statements that write, for the same reasons: they find
   * rows by a key, and PostgreSQL would plan some of them each time, since it expects fewer rows for the values of now.
   *
   * `onIdsSkipped` is called if this process was the first to write to a server, and has skipped the ids that may be lost with another.
   */
  constructor(
    databaseUrl: string,
    size: number,
    { byIndex = false, timeoutFactor = 1, onIdsSkipped = () => {}, actsAs }: PoolOptions = {},
  ) {
    this.#onIdsSkipped = onIdsSkipped;
    this.#servers = new PostgresServers(databaseUrl);
    const optionsOf = (name: string, settings: Settings): ConnectionOptions => ({
      servers: this.#servers,
      connectionTimeoutMillis: timeoutFactor * connectTimeoutMs,
      query_timeout: timeoutFactor * queryTimeoutMs,
      keepAlive: true,
      application_name: name,
      // Not as startup parameters, which PgBouncer rejects or drops: without its role a process would have the rights of its login.
      onConnect: async (client) => {
        const server = await this.#servers.requirePrimary(client);
        await client.query(setEach(settings, 'set').join('; '));
        if (settings['default_transaction_read_only'] !== 'on') await this.#skipLostIds(client, server);
        this.#servers.requireStillPrimary(server);
      },
    });
    const toWrite = optionsOf(applicationNames[actsAs ?? 'pool'], settingsOf(true));
    const toRead = optionsOf(applicationNames.pool, { ...settingsOf(byIndex), default_transaction_read_only: 'on' });
    const { transactions: turnsMax, reads, writes } = partsOf(size);
    const onFault = (error: unknown) => this.#noteFault(error);
    const turns = { turnsMax, turnsOfOwnerMax: Math.max(turnsMax - 1, 1), waitMsMax: turnTimeoutMs, pendingOfOwnerMax: pendingMax };
    this.#transactions = new ExclusiveConnections(toWrite, turns, onFault, () => this.#confirmation.ended);
    const searchTurns = {
      turnsMax: searchConnections,
      turnsOfOwnerMax: searchesOfClientMax,
      waitMsMax: searchWaitMsMax,
      waitForOwnMsMax: searchTurnTimeoutMs,
      pendingOfOwnerMax: pendingMax,
      restMsAfter,
    };
    this.#searches = new ExclusiveConnections(toRead, searchTurns, onFault);
    this.#reads = new PipelinedConnections(toRead, reads, onFault);
    this.#ahead = new PipelinedConnections(toRead, 1, onFault);
    this.#confirmation = new WriteConfirmation(this.#servers, (isAwaited) => {
      // What is in flight would wait as long.
      if (isAwaited) this.#writes.abandon();
      this.#onConfirmation(!isAwaited);
    });
    // Those that ended may still wait at the server, so others in their place would be too many.
    this.#writes = new PipelinedConnections(toWrite, writes, onFault, () => !this.#confirmation.isRunning);
    this.#probe = new PrimaryProbe(this.#servers, timeoutFactor, {
      onOtherServer: () => this.#abandonAll(),
      onLost: (reason) => {
        // What waits for a reply there is waited for by every request.
        this.#ahead.abandon();
        this.#onReachability(reason);
      },
      onRestored: () => {
        this.#confirmation.startAgain();
        this.#onReachability(undefined);
      },
    });
  }

  /** Before anything is written to a server that was not written to before. */
  async #skipLostIds(client: pg.ClientBase, server: string | undefined): Promise<void> {
    if (server === undefined || server === this.#idsServer) return;
    try {
      const results = (await client.query(skipLostIds)) as unknown as pg.QueryResult<{ hasSkipped: boolean }>[];
      if (results[2]?.rows[0]?.hasSkipped) this.#onIdsSkipped();
    } catch (error) {
      // The database is not migrated yet, which is reported elsewhere, or its owner may not know which server it is.
      if (!(error instanceof pg.DatabaseError && /^(42883|42501)$/.test(error.code ?? ''))) throw error;
      await client.query('rollback');
    }
    this.#idsServer = server;
  }

  get reachable(): boolean {
    return this.#probe.reachable;
  }

  /** Calls `listener` when PostgreSQL is lost, with the reason, and without one when it is back. */
  onReachability(listener: (lost: Error | undefined) => void): void {
    this.#onReachability = listener;
  }

  /** PostgreSQL's clock, as probes find it, so that what expires does so at once for every process, whatever its machine's clock says. */
  readonly clock: Clock = { now: () => Date.now() + this.#probe.clockOffsetMs, isReal: true };

  /** False: a standby that has to confirm each commit is away, so writes are rejected at once. Reads are not. */
  get confirmsWrites(): boolean {
    return !this.#confirmation.isAwaited;
  }

  /** Calls `listener` when writes are not confirmed any more, and when they are again. */
  onConfirmation(listener: (isConfirmed: boolean) => void): void {
    this.#onConfirmation = listener;
  }

  /** What the connections are doing, by their use. */
  get state() {
    return {
      connections: {
        transactions: this.#transactions.connections,
        searches: this.#searches.connections,
        statements: this.#reads.connections,
        writes: this.#writes.connections,
        looks: this.#ahead.connections,
      },
      // How many wait for a connection.
      waiting: { transactions: this.#transactions.waiting, searches: this.#searches.waiting },
      inFlight: { statements: this.#reads.pending, writes: this.#writes.pending, looks: this.#ahead.pending },
    };
  }

  /** Calls `watch` when a statement is sent, also within transactions. Probes are left out. */
  watchStatements(watch: WatchStatement): void {
    this.#watch.add(watch);
  }

  /** True: single statements queue up. Reject reads that many callers send, so that there is room for writes and keys. */
  get isBusy(): boolean {
    return this.#reads.pending >= busyMin;
  }

  /** Opens a connection, to find out whether PostgreSQL can be used. Waits for a server that is still starting. */
  async connect(): Promise<void> {
    await this.#transactions.open(1);
  }

  /** For a process that serves requests: opens all connections, so that no request has to wait for one, and starts the probe. */
  async open(): Promise<void> {
    await this.#transactions.open();
    await this.#reads.open();
    await this.#writes.open();
    await this.#ahead.open();
    await this.#searches.open();
    await this.startProbing();
  }

  /** For every long-running process: until then PostgreSQL counts as reachable. */
  async startProbing(): Promise<void> {
    await this.#probe.start();
  }

  async query<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<pg.QueryResult<Row>> {
    if (!this.reachable || !this.#reads.isOpen)
      return this.#withTransactionConnection(undefined, (client) => this.#watch.run(client, statement));
    return this.#pipeline(this.#reads, statement);
  }

  async write<Row extends pg.QueryResultRow>(statement: pg.QueryConfig, clientId?: bigint): Promise<pg.QueryResult<Row>> {
    this.#requireConfirmed();
    if (!this.reachable || !this.#writes.isOpen || this.#writes.waitMs > pipelineWaitMsMax)
      return this.#withTransactionConnection(clientId, (client) => committing(() => this.#watch.run<Row>(client, statement)));
    return this.#pipeline(this.#writes, statement);
  }

  /** Runs statements on a separate connection, so that they never wait behind others. For what every request waits for. */
  readonly ahead: Db = {
    query: <Row extends pg.QueryResultRow>(statement: pg.QueryConfig) =>
      this.reachable && this.#ahead.isOpen ? this.#pipeline<Row>(this.#ahead, statement) : this.query<Row>(statement),
  };

  async #pipeline<Row extends pg.QueryResultRow>(
    connections: PipelinedConnections,
    statement: pg.QueryConfig,
  ): Promise<pg.QueryResult<Row>> {
    if (connections.pending >= pendingMax) throw unavailable(new Error(`${pendingMax} statements are already in flight`));
    const run = () => this.#watch.run<Row>(connections, statement);
    try {
      return await (connections === this.#writes ? committing(run) : run());
    } catch (error) {
      // A statement that writes was given to `query`: a fault of this program, not of the server.
      if (connections !== this.#writes && isOfFormerPrimary(error)) throw error;
      if (isConnectionFault(error) || error instanceof UnconfirmedCommit) this.#noteFault(error);
      throw reportedAs(error);
    }
  }

  /** Commits everything that `work` did, or nothing. If the commit itself fails, the outcome is unknown: 503, never success. */
  async transaction<T>(work: (tx: Transaction) => Promise<T>, { clientId, authority }: Acting): Promise<T> {
    this.#requireConfirmed();
    return this.#withTransactionConnection(clientId ?? undefined, (client) => this.#within(client, 'begin', work, authority));
  }

  async snapshot<T>(work: (tx: Db) => Promise<T>): Promise<T> {
    return this.#withTransactionConnection(undefined, (client) => this.#within(client, beginRanges, work));
  }

  async search<T>(work: (tx: Db) => Promise<T>, owner: SearchOwner, settings: Settings = {}): Promise<T> {
    this.#requireReachable();
    // One text of several statements is one round trip.
    const begin = [beginSnapshot, ...setEach({ ...settings, statement_timeout: searchTimeoutMs }, 'set local')].join('; ');
    try {
      const { clientId, ...options } = turnOf(owner);
      const search = (client: pg.PoolClient) => this.#within(client, begin, (tx) => work(endingAfter(searchTimeoutMs, tx)));
      return await this.#searches.run(clientId, search, options);
    } catch (error) {
      throw error instanceof NoTurn ? noSearchTurn(error) : error;
    }
  }

  async #within<T>(
    client: pg.PoolClient,
    begin: string,
    work: (tx: Transaction) => Promise<T>,
    authority: Authority | null = null,
  ): Promise<T> {
    const db = this.#watch.over(client);
    const tx = new Transaction(db);
    let result: T;
    try {
      if (authority) await beginWith(db, begin, authority);
      else await db.query({ text: begin });
      result = await work(tx);
      await committing(() => db.query({ text: 'commit' }));
    } catch (error) {
      if (!isConnectionFault(error)) await db.query({ text: 'rollback' });
      throw error;
    }
    if (tx.hasEnded) await settleEarlier(db);
    return result;
  }

  async close(): Promise<void> {
    this.#probe.close();
    this.#confirmation.close();
    await Promise.all(this.#all.map((connections) => connections.close()));
  }

  async #withTransactionConnection<T>(clientId: bigint | undefined, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    this.#requireReachable();
    try {
      return await this.#transactions.run(clientId, work);
    } catch (error) {
      throw error instanceof NoTurn ? unavailable(error) : error;
    }
  }

  #requireReachable(): void {
    if (!this.reachable) throw unavailable(new Error('PostgreSQL is unreachable'));
  }

  #requireConfirmed(): void {
    if (this.confirmsWrites) return;
    const cause = new Error('a commit was not confirmed by the standby, and none is since');
    throw retryLater('The database confirms no writes at the moment: nothing was written. Reads work. Retry in 1 s.', cause);
  }

  get #all(): ReadonlyArray<ExclusiveConnections | PipelinedConnections> {
    return [this.#transactions, this.#searches, this.#reads, this.#writes, this.#ahead];
  }

  #noteFault(error: unknown): void {
    if (isOfFormerPrimary(error)) this.#abandonAll();
    // A command ends before the standby is back.
    if (isStandbyAway(error) && this.#probe.isStarted) this.#confirmation.start();
    this.#probe.now();
  }

  /** Closes every connection but the probe's: they are of a server that is not the primary any more, and what it shows may be old. */
  #abandonAll(): void {
    for (const connections of this.#all) connections.abandon();
    this.#confirmation.startAgain();
  }
}

function settingsOf(byIndex: boolean): Settings {
  return {
    role: applicationRole,
    statement_timeout: statementTimeoutMs,
    // A process that stops in mid-transaction must not hold its locks forever.
    idle_in_transaction_session_timeout: idleInTransactionMs,
    // What a login or a database may have set otherwise.
    lock_timeout: 0,
    datestyle: 'ISO',
    // Every statement is short, so compiling takes longer than running. A high cost estimate would trigger it.
    jit: 'off',
    ...(byIndex && { enable_seqscan: 'off', enable_bitmapscan: 'off', plan_cache_mode: 'force_generic_plan' }),
  };
}

/** One text of two statements is one round trip. */
async function beginWith(db: Db, begin: string, { ended, error }: Authority): Promise<void> {
  const results: unknown = await db.query({ text: `${begin}; select ${ended} as ended` });
  const [, read] = results as readonly pg.QueryResult<{ ended: string | null }>[];
  const [row] = read?.rows ?? [];
  if (!row) throw new Error('an authority was not read');
  if (row.ended !== null) throw error(row.ended);
}

const setEach = (settings: Settings, set: 'set' | 'set local') =>
  Object.entries(settings).map(([name, value]) => `${set} ${name} = ${value}`);

const beginSnapshot = 'begin isolation level repeatable read read only';
/** A range is planned for its limit: without it, the planner would rather sort a large table. */
const beginRanges = `${beginSnapshot}; set local plan_cache_mode = auto`;

const turnOf = (owner: SearchOwner): TurnOptions & { readonly clientId: bigint } =>
  typeof owner === 'bigint'
    ? { clientId: owner }
    : { clientId: owner.clientId, line: `person ${owner.personId}`, waitForOwnMsMax: searchOfPersonWaitMsMax };

/** Rejects statements after a time. The last one before has a timeout of its own. */
function endingAfter(ms: number, tx: Db): Db {
  const deadline = performance.now() + ms;
  return {
    query: async (statement) => {
      if (performance.now() > deadline) throw unavailable(new Error(`the statements of a search took more than ${ms} ms`));
      return tx.query(statement);
    },
  };
}

function noSearchTurn(cause: NoTurn): AppError {
  if (cause.because === 'others') return retryLater('Too many searches are running at the moment. Retry in 1 s.', cause);
  const message = `This client is running ${searchesOfClientMax} searches, or pauses after slow ones; ${searchesOfClientMax} at once are allowed. Retry in 1 s.`;
  return new AppError('too_many_searches', message, { cause, headers: { 'retry-after': '1' } });
}

/** True if `error` is a violation of the named constraint. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof pg.DatabaseError && error.constraint === constraint;
}

/** Whether a statement with `nowait` found a row that another transaction has locked. */
export function isLockedByOther(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '55P03';
}
