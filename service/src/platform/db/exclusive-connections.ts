import pg from 'pg';
import { FairTurns, type TurnBounds, type TurnOptions } from '../bounded/fair-turns.ts';
import { unavailable } from '../errors.ts';
import { type ConnectionCounts, type ConnectionOptions, isUnconfirmedCommit, streamOf } from './pipelined-connections.ts';
import { isConnectionFault, isStandbyAway, openPatiently, reportedAs, UnconfirmedCommit } from './postgres-failures.ts';
import type { PostgresServers } from './postgres-servers.ts';

/**
 * Connections that each run one transaction at a time. There is one turn for each connection, and clients take turns: one that needs
 * many at once only delays itself. A connection is opened when it is first needed, and then stays open.
 */
export class ExclusiveConnections {
  readonly #pool: pg.Pool;
  readonly #turns: FairTurns;
  readonly #servers: PostgresServers;
  readonly #clients = new Set<pg.PoolClient>();
  readonly #onFault: (error: unknown) => void;
  readonly #untilConfirmed: () => Promise<void>;
  /** Connections with a commit that the standby did not confirm. */
  readonly #unconfirmed = new WeakSet<pg.PoolClient>();

  constructor(
    options: ConnectionOptions,
    bounds: TurnBounds,
    onFault: (error: unknown) => void,
    untilConfirmed: () => Promise<void> = async () => {},
  ) {
    this.#servers = options.servers;
    this.#pool = new pg.Pool({ ...options, max: bounds.turnsMax, idleTimeoutMillis: 0, Client: clientOf(options.servers) });
    this.#turns = new FairTurns(bounds);
    this.#onFault = onFault;
    this.#untilConfirmed = untilConfirmed;
    // A connection can break while it is checked out, when the pool itself does not listen for errors.
    this.#pool.on('remove', (client) => this.#clients.delete(client));
    this.#pool.on('connect', (client) => {
      this.#clients.add(client);
      client.on('error', onFault);
      client.on('notice', (notice) => isUnconfirmedCommit(notice) && this.#unconfirmed.add(client));
    });
    this.#pool.on('error', onFault);
  }

  get connections(): ConnectionCounts {
    const { totalCount, idleCount, options } = this.#pool;
    return { busy: totalCount - idleCount, idle: idleCount, max: options.max };
  }

  /** How many wait for a turn. */
  get waiting(): number {
    return this.#turns.waiting;
  }

  /** Opens `count` connections now, so that no request has to wait for one. */
  async open(count = this.#pool.options.max): Promise<void> {
    const clients: pg.PoolClient[] = [];
    try {
      while (clients.length < count) clients.push(await openPatiently(() => this.#connect()));
    } finally {
      for (const client of clients) client.release();
    }
  }

  /**
   * Runs `work` in a turn of the client; without one, it is the store's own. Throws NoTurn if there was none. A turn whose commit got no
   * reply ends when commits are confirmed again: its connection may still wait at the server, and another would be one too many.
   */
  async run<T>(clientId: bigint | undefined, work: (client: pg.PoolClient) => Promise<T>, options?: TurnOptions): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const inTurn = async () => {
      try {
        resolve(await this.#withConnection(work));
      } catch (error) {
        reject(reportedAs(error));
        if (isStandbyAway(error)) await this.#untilConfirmed();
      }
    };
    const turn = this.#turns.run(clientId, inTurn, options);
    turn.catch(reject);
    return promise;
  }

  /** Closes the connections at once: what is in flight is rejected. Others are opened when they are needed. */
  abandon(): void {
    for (const client of this.#clients) streamOf(client).destroy();
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  #connect(): Promise<pg.PoolClient> {
    return this.#servers.connect(() => this.#pool.connect());
  }

  async #withConnection<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connect().catch((error) => {
      this.#onFault(error);
      throw unavailable(error);
    });
    let fault: Error | undefined;
    try {
      const result = await work(client);
      if (this.#unconfirmed.delete(client)) throw new UnconfirmedCommit();
      return result;
    } catch (error) {
      if (isConnectionFault(error)) fault = error;
      if (fault || error instanceof UnconfirmedCommit) this.#onFault(error);
      throw error;
    } finally {
      client.release(fault);
    }
  }
}

/** The pool makes its clients itself: each is for the server to try next. */
const clientOf = (servers: PostgresServers) =>
  class extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super({ ...config, connectionString: servers.current });
    }

    /** As the pool calls it. The driver leaves a connection open that failed because it has no password: then the process could not end. */
    override connect(): Promise<pg.Client>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
      if (!callback) return super.connect();
      super.connect((error: Error) => {
        if (error) streamOf(this).destroy();
        callback(error);
      });
      return undefined;
    }
  };
