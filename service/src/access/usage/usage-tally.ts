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
