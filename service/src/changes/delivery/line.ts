import type { EventRow } from '../events/events.ts';
import type { PositionRange } from '../webhooks/subscriptions.ts';
import type { FeedWindow } from './feed-reader.ts';

export interface LineOptions {
  /** Everything up to here is decided. */
  readonly position: bigint;
  /** The last position to send; undefined: the line follows the feed. */
  readonly upTo?: bigint;
  /** Positions that are not sent: published while the endpoint was disabled or its client suspended. */
  readonly skipped?: readonly PositionRange[];
  /** Events up to here may have been sent before, by the worker before this one: the attempts show it. */
  readonly checkedTo?: bigint;
  /** Only attempts since then count, since it is a replay; undefined: all since the event was published. */
  readonly checkedSince?: Date;
}

const deferredMax = 64;
/** A worker's clock, by which attempts are recorded, may be this much behind the database's. */
const skewMaxMs = 60_000;

/**
 * One reading of the feed for one endpoint: what is new, or a replay.
 *
 * `cursor`: everything up to here has been looked at. An event that the endpoint gets is `open` from then on until its result is stored
 * in the database (delivered, or as an exception). So everything up to `mark` is decided: a worker that continues there sends
 * everything that is not.
 *
 * At most one event of an animal is being sent. Later events of that animal wait in `busy` until it is known whether they may follow.
 */
export class Line {
  readonly upTo: bigint | undefined;
  readonly #skipped: readonly PositionRange[];
  readonly #checkedTo: bigint;
  readonly #checkedSince: Date | undefined;
  readonly #open = new Set<bigint>();
  readonly #busy = new Map<bigint, EventRow[]>();
  /** Events that may be sent now, before those after the cursor. */
  readonly #freed: EventRow[] = [];
  #deferredCount = 0;
  #cursor: bigint;
  /** Read from the database while the cursor is before the window. */
  #page: EventRow[] = [];
  #pageTo: bigint;

  constructor({ position, upTo, skipped = [], checkedTo = 0n, checkedSince }: LineOptions) {
    this.#cursor = position;
    this.#pageTo = position;
    this.upTo = upTo;
    this.#skipped = skipped;
    this.#checkedTo = checkedTo;
    this.#checkedSince = checkedSince;
  }

  get cursor(): bigint {
    return this.#cursor;
  }

  /** Everything up to here is decided and stored. */
  get mark(): bigint {
    let mark = this.#cursor;
    for (const position of this.#open) if (position <= mark) mark = position - 1n;
    return mark;
  }

  get isIdle(): boolean {
    return this.#open.size === 0;
  }

  /** A replay that has reached its end. */
  get isDone(): boolean {
    return this.upTo !== undefined && this.mark >= this.upTo;
  }

  /** Whether the next events must be read from the database, and added by `addPage`. */
  needsPage(window: FeedWindow): boolean {
    this.#jump(window);
    return this.#freed.length === 0 && this.#page.length === 0 && this.#cursor < window.from && this.#cursor < this.#endIn(window);
  }

  isAtEnd(window: FeedWindow): boolean {
    this.#jump(window);
    return this.#freed.length === 0 && this.#page.length === 0 && this.#cursor >= this.#endIn(window);
  }

  /** How far the next page may reach: to the end, or to the next positions that are skipped. */
  pageEnd(window: FeedWindow): bigint {
    const next = this.#skipped.find(({ after }) => after > this.#cursor);
    const end = this.#endIn(window);
    return next && next.after < end ? next.after : end;
  }

  /** Adds all events that the endpoint gets after the cursor up to `to`. */
  addPage(events: readonly EventRow[], to: bigint): void {
    this.#page.push(...events);
    this.#pageTo = to;
    if (events.length === 0) this.#cursor = to;
  }

  /** The next event that may be sent now. It stays open until `close`. */
  take(window: FeedWindow, isWanted: (event: EventRow) => boolean): EventRow | undefined {
    const freed = this.#freed.shift();
    if (freed) return freed;
    while (this.#deferredCount < deferredMax) {
      const event = this.#next(window);
      if (!event) return undefined;
      if (this.#isSkipped(event.position) || !isWanted(event)) continue;
      this.#open.add(event.position);
      const waiting = this.#busy.get(event.petId);
      if (!waiting) {
        this.#busy.set(event.petId, []);
        return event;
      }
      waiting.push(event);
      this.#deferredCount += 1;
    }
    return undefined;
  }

  /** Returns an event that was taken and not sent: it is the next one again. */
  putBack(event: EventRow): void {
    this.#freed.unshift(event);
  }

  /** The event needs nothing more, or its result is stored: the next one of its animal may follow. */
  finish(event: EventRow): void {
    const waiting = this.#busy.get(event.petId);
    const next = waiting?.shift();
    if (next) {
      this.#deferredCount -= 1;
      this.#freed.push(next);
    } else this.#busy.delete(event.petId);
  }

  /**
   * The event becomes an exception. Returns the later ones of its animal that wait here: they become exceptions too. Those that come
   * before the exceptions are stored wait for `finish`: until then, nothing in the database says that they must wait.
   */
  fail(event: EventRow): EventRow[] {
    const waiting = this.#busy.get(event.petId) ?? [];
    this.#busy.set(event.petId, []);
    this.#deferredCount -= waiting.length;
    return waiting;
  }

  /** The results of these events are stored. */
  close(position: bigint): void {
    this.#open.delete(position);
  }

  /** Since when an attempt of this event shows that it was delivered already; undefined: it can't have been. */
  checkedSinceFor({ position, publishedAt }: EventRow): Date | undefined {
    if (position > this.#checkedTo) return undefined;
    return this.#checkedSince ?? new Date(publishedAt.getTime() - skewMaxMs);
  }

  #next(window: FeedWindow): EventRow | undefined {
    const event = this.#page.shift();
    if (event) {
      this.#cursor = this.#page.length === 0 ? this.#pageTo : event.position;
      return event;
    }
    this.#jump(window);
    const end = this.#endIn(window);
    if (this.#cursor >= end || this.#cursor < window.from) return undefined;
    const next = window.next(this.#cursor);
    const isWithin = next !== undefined && next.position <= end;
    this.#cursor = isWithin ? next.position : end;
    return isWithin ? next : undefined;
  }

  #endIn(window: FeedWindow): bigint {
    return this.upTo !== undefined && this.upTo < window.to ? this.upTo : window.to;
  }

  /** Passes over skipped positions without reading them: there may be a month of events. */
  #jump(window: FeedWindow): void {
    if (this.#page.length > 0) return;
    const end = this.#endIn(window);
    for (const { after, upTo } of this.#skipped) {
      if (this.#cursor >= after && this.#cursor < upTo && this.#cursor < end) this.#cursor = upTo < end ? upTo : end;
    }
  }

  #isSkipped(position: bigint): boolean {
    return this.#skipped.some(({ after, upTo }) => position > after && position <= upTo);
  }
}
