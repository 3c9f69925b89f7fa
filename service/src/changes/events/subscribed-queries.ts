import { type EventType, type Interests, wantsAll } from '../../domain/event-types.ts';
import type { Db } from '../../platform/db/handles.ts';
import { eventColumns, interestCondition } from './event-conditions.ts';
import type { EventRow } from './event-queries.ts';

/** Which events an endpoint gets. */
export interface Subscription {
  readonly clientId: bigint;
  readonly publicTypes: readonly EventType[];
  /** Of this client, and of animals of the shelter that its key manages. */
  readonly privateTypes: readonly EventType[];
  /** Null: its key manages none. */
  readonly shelterId: bigint | null;
  readonly interests: Interests;
}

interface SubscribedPage {
  readonly after: bigint;
  readonly upTo: bigint;
  readonly limit: number;
}

/**
 * Reads the indexes on the type and on the client, so that a reader of rare events doesn't read all others. $1 are types of public
 * events, $2 those of private events of the client $3 and, if it is given, of the shelter $7; after $4, up to $5, limited to $6.
 *
 * The comparisons of rows leave the planner no other index. The time of the first event after $4 excludes the partitions before it.
 */
const subscribed = (columns: string, { shelterId, interests }: Subscription) =>
  wantsAll(interests) ? subscribedByType(columns, shelterId) : subscribedOfInterest(columns);

/** Of a few animals: no index leads to them, so that all events are read. The caller bounds how many. */
const subscribedOfInterest = (columns: string) =>
  `with start as materialized (select published_at from events where position > $4 order by position limit 1)
  select ${columns} from events where published_at >= (select published_at from start) and position > $4 and position <= $5
    and case when client_id is null then type = any($1::text[]) else type = any($2::text[]) and (client_id = $3 or shelter_id = $7) end
    and ${interestCondition('$8::bigint[]', '$9::bigint[]')} order by position limit $6`;

const subscribedByType = (
  columns: string,
  shelterId: bigint | null,
) => `with start as materialized (select published_at from events where position > $4 order by position limit 1)
  select found.* from unnest($1::text[]) as subscribed (type) cross join lateral (
    select ${columns} from events where published_at >= (select published_at from start)
      and (events.type, position) > (subscribed.type, $4) and (events.type, position) <= (subscribed.type, $5)
      order by events.type, position limit $6) as found
  union all
  (${subscribedPrivately(columns, 'client_id', '$3')}
    ${shelterId === null ? '' : `union ${subscribedPrivately(columns, 'shelter_id', '$7')}`})
  order by position limit $6`;

const subscribedPrivately = (columns: string, owner: 'client_id' | 'shelter_id', value: string) =>
  `select found.* from unnest($2::text[]) as subscribed (type) cross join lateral (
    select ${columns} from events where published_at >= (select published_at from start) and ${owner} is not null
      and (${owner}, events.type, position) > (${value}, subscribed.type, $4) and (${owner}, events.type, position) <= (${value}, subscribed.type, $5)
      order by ${owner}, events.type, position limit $6) as found`;

/** Each text is a separate prepared statement. */
function subscribedName(name: string, { shelterId, interests }: Subscription): string {
  if (!wantsAll(interests)) return `${name}-of-interest`;
  return shelterId === null ? name : `${name}-of-shelter`;
}

function subscribedValues(
  { clientId, shelterId, publicTypes, privateTypes, interests }: Subscription,
  { after, upTo, limit }: SubscribedPage,
): unknown[] {
  const values = [publicTypes, privateTypes, clientId, after, upTo, limit];
  if (!wantsAll(interests)) return [...values, shelterId, interests.shelterIds, interests.categoryIds];
  return shelterId === null ? values : [...values, shelterId];
}

/** The position of the event that is `count` after a position; undefined: there are fewer up to `upTo`. */
export async function findScanEnd(
  db: Db,
  { after, upTo, count }: { readonly after: bigint; readonly upTo: bigint; readonly count: number },
): Promise<bigint | undefined> {
  const { rows } = await db.query<{ position: bigint }>({
    name: 'scan-end',
    text: `with start as materialized (select published_at from events where position > $1 order by position limit 1)
      select position from events where published_at >= (select published_at from start) and position > $1 and position <= $2
        order by position offset $3 limit 1`,
    values: [after, upTo, count - 1],
  });
  return rows[0]?.position;
}

/** Events that a subscription includes, in the order of the feed. */
export async function selectSubscribed(db: Db, subscription: Subscription, page: SubscribedPage): Promise<EventRow[]> {
  const values = subscribedValues(subscription, page);
  const name = subscribedName('subscribed-events', subscription);
  return (await db.query<EventRow>({ name, text: subscribed(eventColumns, subscription), values })).rows;
}

/** The number of events that a subscription includes, counted up to the limit. */
export async function countSubscribed(db: Db, subscription: Subscription, page: SubscribedPage): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>({
    name: subscribedName('count-subscribed-events', subscription),
    text: `select count(*) from (${subscribed('position', subscription)}) as found`,
    values: subscribedValues(subscription, page),
  });
  return Number(rows[0]?.count ?? 0);
}
