import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { isUnconfirmedCommit, streamOf } from './pipelined-connections.ts';
import { applicationNames, NotPrimary, type PostgresServers } from './postgres-servers.ts';

const intervalMs = 250;
const timeoutMs = 500;
/** A clock that differs less from PostgreSQL's is left alone: synchronised clocks do, and so do the times that a probe measures. */
const clockToleranceMs = 1_000;

interface ProbeListener {
  /** Every connection so far is to a server that is not the primary any more, or was started again. */
  onOtherServer(): void;
  onLost(reason: Error): void;
  onRestored(): void;
}

/** Finds out all the time, on a connection of its own, whether the primary can be reached, whether it is another one, and what its clock says. */
export class PrimaryProbe {
  readonly #servers: PostgresServers;
  readonly #listener: ProbeListener;
  readonly #timeoutMs: number;
  #reachable = true;
  #clockOffsetMs = 0;
  /** When the server that was probed last was started: another one has another time. */
  #startedAt: string | undefined;
  #isStarted = false;
  #isClosed = false;
  /** The only connection, from before it is opened until it is closed. */
  #client: pg.Client | undefined;
  /** Set only between two probes: undefined before the first, and while one is in flight. */
  #next: NodeJS.Timeout | undefined;

  constructor(servers: PostgresServers, timeoutFactor: number, listener: ProbeListener) {
    this.#servers = servers;
    this.#timeoutMs = timeoutFactor * timeoutMs;
    this.#listener = listener;
  }

  /** True until a probe fails. */
  get reachable(): boolean {
    return this.#reachable;
  }

  /** How far PostgreSQL's clock is ahead of this machine's. */
  get clockOffsetMs(): number {
    return this.#clockOffsetMs;
  }

  get isStarted(): boolean {
    return this.#isStarted;
  }

  async start(): Promise<void> {
    this.#isStarted = true;
    await this.#run();
  }

  /** After a failure: probes at once, unless probing has not begun or a probe is in flight. */
  now(): void {
    if (this.#next && !this.#isClosed) void this.#run();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#next);
    this.#disconnect();
  }

  async #run(): Promise<void> {
    clearTimeout(this.#next);
    // Before anything else, so that a failure during this probe doesn't start another beside it.
    this.#next = undefined;
    // Try twice: if only the probe's connection was broken, the second attempt opens a new one. And once for each server.
    let failure = await this.#findFailure();
    for (let tries = 0; failure && tries < this.#servers.count; tries += 1) failure = await this.#findFailure();
    if (this.#isClosed) return;
    const wasReachable = this.#reachable;
    this.#reachable = !failure;
    if (failure && wasReachable) this.#listener.onLost(failure);
    if (!failure && !wasReachable) this.#listener.onRestored();
    this.#next = setTimeout(() => void this.#run(), intervalMs).unref();
  }

  async #findFailure(): Promise<Error | undefined> {
    if (this.#isClosed) return new Error('closed');
    const address = this.#servers.current;
    try {
      const client = this.#client ?? (await this.#connect(address));
      await this.#servers.requirePrimary(client);
      const sentAtMs = Date.now();
      const { startedAt, nowMs } = await readTimes(client);
      this.#compareClocks(nowMs, sentAtMs);
      // Also if a connection to the server before still works: a primary that was cut off may not know yet that it is none any more.
      if (this.#startedAt !== undefined && startedAt !== this.#startedAt) this.#listener.onOtherServer();
      this.#startedAt = startedAt;
      return undefined;
    } catch (error) {
      if (error instanceof NotPrimary) this.#listener.onOtherServer();
      this.#disconnect();
      this.#servers.leave(address);
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  #compareClocks(serverMs: number, sentAtMs: number): void {
    const tookMs = Date.now() - sentAtMs;
    const offsetMs = serverMs - (sentAtMs + tookMs / 2);
    if (Math.abs(offsetMs - this.#clockOffsetMs) > clockToleranceMs + Math.abs(tookMs) / 2) this.#clockOffsetMs = Math.round(offsetMs);
  }

  async #connect(address: string): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: address,
      connectionTimeoutMillis: this.#timeoutMs,
      query_timeout: this.#timeoutMs,
      application_name: applicationNames.probe,
    });
    client.on('error', () => this.#client === client && this.now());
    this.#client = client;
    return client.connect();
  }

  /** Destroys the connection instead of ending it: that would wait for a server that may not reply. */
  #disconnect(): void {
    const client = this.#client;
    this.#client = undefined;
    if (client) streamOf(client).destroy();
  }
}

async function readTimes(client: pg.Client): Promise<{ startedAt: string; nowMs: number }> {
  const { rows } = await client.query<{ startedAt: string; nowMs: number }>(
    `select pg_postmaster_start_time()::text as "startedAt", (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"`,
  );
  const [times] = rows;
  if (!times) throw new Error('PostgreSQL does not tell the time');
  return times;
}

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
