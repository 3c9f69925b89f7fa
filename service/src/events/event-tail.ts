import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../db/handles.ts';
import { type EventRow, readNewEvents } from './events.ts';

export interface TailPage {
  /** The events after `from` up to `to`. The listener got the events up to `from` before, or must read them itself. */
  readonly events: readonly EventRow[];
  readonly from: bigint;
  readonly to: bigint;
  /** The event at `from` is lost: a standby that lacked it has taken over. `to` is before `from`, or after the gap that this left. */
  readonly isLost: boolean;
}

export type TailListener = (page: TailPage) => void;

const intervalMs = 100;
/** Bounds the events that a stream gets at once. */
const batchSizeMax = 100;

/** Polls the end of the feed once for all streams of this process, and only while there is one. */
export class EventTail {
  readonly #db: Db;
  readonly #onError: (error: unknown) => void;
  readonly #listeners = new Set<TailListener>();
  #isRunning = false;

  constructor(db: Db, onError: (error: unknown) => void) {
    this.#db = db;
    this.#onError = onError;
  }

  /** Returns a function that removes the listener. */
  follow(listener: TailListener): () => void {
    this.#listeners.add(listener);
    if (!this.#isRunning) void this.#run();
    return () => this.#listeners.delete(listener);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    let position: bigint | undefined;
    let isFailing = false;
    while (this.#listeners.size > 0) {
      let found = 0;
      try {
        const from = position;
        const { events, to, isLost } = await readNewEvents(this.#db, from, batchSizeMax);
        found = events.length;
        position = to;
        isFailing = false;
        // The first poll only finds the end of the feed. Listeners read up to it themselves.
        for (const listener of this.#listeners) listener({ events, from: from ?? to, to, isLost });
      } catch (error) {
        // Reported once per outage.
        if (!isFailing) this.#onError(error);
        isFailing = true;
      }
      if (found < batchSizeMax) await sleep(intervalMs);
    }
    this.#isRunning = false;
  }
}
