import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { readsTexts, TextQuery } from './handles.ts';
import { openPatiently, UnconfirmedCommit } from './postgres-failures.ts';
import type { PostgresServers } from './postgres-servers.ts';

const reconnectDelayMs = 100;
/** No statement takes less. */
const leastMs = 0.1;

export interface ConnectionOptions extends pg.ClientConfig {
  readonly servers: PostgresServers;
  /** A connection is used once this is done. */
  onConnect(client: pg.ClientBase): Promise<void>;
}

export interface ConnectionCounts {
  readonly busy: number;
  readonly idle: number;
  readonly max: number;
}

interface Connection {
  readonly client: pg.Client;
  /** Statements in flight. */
  pending: number;
  /** When PostgreSQL began with the oldest of them, and how long it took for the one before. */
  begunAtMs: number;
  tookMs: number;
  isCorked: boolean;
  /** The statement whose result is being read was committed, but the standby did not confirm it. */
  isUnconfirmed: boolean;
}

/**
 * Connections for single statements, with pipelining: several statements are in flight on each. The statements of one turn
 * of the event loop are sent in one write per connection, and PostgreSQL starts the next without waiting for this process.
 *
 * PostgreSQL replies in the order of sending. A statement goes to the connection where it probably waits least.
 * A connection that ends rejects what is in flight on it, leaves the list, and is replaced in the background.
 */
export class PipelinedConnections {
  readonly #options: ConnectionOptions;
  readonly #count: number;
  readonly #onFault: (error: unknown) => void;
  readonly #mayReconnect: () => boolean;
  readonly #connections: Connection[] = [];
  #isClosed = false;

  /** Connections that end are not replaced while `mayReconnect` is false. */
  constructor(options: ConnectionOptions, count: number, onFault: (error: unknown) => void, mayReconnect = () => true) {
    this.#options = { ...options, pipeline: true };
    this.#count = count;
    this.#onFault = onFault;
    this.#mayReconnect = mayReconnect;
  }

  get isOpen(): boolean {
    return this.#connections.length > 0;
  }

  get pending(): number {
    return this.#connections.reduce((sum, { pending }) => sum + pending, 0);
  }

  /** How long a statement would probably wait for those before it. */
  get waitMs(): number {
    const nowMs = performance.now();
    return Math.min(...this.#connections.map((connection) => waitMsOf(connection, nowMs)));
  }

  get connections(): ConnectionCounts {
    const busy = this.#connections.filter(({ pending }) => pending > 0).length;
    return { busy, idle: this.#connections.length - busy, max: this.#count };
  }

  async open(): Promise<void> {
    await Promise.all(Array.from({ length: this.#count }, () => openPatiently(() => this.#openConnection())));
  }

  query<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<pg.QueryResult<Row>> {
    const nowMs = performance.now();
    const connection = this.#connections.reduce((best, one) => (waitMsOf(one, nowMs) < waitMsOf(best, nowMs) ? one : best));
    cork(connection);
    if (connection.pending === 0) connection.begunAtMs = nowMs;
    connection.pending += 1;
    return new Promise((resolve, reject) => {
      // A callback runs before the next reply is read. After awaiting a promise, `isUnconfirmed` could be about the next statement.
      const onReply = (error: Error | null | undefined, result: pg.QueryResult) => {
        const { isUnconfirmed } = connection;
        const repliedAtMs = performance.now();
        connection.pending -= 1;
        connection.tookMs = repliedAtMs - connection.begunAtMs;
        connection.begunAtMs = repliedAtMs;
        connection.isUnconfirmed = false;
        if (error) reject(error);
        else if (isUnconfirmed) reject(new UnconfirmedCommit());
        else resolve(result as pg.QueryResult<Row>);
      };
      if (readsTexts(statement)) connection.client.query(new TextQuery(statement, onReply));
      else connection.client.query<Row>(statement, onReply);
    });
  }

  /** Closes the connections at once and opens others: what is in flight is rejected. */
  abandon(): void {
    for (const { client } of this.#connections) streamOf(client).destroy();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#connections.map(({ client }) => client.end().catch(() => {})));
  }

  #openConnection(): Promise<void> {
    return this.#options.servers.connect((address) => this.#openConnectionTo(address));
  }

  async #openConnectionTo(address: string): Promise<void> {
    const client = new pg.Client({ ...this.#options, connectionString: address });
    const connection: Connection = { client, pending: 0, begunAtMs: 0, tookMs: 0, isCorked: false, isUnconfirmed: false };
    client.on('error', this.#onFault);
    client.on('notice', (notice) => {
      if (isUnconfirmedCommit(notice)) connection.isUnconfirmed = true;
    });
    client.once('end', () => void this.#replace(connection));
    await client.connect();
    try {
      await this.#options.onConnect(client);
    } catch (error) {
      client.end().catch(() => {});
      throw error;
    }
    this.#connections.push(connection);
  }

  /** Reconnects until it succeeds. In the meantime statements use another connection, or the pool. */
  async #replace(connection: Connection): Promise<void> {
    const index = this.#connections.indexOf(connection);
    if (index < 0) return;
    this.#connections.splice(index, 1);
    for (let isOpen = false; !isOpen && !this.#isClosed; ) {
      await sleep(reconnectDelayMs, undefined, { ref: false });
      if (!this.#mayReconnect()) continue;
      isOpen = await this.#openConnection().then(
        () => true,
        () => false,
      );
    }
  }
}

/** If those in flight take as long as the one before them, or as the oldest of them has taken already. */
const waitMsOf = ({ pending, begunAtMs, tookMs }: Connection, nowMs: number): number =>
  pending * Math.max(tookMs, nowMs - begunAtMs, leastMs);

export const streamOf = (client: pg.ClientBase) =>
  (client as unknown as { connection: { stream: { cork(): void; uncork(): void; destroy(): void } } }).connection.stream;

/** Buffers writes until the end of this turn of the event loop, so that they are sent together. */
function cork(connection: Connection): void {
  if (connection.isCorked) return;
  const stream = streamOf(connection.client);
  connection.isCorked = true;
  stream.cork();
  setImmediate(() => {
    connection.isCorked = false;
    stream.uncork();
  });
}

/**
 * If the wait for the standby is cancelled, PostgreSQL reports the commit as a success, with only a warning. Its text is in the language of
 * the server, so the function that warns counts too.
 */
export const isUnconfirmedCommit = ({ code, message = '', routine }: Notice): boolean =>
  routine === 'SyncRepWaitForLSN' || (code === '01000' && /synchronous replication/.test(message));
type Notice = Readonly<Partial<Record<'code' | 'message' | 'routine', string | undefined>>>;
