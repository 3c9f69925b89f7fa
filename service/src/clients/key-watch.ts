import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../db/handles.ts';
import { selectEndedKeys } from './client-queries.ts';

/** Receives the keys that have recently ended. The same key may be reported more than once. */
export type EndedKeysListener = (keyIds: ReadonlySet<bigint>) => void;

const intervalMs = 400;
/** `revoked_at` is the start of the transaction, which may commit up to this much later. */
const commitDelayMaxSeconds = 10;

/**
 * Polls for keys that were revoked, have expired, or were suspended with their client, so that their open streams can be
 * closed: a stream is authenticated only once, when it opens.
 *
 * One loop polls for all listeners. It runs while there are listeners and stops without them. Each poll covers the time
 * since the last one that succeeded, so an outage of PostgreSQL hides no key.
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

  /** Returns the function that ends the subscription. */
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
        // One report per outage, not one per poll.
        if (!isFailing) this.#onError(error);
        isFailing = true;
      }
      await sleep(intervalMs);
    }
    this.#isRunning = false;
  }
}
