import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../db/handles.ts';
import { selectEndedKeys } from './client-queries.ts';

/** Gets the keys that have ended lately, some of them more than once. */
export type EndedKeysListener = (keyIds: ReadonlySet<bigint>) => void;

const intervalMs = 400;
/** A key's end is dated by the start of its transaction, which may commit this much later. */
const commitDelayMaxSeconds = 10;

/**
 * Finds keys that were revoked, expired or suspended with their client, for what stays open after its request was admitted:
 * streams. One query for all of them, and only while somebody listens. After an outage it looks as far back as the last look
 * that succeeded.
 */
export class KeyWatch {
  readonly #db: Db;
  readonly #onError: (error: unknown) => void;
  readonly #listeners = new Set<EndedKeysListener>();
  #isRunning = false;

  constructor(db: Db, onError: (error: unknown) => void) {
    this.#db = db;
    this.#onError = onError;
  }

  /** Returns what ends it. */
  subscribe(listener: EndedKeysListener): () => void {
    this.#listeners.add(listener);
    if (!this.#isRunning) void this.#run();
    return () => this.#listeners.delete(listener);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    let polledAtMs = performance.now();
    let isFailing = false;
    while (this.#listeners.size > 0) {
      const startedAtMs = performance.now();
      try {
        const ended = new Set(await selectEndedKeys(this.#db, (startedAtMs - polledAtMs) / 1_000 + commitDelayMaxSeconds));
        polledAtMs = startedAtMs;
        isFailing = false;
        if (ended.size > 0) for (const listener of this.#listeners) listener(ended);
      } catch (error) {
        // Once, however long it lasts.
        if (!isFailing) this.#onError(error);
        isFailing = true;
      }
      await sleep(intervalMs);
    }
    this.#isRunning = false;
  }
}
