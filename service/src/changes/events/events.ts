import type { Visibility } from '../../domain/actor.ts';
import { type EventType, type Interests, isOfInterest, isPrivateEvent, wantsAll } from '../../domain/event-types.ts';
import { Poller } from '../../platform/bounded/poller.ts';
import type { Db, Transaction, Writer } from '../../platform/db/handles.ts';
import { AppError } from '../../platform/errors.ts';
import {
  type EventRow,
  type FeedGap,
  type FeedPage,
  findPositions,
  insertEvents,
  leaveGap,
  type NewEvent,
  rotatePartitionsOf,
  selectEvents,
  selectEventsOfInterest,
  selectEventsOfType,
  storeFeedServer,
} from './event-queries.ts';
import { countSubscribed, findScanEnd, type Subscription, selectSubscribed } from './subscribed-queries.ts';

export type { EventRow, FeedGap, NewEvent, Subscription };
export { findPositions, leaveGap, rotatePartitionsOf, storeFeedServer };

/** Events are deleted this long after they were published. */
export const eventRetentionDays = 30;

/** The maximum number of positions that a page scans, unless an index leads to its events: many may be of other clients' orders or animals. */
export const span = 10_000;
/** The same for counting the events of some animals. */
export const countedEventsMax = 100_000;

/**
 * Records events in the transaction of the change, after it has locked the animal's row. No event is lost, and the events of an
 * animal are in order.
 */
export async function recordEvents(tx: Transaction, ...events: NewEvent[]): Promise<void> {
  if (events.length > 0) await insertEvents(tx, events);
}

export interface EventFilter {
  readonly type: EventType | undefined;
  /** Which orders' events are included. */
  readonly orders: Visibility | 'none';
  readonly interests: Interests;
}

export interface EventPage {
  readonly events: EventRow[];
  /** The position that the next page starts after. That page may still be empty. */
  readonly nextAfter: bigint;
}

/** Reads events after a position, or from the oldest stored event if it is undefined. */
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
      `This cursor has expired: events are kept for ${eventRetentionDays} days. List /v1/pets again, then read the feed without a cursor.`,
    );
  }
  if (start > page.lastPosition || page.isInGap) {
    throw new AppError(
      'cursor_expired',
      'This cursor is of events that were lost: the store was restored from a backup, or a standby has taken over. List /v1/pets again, then read the feed without a cursor.',
    );
  }
  return { events: page.events, nextAfter: endOf(page, limit) };
}

/** Everything up to here was read. */
function endOf({ events, scannedTo }: FeedPage<Pick<EventRow, 'position'>>, limit: number): bigint {
  const last = events.at(-1);
  return last && events.length === limit ? last.position : scannedTo;
}

async function selectPage(db: Db, filter: EventFilter, page: { after: bigint; limit: number }): Promise<FeedPage> {
  const { type, orders } = filter;
  if (!wantsAll(filter.interests)) return selectEventsOfInterest(db, filter, { ...page, span });
  if (type === undefined) return selectEvents(db, orders, { ...page, span });
  if (orders === 'all' || !isPrivateEvent(type)) return selectEventsOfType(db, type, 'all', page);
  // The caller sees no events of this type. A span of 0 reads only the ends of the feed.
  if (orders === 'none') {
    const ends = await selectEvents(db, orders, { ...page, span: 0 });
    return { ...ends, scannedTo: ends.lastPosition };
  }
  return selectEventsOfType(db, type, orders, page);
}

/** The current end of the feed, as an empty page. */
export async function readEnd(db: Db): Promise<EventPage> {
  const { lastPosition } = await readNewEvents(db, undefined, 1);
  return { events: [], nextAfter: lastPosition };
}

/**
 * Reads the events that a subscription includes, up to `limit`. `to`: there are no others up to there. For a subscription to some animals
 * that is not the end, if there are more than `span` events: no index leads to those of its animals.
 */
export async function readSubscribed(
  db: Db,
  subscription: Subscription,
  { after, upTo, limit }: { after: bigint; upTo: bigint; limit: number },
): Promise<{ events: EventRow[]; to: bigint }> {
  const scanEnd = wantsAll(subscription.interests) ? undefined : await findScanEnd(db, { after, upTo, count: span });
  const end = scanEnd ?? upTo;
  const events = await selectSubscribed(db, subscription, { after, upTo: end, limit });
  return { events, to: events.length === limit ? (events.at(-1)?.position ?? end) : end };
}

/** The number of events that a subscription includes, counted up to `limit`. Undefined: too many would have to be looked at. */
export async function countSubscribedEvents(
  db: Db,
  subscription: Subscription,
  range: { after: bigint; upTo: bigint; limit: number },
): Promise<number | undefined> {
  const isTooLong = !wantsAll(subscription.interests) && (await findScanEnd(db, { ...range, count: countedEventsMax })) !== undefined;
  return isTooLong ? undefined : countSubscribed(db, subscription, range);
}

interface NewEvents {
  readonly events: EventRow[];
  /** There are no other events up to here. */
  readonly to: bigint;
  readonly lastPosition: bigint;
  /** The position to start after is that of an event that is lost: a standby that lacked it has taken over. */
  readonly isLost: boolean;
}

/** Reads all events after a position, without a filter. If it is undefined, returns only the end of the feed. */
export async function readNewEvents(db: Db, after: bigint | undefined, limit: number): Promise<NewEvents> {
  const page = await selectEvents(db, 'all', { after: after ?? 0n, span: after === undefined ? 0 : span, limit });
  const { events, lastPosition } = page;
  if (after === undefined) return { events, to: lastPosition, lastPosition, isLost: false };
  return { events, to: endOf(page, limit), lastPosition, isLost: after > lastPosition || page.isInGap };
}

/** Whether an event passes a filter. */
export const matches = (event: EventRow, { type, orders, interests }: EventFilter): boolean =>
  (type === undefined || event.type === type) && isVisible(event, orders) && isOfInterest(event, interests);

const isVisible = ({ clientId, shelterId }: EventRow, orders: EventFilter['orders']): boolean =>
  clientId === null ||
  orders === 'all' ||
  (orders !== 'none' && (orders.clientId === clientId || (shelterId !== null && orders.shelterId === shelterId)));

/** Creates the partitions of the coming days, and drops old ones. Returns how many it dropped. */
export const rotatePartitions = (db: Writer): Promise<number> => rotatePartitionsOf(db, 'event', eventRetentionDays);

interface TailPage {
  /** The events after `from` up to `to`. The listener got the events up to `from` before, or must read them itself. */
  readonly events: readonly EventRow[];
  readonly from: bigint;
  readonly to: bigint;
  /** The event at `from` is lost: a standby that lacked it has taken over. `to` is before `from`, or after the gap that this left. */
  readonly isLost: boolean;
}

export type EventTail = Poller<TailPage>;

const intervalMs = 100;
/** Bounds the events that a stream gets at once. */
const batchSizeMax = 100;

/** Polls the end of the feed for the streams of this process. The first poll only finds the end: listeners read up to it themselves. */
export const openEventTail = (db: Db, onError: (error: unknown) => void): EventTail =>
  new Poller<TailPage>({
    begin: () => {
      let position: bigint | undefined;
      return async () => {
        const { events, to, isLost } = await readNewEvents(db, position, batchSizeMax);
        const from = position ?? to;
        position = to;
        return { news: { events, from, to, isLost }, hasMore: events.length === batchSizeMax };
      };
    },
    intervalMs,
    onError,
  });

/** Serializes an event for the feed and for webhooks. Its data is JSON text already, so that int64 values stay exact. */
export function eventJson({ position, type, at, data, finalAt, undoes }: EventRow): string {
  const final = finalAt === null ? '' : `,"finalAt":"${finalAt.toISOString()}"`;
  const undone = undoes === null ? '' : `,"undoes":${JSON.stringify(undoes.map(eventId))}`;
  return `{"id":"${eventId(position)}","type":"${type}","createdAt":"${at.toISOString()}"${final}${undone},"data":${data}}`;
}

export const eventId = (position: bigint): string => `evt_${position}`;
