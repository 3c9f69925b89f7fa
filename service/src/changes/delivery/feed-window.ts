import type { EventRow } from '../events/events.ts';

const eventsMax = 10_000;
const bytesMax = 16 * 1024 * 1024;

/**
 * The newest events of the feed, in memory once for all endpoints of a worker. It contains every event after `from` up to `to`.
 * A reader that is further behind reads from the database.
 */
export class FeedWindow {
  #events: EventRow[] = [];
  /** Events before this index are removed. The array is cut now and then. */
  #start = 0;
  #bytes = 0;
  #from: bigint;
  #to: bigint;

  constructor(position: bigint) {
    this.#from = position;
    this.#to = position;
  }

  get from(): bigint {
    return this.#from;
  }

  get to(): bigint {
    return this.#to;
  }

  /** Adds the events after the window's end. */
  append(events: readonly EventRow[], to: bigint): void {
    for (const event of events) {
      this.#events.push(event);
      this.#bytes += sizeOf(event);
    }
    this.#to = to;
    while (this.#events.length - this.#start > eventsMax || this.#bytes > bytesMax) {
      const removed = this.#events[this.#start];
      if (!removed) break;
      this.#from = removed.position;
      this.#bytes -= sizeOf(removed);
      this.#start += 1;
    }
    if (this.#start > eventsMax) {
      this.#events = this.#events.slice(this.#start);
      this.#start = 0;
    }
  }

  /** The first event after a position. Undefined at the end of the window. `position` must not be before the window. */
  next(position: bigint): EventRow | undefined {
    let [low, high] = [this.#start, this.#events.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#events[middle]?.position ?? 0n) > position) high = middle;
      else low = middle + 1;
    }
    return this.#events[low];
  }

  /** Up to `limit` events after a position. */
  slice(position: bigint, limit: number): EventRow[] {
    const events: EventRow[] = [];
    for (let event = this.next(position); event && events.length < limit; event = this.next(event.position)) events.push(event);
    return events;
  }
}

/** An estimate: an object and its text. */
const sizeOf = ({ data }: EventRow) => 300 + data.length;
