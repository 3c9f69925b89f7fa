import type { Db, Transaction, Transactor } from '../db/handles.ts';
import { type EventType, isOrderEvent } from '../domain/event-types.ts';
import type { Visibility } from '../domain/visibility.ts';
import { AppError } from '../errors.ts';
import {
  dropPartitions,
  type EventRow,
  type FeedPage,
  insertEvents,
  isOutboxEmpty,
  makePartitions,
  type NewEvent,
  publish,
  selectEvents,
  selectEventsOfType,
  selectUnpublished,
  tryToPublish,
} from './event-queries.ts';

export type { EventRow, NewEvent };

/** Events are kept for so long after they were published. */
export const retentionDays = 30;

/** A page without a type looks at no more positions than these: those between may be others' orders. */
const span = 10_000;

/** Written in the transaction of the change, once the animal's row is locked by it: none is lost, and an animal's come in order. */
export async function recordEvents(tx: Transaction, ...events: NewEvent[]): Promise<void> {
  if (events.length > 0) await insertEvents(tx, events);
}

export interface Published {
  readonly firstPosition: bigint;
  readonly lastPosition: bigint;
}

/**
 * Gives a batch of committed events their positions in the feed. One publisher works at a time, and each exposes its
 * batch whole, so that a reader who follows the positions misses none, however late a transaction commits.
 *
 * `beforeExposing` is done once the changes are committed for sure and before anybody can read of them; `alongside` is
 * committed with them.
 */
export async function publishEvents(
  db: Transactor,
  batchSizeMax: number,
  { beforeExposing, alongside }: { beforeExposing(): Promise<void>; alongside(tx: Transaction, published: Published): Promise<void> },
): Promise<number> {
  if (await isOutboxEmpty(db)) return 0;
  return db.transaction(async (tx) => {
    if (!(await tryToPublish(tx))) return 0;
    const ids = await selectUnpublished(tx, batchSizeMax);
    if (ids.length === 0) return 0;
    await beforeExposing();
    await alongside(tx, await publish(tx, ids));
    return ids.length;
  });
}

export interface EventFilter {
  readonly type: EventType | undefined;
  /** Which orders' events are included. */
  readonly orders: Visibility | 'none';
}

export interface EventPage {
  readonly events: EventRow[];
  /** Where the next page begins, whether or not there is something yet. */
  readonly nextAfter: bigint;
}

/** Reads on after a position; undefined: from the oldest that is kept. */
export async function readEvents(
  db: Db,
  filter: EventFilter,
  { after, limit }: { after: bigint | undefined; limit: number },
): Promise<EventPage> {
  const page = await selectPage(db, filter, { after: after ?? 0n, limit });
  const start = after ?? page.firstPosition - 1n;
  if (start < page.firstPosition - 1n) {
    throw new AppError(
      'cursor_expired',
      `This cursor has expired: events are kept for ${retentionDays} days. List /v1/pets again, then read the feed without a cursor.`,
    );
  }
  if (start > page.lastPosition) {
    throw new AppError(
      'cursor_expired',
      'This cursor is past the end of the feed: the store was restored from a backup. List /v1/pets again, then read the feed without a cursor.',
    );
  }
  const end = filter.type === undefined ? start + BigInt(span) : page.lastPosition;
  const last = page.events.at(-1);
  const nextAfter = page.events.length === limit && last ? last.position : end < page.lastPosition ? end : page.lastPosition;
  return { events: page.events, nextAfter };
}

function selectPage(db: Db, { type, orders }: EventFilter, page: { after: bigint; limit: number }): Promise<FeedPage> {
  if (type === undefined) return selectEvents(db, orders, { ...page, span });
  // What happened to an animal is told to everyone.
  if (orders === 'all' || !isOrderEvent(type)) return selectEventsOfType(db, type, 'any', page);
  // Nothing of the kind is ever told: only where the feed ends.
  if (orders === 'none') return selectEvents(db, orders, { ...page, span: 0 });
  return selectEventsOfType(db, type, orders.clientId, page);
}

/** The end of the feed as it is now: what is published from now on comes after it. */
export async function readEnd(db: Db): Promise<EventPage> {
  const { lastPosition } = await readNewEvents(db, undefined, 1);
  return { events: [], nextAfter: lastPosition };
}

/** For one who reads for all: everything after a position, whoever may see it; undefined: only where the end is. */
export async function readNewEvents(
  db: Db,
  after: bigint | undefined,
  limit: number,
): Promise<{ events: EventRow[]; lastPosition: bigint }> {
  const { events, lastPosition } = await selectEvents(db, 'all', { after: after ?? 0n, span: after === undefined ? 0 : span, limit });
  return { events, lastPosition };
}

/** Whether an event passes a filter. */
export const matches = (event: EventRow, { type, orders }: EventFilter): boolean =>
  (type === undefined || event.type === type) && isVisible(event, orders);

const isVisible = ({ clientId }: EventRow, orders: EventFilter['orders']): boolean =>
  clientId === null || orders === 'all' || (orders !== 'none' && orders.clientId === clientId);

/** Makes the partitions of the coming days, and drops those that are too old. Returns how many it dropped. */
export async function rotatePartitions(db: Db): Promise<number> {
  await makePartitions(db);
  return dropPartitions(db, retentionDays);
}
