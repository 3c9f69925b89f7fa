import type { Db } from '../../platform/db/handles.ts';
import { type EventRow, readNewEvents } from '../events/events.ts';
import type { Endpoint } from './endpoint.ts';
import type { Endpoints } from './endpoints.ts';
import { Line } from './line.ts';
import type { AcquiredShard } from './shard-queries.ts';

const pageSize = 500;

/** The shards that have been matched with the feed up to the same position. */
interface Group {
  position: bigint;
  readonly shards: Map<bigint, Shard>;
}

interface Shard {
  readonly id: bigint;
  /** Where its cursor was when it was acquired. */
  readonly startPosition: bigint;
  /** Events up to here may have been sent by the worker before. */
  readonly checkedTo: bigint;
  group: Group;
}

/** A part of the feed that a group of shards is matched with next. */
interface GroupPage {
  readonly group: Group;
  readonly events: readonly EventRow[];
  readonly to: bigint;
  /** It is read from the database, and follows the window. */
  readonly isNew: boolean;
}

/**
 * Reads the feed once for all endpoints of a worker, and finds those that get an event.
 *
 * Shards that were acquired later may be behind the others. Each group of shards at the same position is matched page by page; when
 * it has reached another group, they become one. The window ends where the group is that is furthest.
 */
export class FeedReader {
  readonly #db: Db;
  readonly #endpoints: Endpoints;
  readonly #shards = new Map<bigint, Shard>();
  readonly #groups = new Set<Group>();
  #window = new FeedWindow(0n);

  constructor(db: Db, endpoints: Endpoints) {
    this.#db = db;
    this.#endpoints = endpoints;
  }

  get window(): FeedWindow {
    return this.#window;
  }

  get shards(): ReadonlyMap<bigint, Shard> {
    return this.#shards;
  }

  /** Where a shard has been matched to. */
  positionOf(shard: bigint): bigint | undefined {
    const known = this.#shards.get(shard);
    return known && (known.group.position > known.startPosition ? known.group.position : known.startPosition);
  }

  /** Adds shards, which are matched from their stored cursors on. Load their endpoints before the next page is read. */
  async add(acquired: readonly AcquiredShard[]): Promise<void> {
    const { lastPosition } = await readNewEvents(this.#db, undefined, 1);
    const from = acquired.reduce((least, { position }) => (position < least ? position : least), acquired[0]?.position ?? 0n);
    if (this.#groups.size === 0) this.#window = new FeedWindow(from);
    const group: Group = { position: from, shards: new Map() };
    this.#groups.add(group);
    for (const { id, position } of acquired) {
      const shard = { id, startPosition: position, checkedTo: lastPosition, group };
      group.shards.set(id, shard);
      this.#shards.set(id, shard);
    }
  }

  remove(shard: bigint): void {
    const group = this.#shards.get(shard)?.group;
    group?.shards.delete(shard);
    if (group?.shards.size === 0) this.#groups.delete(group);
    this.#shards.delete(shard);
  }

  /**
   * The next page of each group. Nothing is matched yet, and endpoints that are awake don't see it in the window yet, so that changes of
   * endpoints can be read first. Undefined: the feed ends before a group, since a standby that lacked the last events has taken over.
   * Then all shards must be loaded again.
   */
  async readPages(): Promise<GroupPage[] | undefined> {
    const pages: GroupPage[] = [];
    // The group at the end of the window first: no other one can overtake it.
    for (const group of [...this.#groups].sort((a, b) => (a.position > b.position ? -1 : 1))) {
      const page = await this.#readPage(group);
      if (!page) return undefined;
      pages.push({ group, ...page });
    }
    return pages;
  }

  /** Wakes the endpoints that get an event of these pages. Returns them. */
  match(pages: readonly GroupPage[]): Set<Endpoint> {
    const matched = new Set<Endpoint>();
    for (const { events, to, isNew } of pages) if (isNew) this.#window.append(events, to);
    for (const { group, events, to } of pages) {
      for (const event of events) for (const endpoint of this.#match(group, event)) matched.add(endpoint);
      group.position = to;
    }
    this.#mergeGroups();
    return matched;
  }

  /** Whether there is probably more to read at once. */
  static hasMore(pages: readonly GroupPage[]): boolean {
    return pages.some(({ events }) => events.length === pageSize);
  }

  *#match(group: Group, event: EventRow): Iterable<Endpoint> {
    for (const endpoint of this.#endpoints.matching(event)) {
      const shard = group.shards.get(endpoint.shard);
      if (!shard || event.position <= shard.startPosition || endpoint.isRetired) continue;
      if (!endpoint.live) {
        endpoint.wake(new Line({ position: event.position - 1n, checkedTo: shard.checkedTo }));
        this.#endpoints.awake.add(endpoint);
      }
      yield endpoint;
    }
  }

  /** Undefined: the feed ends before the group. */
  async #readPage(group: Group): Promise<Omit<GroupPage, 'group'> | undefined> {
    if (group.position >= this.#window.from && group.position < this.#window.to) {
      const events = this.#window.slice(group.position, pageSize);
      const to = events.length === pageSize ? (events.at(-1)?.position ?? this.#window.to) : this.#window.to;
      return { events, to, isNew: false };
    }
    const { events, to } = await readNewEvents(this.#db, group.position, pageSize);
    if (to < group.position) return undefined;
    if (group.position === this.#window.to) return { events, to, isNew: true };
    const upTo = to < this.#window.to ? to : this.#window.to;
    return { events: events.filter(({ position }) => position <= upTo), to: upTo, isNew: false };
  }

  #mergeGroups(): void {
    const byPosition = new Map<bigint, Group>();
    for (const group of this.#groups) {
      const other = byPosition.get(group.position);
      if (!other) {
        byPosition.set(group.position, group);
        continue;
      }
      for (const shard of group.shards.values()) {
        shard.group = other;
        other.shards.set(shard.id, shard);
      }
      this.#groups.delete(group);
    }
  }
}

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
