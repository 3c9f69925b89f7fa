import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../db/handles.ts';
import { type EventRow, readNewEvents } from './events.ts';

/** Gets the events after `from` up to `to`; those up to `from` it has had, or must read by itself. */
export type TailListener = (events: readonly EventRow[], from: bigint, to: bigint) => void;

const intervalMs = 100;
/** Bounds what is handed to a stream at once. */
const batchSizeMax = 100;

/** The end of the feed, read once for all who follow it in this process, and only while somebody does. */
export class EventTail {
  readonly #db: Db;
  readonly #onError: (error: unknown) => void;
  readonly #listeners = new Set<TailListener>();
  #isRunning = false;

  constructor(db: Db, onError: (error: unknown) => void) {
    this.#db = db;
    this.#onError = onError;
  }

  /** Returns what ends it. */
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
        const { events, lastPosition } = await readNewEvents(this.#db, from, batchSizeMax);
        found = events.length;
        const to = events.length === batchSizeMax ? (events.at(-1)?.position ?? lastPosition) : lastPosition;
        position = to;
        isFailing = false;
        // The first look tells where the end is; also those who were there before it must read up to it.
        for (const listener of this.#listeners) listener(events, from ?? to, to);
      } catch (error) {
        // Once, however long it lasts.
        if (!isFailing) this.#onError(error);
        isFailing = true;
      }
      if (found < batchSizeMax) await sleep(intervalMs);
    }
    this.#isRunning = false;
  }
}
