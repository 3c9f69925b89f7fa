import { setTimeout as sleep } from 'node:timers/promises';
import { JoinedRuns } from '../../platform/bounded/joined-runs.ts';
import type { Clock } from '../../platform/clock.ts';
import { AppError } from '../../platform/errors.ts';
import type { UsageRow } from './usage-queries.ts';

const minuteMs = 60_000;
/** About 40 MB. While PostgreSQL is reachable, there are as many as keys were used in the last seconds. */
const talliesMax = 200_000;

/** What a key did in a minute. */
interface KeyTally {
  requests: number;
  /** Undefined: none. By error code. */
  errors: Map<string, number> | undefined;
  /** Undefined: none. By operation. */
  deprecated: Map<string, number> | undefined;
}

export interface CountedRequest {
  readonly keyId: bigint;
  readonly atMs: number;
  /** Null: no error. */
  readonly error: string | null;
  /** The deprecated operation that was called, or null. */
  readonly deprecated: string | null;
}

/** Rows of one minute, each of another key, kind or name. */
export interface UsageBatch {
  readonly minuteAt: Date;
  readonly rows: readonly UsageRow[];
  /** How many keys they are of. */
  readonly keys: number;
  readonly requests: number;
}

/** Counts requests in memory, by minute and key, until they are taken to be written. Every request passes here, so it only increments. */
export class UsageTally {
  /** The oldest minute first, unless the clock was set back. A minute without tallies has no entry. */
  readonly #minutes = new Map<number, Map<bigint, KeyTally>>();
  #minute = Number.NaN;
  /** Those of `#minute`, also if it has no entry. */
  #current = new Map<bigint, KeyTally>();
  #size = 0;
  #droppedRequests = 0;

  /** The number of tallies: one for each key and minute. */
  get size(): number {
    return this.#size;
  }

  count({ keyId, atMs, error, deprecated }: CountedRequest): void {
    const minute = Math.floor(atMs / minuteMs);
    if (minute !== this.#minute) this.#goTo(minute);
    const tally = this.#current.get(keyId) ?? this.#add(keyId);
    tally.requests += 1;
    if (error !== null) tally.errors = incremented(tally.errors, error);
    if (deprecated !== null) tally.deprecated = incremented(tally.deprecated, deprecated);
  }

  /** Takes the oldest tallies out, of one minute and about as many rows as given. Undefined if there are none. */
  take(rowsMax: number): UsageBatch | undefined {
    const [oldest] = this.#minutes;
    if (!oldest) return undefined;
    const [minute, tallies] = oldest;
    const rows: UsageRow[] = [];
    let [keys, requests] = [0, 0];
    for (const [keyId, tally] of tallies) {
      if (rows.length >= rowsMax) break;
      rows.push(...rowsOf(keyId, tally));
      keys += 1;
      requests += tally.requests;
      this.#remove(minute, tallies, keyId);
    }
    return { minuteAt: new Date(minute * minuteMs), rows, keys, requests };
  }

  /** How many requests were dropped since the last call, because there were too many tallies. */
  takeDropped(): number {
    const dropped = this.#droppedRequests;
    this.#droppedRequests = 0;
    return dropped;
  }

  #goTo(minute: number): void {
    this.#minute = minute;
    this.#current = this.#minutes.get(minute) ?? new Map();
  }

  #add(keyId: bigint): KeyTally {
    if (this.#size >= talliesMax) this.#dropOldest();
    const tally: KeyTally = { requests: 0, errors: undefined, deprecated: undefined };
    this.#current.set(keyId, tally);
    this.#minutes.set(this.#minute, this.#current);
    this.#size += 1;
    return tally;
  }

  #dropOldest(): void {
    for (const [minute, tallies] of this.#minutes) {
      for (const [keyId, { requests }] of tallies) {
        this.#droppedRequests += requests;
        this.#remove(minute, tallies, keyId);
        return;
      }
    }
  }

  #remove(minute: number, tallies: Map<bigint, KeyTally>, keyId: bigint): void {
    tallies.delete(keyId);
    this.#size -= 1;
    if (tallies.size === 0) this.#minutes.delete(minute);
  }
}

function incremented(counts: Map<string, number> | undefined, name: string): Map<string, number> {
  return (counts ?? new Map<string, number>()).set(name, (counts?.get(name) ?? 0) + 1);
}

function rowsOf(keyId: bigint, { requests, errors, deprecated }: KeyTally): UsageRow[] {
  const rows: UsageRow[] = [{ keyId, kind: 'request', name: '', count: requests }];
  for (const [name, count] of errors ?? []) rows.push({ keyId, kind: 'error', name, count });
  for (const [name, count] of deprecated ?? []) rows.push({ keyId, kind: 'deprecated', name, count });
  return rows;
}

const intervalMs = 5_000;
/** An interval is longer or shorter by up to this share, so that processes don't write at the same moment. */
const jitter = 0.2;
/** Few enough for a PostgreSQL that is very busy to write them within the statement timeout. */
const batchRowsMax = 5_000;
const closeTimeoutMs = 3_000;
/** Between attempts while the process ends. */
const closeRetryMs = 100;
const partitionIntervalMs = 3_600_000;
/** PostgreSQL's code for a row that fits no partition. */
const noPartition = '23514';

export type UsageLog = Readonly<Record<'info' | 'warn' | 'error', (fields: object, message: string) => void>>;

interface Parts {
  readonly tally: UsageTally;
  /** Adds the counts of a batch. Does nothing if a batch of this process with this number, or a higher one, was added before. */
  add(number: bigint, batch: UsageBatch): Promise<void>;
  makePartitions(): Promise<void>;
  readonly log: UsageLog;
}

/**
 * Writes the tally to PostgreSQL every few seconds, in batches.
 *
 * A batch is in the tally, then unwritten, then written. At most one is unwritten. If its outcome is unknown, because PostgreSQL did not
 * reply, the same batch is sent again with the same number, so it is counted exactly once. Meanwhile requests are counted in the tally,
 * which drops the oldest when it is full. A batch that PostgreSQL rejects is dropped: it would be rejected again.
 */
export class UsageWriter {
  readonly #parts: Parts;
  #unwritten: { readonly number: bigint; readonly batch: UsageBatch } | undefined;
  #lastNumber = 0n;
  readonly #writes = new JoinedRuns(() => this.#writeAll());
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #isFailing = false;
  #partitionsMadeAtMs = Number.NEGATIVE_INFINITY;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Writes from now on, until it is closed. */
  start(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.write().then(() => this.start()), intervalMs * (1 + jitter * (2 * Math.random() - 1))).unref();
  }

  /** Writes everything that was counted before the call, unless PostgreSQL fails: then it is kept for the next call. Never throws. */
  write(): Promise<void> {
    return this.#writes.next();
  }

  /** Writes for the last time. What can't be written in time is lost, and that is logged. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await Promise.race([this.#writeRest(), sleep(closeTimeoutMs, undefined, { ref: false })]);
    let requests = this.#unwritten?.batch.requests ?? 0;
    for (let batch = this.#parts.tally.take(batchRowsMax); batch; batch = this.#parts.tally.take(batchRowsMax)) requests += batch.requests;
    if (requests > 0) this.#parts.log.warn({ requests }, 'usage lost: it could not be saved before shutdown');
  }

  async #writeRest(): Promise<void> {
    const deadlineMs = performance.now() + closeTimeoutMs;
    for (;;) {
      await this.write();
      if ((!this.#unwritten && this.#parts.tally.size === 0) || performance.now() > deadlineMs) return;
      await sleep(closeRetryMs, undefined, { ref: false });
    }
  }

  async #writeAll(): Promise<void> {
    const { tally, log } = this.#parts;
    try {
      if (this.#unwritten) await this.#write(this.#unwritten);
      // Counted at the start: requests that come meanwhile are for the next time.
      for (let keys = tally.size; keys > 0; ) {
        const batch = tally.take(batchRowsMax);
        if (!batch) break;
        keys -= batch.keys;
        this.#lastNumber += 1n;
        this.#unwritten = { number: this.#lastNumber, batch };
        await this.#write(this.#unwritten);
      }
      if (this.#isFailing) log.info({}, 'usage is written again');
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) log.warn({ err: error }, 'usage is not written: it is kept in memory until PostgreSQL takes it');
      this.#isFailing = true;
    }
    const requests = tally.takeDropped();
    if (requests > 0) log.warn({ requests }, 'usage dropped: too much of it waits for PostgreSQL');
  }

  /** Throws if the outcome is unknown. */
  async #write({ number, batch }: { readonly number: bigint; readonly batch: UsageBatch }): Promise<void> {
    try {
      await this.#makePartitions();
      await this.#add(number, batch);
    } catch (error) {
      if (error instanceof AppError && error.code === 'unavailable') throw error;
      this.#parts.log.error({ err: error, requests: batch.requests }, 'usage dropped: PostgreSQL rejects it');
    }
    this.#unwritten = undefined;
  }

  /** A machine that was suspended for days has no partition for today yet. */
  async #add(number: bigint, batch: UsageBatch): Promise<void> {
    try {
      await this.#parts.add(number, batch);
    } catch (error) {
      if ((error as { code?: string }).code !== noPartition) throw error;
      this.#partitionsMadeAtMs = Number.NEGATIVE_INFINITY;
      await this.#makePartitions();
      await this.#parts.add(number, batch);
    }
  }

  /** Here too, and not only in the worker: a store whose worker has stopped still counts. */
  async #makePartitions(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - this.#partitionsMadeAtMs < partitionIntervalMs) return;
    try {
      await this.#parts.makePartitions();
      this.#partitionsMadeAtMs = nowMs;
    } catch (error) {
      if (error instanceof AppError && error.code === 'unavailable') throw error;
      // Today's partition most likely exists.
      this.#parts.log.error({ err: error }, 'usage: the partitions of the coming days could not be made');
    }
  }
}

/** What is counted of a request. */
interface FinishedCall {
  /** Null: it had no valid key, and belongs to nobody. */
  readonly caller: { readonly keyId: bigint } | null;
  readonly code: string | null;
  readonly method: string;
  readonly route: string | undefined;
  readonly isDeprecated: boolean;
}

/** Counts each request with a valid key. */
export const countUsage =
  (tally: UsageTally, clock: Clock) =>
  ({ caller, code, method, route, isDeprecated }: FinishedCall): void => {
    if (!caller) return;
    const deprecated = isDeprecated && route !== undefined ? operationOf(method, route) : null;
    tally.count({ keyId: caller.keyId, atMs: clock.now(), error: code, deprecated });
  };

/** As OpenAPI writes it: `GET /v1/pets/{petId}`. A HEAD is a GET without its body. */
const operationOf = (method: string, route: string) => `${method === 'HEAD' ? 'GET' : method} ${route.replaceAll(/:(\w+)/g, '{$1}')}`;
