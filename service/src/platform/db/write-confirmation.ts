import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { isUnconfirmedCommit, streamOf } from './pipelined-connections.ts';
import { applicationNames, type PostgresServers } from './postgres-servers.ts';

const connectTimeoutMs = 500;
const retryDelayMs = 250;
/** A standby that is there confirms within this time. A commit without a reply may also have waited for a lock, or for others before it. */
const replyTimeoutMs = 1_000;

/** Writes nothing but a record in the log of the server, whose commit waits for the standby as every other does. */
const writeToLog = `select pg_logical_emit_message(true, 'homeward', '')`;

/**
 * After a commit that the standby did not confirm, finds out when commits are confirmed again. It has one connection of its own, on
 * which one commit waits for as long as the standby is away: so at most one backend waits for it, however long that takes.
 */
export class WriteConfirmation {
  readonly #servers: PostgresServers;
  readonly #onChange: (isAwaited: boolean) => void;
  #client: pg.Client | undefined;
  #isRunning = false;
  #isAwaited = false;
  #ended = Promise.resolve();
  #isClosed = false;

  constructor(servers: PostgresServers, onChange: (isAwaited: boolean) => void) {
    this.#servers = servers;
    this.#onChange = onChange;
  }

  /** True: it is not known yet whether commits are confirmed. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** True: a commit would have to wait for the standby. */
  get isAwaited(): boolean {
    return this.#isAwaited;
  }

  /** To be called after a commit that was not confirmed. */
  start(): void {
    if (!this.#isRunning && !this.#isClosed) this.#ended = this.#untilConfirmed();
  }

  /** Settles when commits are confirmed, or nobody waits for that any more. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Asks again on a new connection: the server is another one, or was out of reach. */
  startAgain(): void {
    if (this.#client) streamOf(this.#client).destroy();
  }

  close(): void {
    this.#isClosed = true;
    this.startAgain();
  }

  async #untilConfirmed(): Promise<void> {
    this.#isRunning = true;
    const awaited = setTimeout(() => {
      this.#isAwaited = true;
      this.#onChange(true);
    }, replyTimeoutMs).unref();
    for (let isConfirmed = false; !isConfirmed && !this.#isClosed; ) {
      isConfirmed = await this.#isConfirmed().catch(() => false);
      if (!isConfirmed) await sleep(retryDelayMs, undefined, { ref: false });
    }
    clearTimeout(awaited);
    const wasAwaited = this.#isAwaited;
    [this.#isRunning, this.#isAwaited] = [false, false];
    if (wasAwaited && !this.#isClosed) this.#onChange(false);
  }

  async #isConfirmed(): Promise<boolean> {
    const client = new pg.Client({
      connectionString: this.#servers.current,
      connectionTimeoutMillis: connectTimeoutMs,
      application_name: applicationNames.probe,
      keepAlive: true,
    });
    this.#client = client;
    let isCancelled = false;
    client.on('error', () => {});
    client.on('notice', (notice) => {
      isCancelled ||= isUnconfirmedCommit(notice);
    });
    try {
      await client.connect();
      await this.#servers.requirePrimary(client);
      await client.query(writeToLog);
      return !isCancelled;
    } finally {
      this.#client = undefined;
      streamOf(client).destroy();
    }
  }
}
