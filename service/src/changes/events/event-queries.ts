import type { Visibility } from '../../domain/actor.ts';
import {
  type EventSubject,
  type EventType,
  eventsThatKeepListsValid,
  type Interests,
  type PrivateEventType,
  type PublicEventType,
} from '../../domain/event-types.ts';
import { knownServer } from '../../platform/db/deployment.ts';
import { actIdsOf, type Db, type Transaction, type Writer } from '../../platform/db/handles.ts';
import { eventColumns, interestCondition } from './event-conditions.ts';

export type NewEvent = {
  readonly petId: bigint;
  /** JSON. */
  readonly data: string;
} & (
  | { readonly type: PublicEventType; readonly clientId: null }
  /** The client whose order the event is about. */
  | { readonly type: PrivateEventType; readonly clientId: bigint }
);

/** A published event. */
export interface EventRow extends EventSubject {
  readonly position: bigint;
  readonly type: EventType;
  readonly at: Date;
  readonly publishedAt: Date;
  readonly petId: bigint;
  /** The client whose order the event is about. Null: the event is public. */
  readonly clientId: bigint | null;
  /** JSON. */
  readonly data: string;
  /** Until then the act that it tells of can be undone. Null: it is final. */
  readonly finalAt: Date | null;
  /** The positions of the events that it undoes. Null: none. */
  readonly undoes: readonly bigint[] | null;
}

/** Inserts any number of events with one statement, in the given order. The animals' rows are locked, so they are as they were changed. */
export async function insertEvents(tx: Transaction, events: readonly NewEvent[]): Promise<void> {
  await tx.query({
    name: 'insert-events',
    text: `insert into outbox (type, pet_id, client_id, data, shelter_id, category_id, act_id, undoes_act_id, final_at)
      select type, pet_id, client_id, data, shelter_id, category_id, $5, $6, $7
        from unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[]) with ordinality as row (type, pet_id, client_id, data, n)
          left join lateral (select shelter_id, category_id from pets where id = pet_id limit 1) as pet on true order by n`,
    values: [
      events.map(({ type }) => type),
      events.map(({ petId }) => petId),
      events.map(({ clientId }) => clientId),
      events.map(({ data }) => data),
      ...actIdsOf(tx),
      tx.mark?.finalAt ?? null,
    ],
  });
}

/** True: everything is published, and positions were last assigned on this server. */
export async function hasNothingToPublish(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ isIdle: boolean }>({
    name: 'has-nothing-to-publish',
    text: `select not exists (select from outbox where id > published_to) and (here is null or here is not distinct from server) as "isIdle"
      from feed, lateral (select ${knownServer} as here) as asked`,
  });
  return rows[0]?.isIdle ?? true;
}

/** Null: not known. */
interface FeedServers {
  readonly here: string | null;
  /** Where the last position was assigned. */
  readonly recorded: string | null;
  /** When this server was. */
  readonly startedAt: string;
}

export async function readFeedServers(tx: Transaction): Promise<FeedServers> {
  const { rows } = await tx.query<FeedServers>({
    name: 'feed-servers',
    text: `select ${knownServer} as here, server as recorded, pg_postmaster_start_time()::text as "startedAt" from feed`,
  });
  const [servers] = rows;
  if (!servers) throw new Error('the feed has no row');
  return servers;
}

/**
 * Positions are assigned on this server from now on. The mark of what is published may be wrong then: one that was meant for the server
 * before may have been set here.
 */
export async function storeFeedServer(tx: Transaction, server: string | null): Promise<void> {
  await tx.query({
    name: 'store-feed-server',
    text: `update feed set server = $1,
      published_to = least(published_to, (select last_value from outbox_id_seq), (select min(id) - 1 from outbox))`,
    values: [server],
  });
}

/** More than are assigned in the time that a standby may lack. */
const gapMin = 1_000_000_000n;
/**
 * Positions after a gap begin at this number for each second since 1970. So they are beyond everything that was ever assigned, also after
 * an earlier restore of the same backup, unless a store publishes more events a second. Below 10^15, where the ids of tests begin.
 */
const positionsPerSecond = 100_000;

export interface FeedGap {
  readonly from: bigint;
  readonly to: bigint;
}

/** Leaves out every position that may have been assigned by a server that is lost. */
export async function leaveGap(tx: Transaction): Promise<FeedGap> {
  const { rows } = await tx.query<FeedGap>({
    text: `with before as (select last_position as position from feed for update),
      gap as (select position, greatest(position + $1, floor(extract(epoch from clock_timestamp()))::bigint * $2) as "to" from before)
      update feed set last_position = "to",
        -- Those whose events are all deleted are forgotten.
        gaps = (gaps + int8multirange(int8range(position + 1, "to"))) * int8multirange(int8range(first_position - 1, null))
        from gap returning position as "from", "to"`,
    values: [gapMin, positionsPerSecond],
  });
  const [gap] = rows;
  if (!gap) throw new Error('the feed has no row');
  return gap;
}

const publisherLock = 4_663_958;

/** Makes this transaction the only publisher. False if another transaction is publishing. */
export async function tryPublisherLock(tx: Transaction): Promise<boolean> {
  const { rows } = await tx.query<{ locked: boolean }>({
    name: 'lock-publisher',
    text: 'select pg_try_advisory_xact_lock($1) as locked',
    values: [publisherLock],
  });
  return rows[0]?.locked ?? false;
}

interface UnpublishedEvent {
  readonly id: bigint;
  /** The transaction that changed what a list or listing shows; null: the event is about something else. */
  readonly changedIn: string | null;
}

/** Committed events that are not published yet. The events of an animal are in order. */
export async function selectUnpublished(tx: Transaction, limit: number): Promise<UnpublishedEvent[]> {
  const { rows } = await tx.query<UnpublishedEvent>({
    name: 'select-unpublished',
    text: `select id, case when type <> all ($2::text[]) then xmin::text end as "changedIn"
      from outbox where id > (select published_to from feed) order by id limit $1`,
    values: [limit, eventsThatKeepListsValid],
  });
  return rows;
}

/** The transactions that are running: every id below `oldest` has ended, and new transactions get `next` or more. */
export async function readRunningTransactions(db: Db): Promise<{ oldest: bigint; next: bigint }> {
  const { rows } = await db.query<{ oldest: string; next: string }>({
    name: 'running-transactions',
    text: `select pg_snapshot_xmin(snapshot)::text as oldest, pg_snapshot_xmax(snapshot)::text as next
      from pg_current_snapshot() as snapshot`,
  });
  return { oldest: BigInt(rows[0]?.oldest ?? 0), next: BigInt(rows[0]?.next ?? 0) };
}

/** Says that every row of the outbox with this id or a lower one is published. Never more than were assigned. */
export async function setPublishedTo(tx: Transaction, id: bigint): Promise<void> {
  await tx.query({
    name: 'set-published-to',
    text: 'update feed set published_to = least($1, (select last_value from outbox_id_seq)) where published_to < $1',
    values: [id],
  });
}

/**
 * Moves events to the feed and gives them the next positions. The row of the table feed stays locked until the commit, so a
 * reader who sees a position can also see every position before it. The events of an act that can be undone are in the outbox before those
 * of its undoing, so their positions are known by then: they are in this batch, or were noted in act_events by an earlier one.
 */
export async function publish(tx: Transaction, ids: readonly bigint[]): Promise<{ firstPosition: bigint; lastPosition: bigint }> {
  const { rows } = await tx.query<{ firstPosition: bigint; lastPosition: bigint }>({
    name: 'publish-events',
    text: `with moved as (delete from outbox where id = any($1::bigint[]) returning *),
      range as (update feed set last_position = last_position + (select count(*) from moved)
        returning last_position - (select count(*) from moved) as before, last_position),
      placed as (select moved.*, before + row_number() over (order by id) as position from moved, range),
      noted as (insert into act_events (act_id, position) select act_id, position from placed where act_id is not null),
      published as (insert into events (position, type, pet_id, client_id, at, data, shelter_id, category_id, final_at, undoes)
        select position, type, pet_id, client_id, at, data, shelter_id, category_id, final_at, case when undoes_act_id is not null then array(
            select act_events.position from act_events where act_events.act_id = placed.undoes_act_id
            union all select earlier.position from placed as earlier where earlier.act_id = placed.undoes_act_id order by position) end
          from placed)
      select before + 1 as "firstPosition", last_position as "lastPosition" from range`,
    values: [ids],
  });
  const [range] = rows;
  if (!range) throw new Error('the feed has no row');
  return range;
}

export interface FeedPage<Event = EventRow> {
  readonly firstPosition: bigint;
  readonly lastPosition: bigint;
  readonly events: Event[];
  /** Up to here there are no other events for the reader, unless the page is full. Never in a gap. */
  readonly scannedTo: bigint;
  /** The position to start after is that of an event that is lost. */
  readonly isInGap: boolean;
}

interface Span {
  readonly after: bigint;
  readonly span: number;
  readonly limit: number;
}

/** Events of all types after a position. Scans at most `span` positions. */
export async function selectEvents(db: Db, orders: Visibility | 'none', page: Span): Promise<FeedPage> {
  return readFeed(db, { name: 'events', where: `${inSpan} and ${isVisible}`, scannedTo: endOfSpan, values: visibleInSpan(orders, page) });
}

/** The same for the events of some animals, of one type or all. */
export async function selectEventsOfInterest(
  db: Db,
  { type, orders, interests }: { type: EventType | undefined; orders: Visibility | 'none'; interests: Interests },
  page: Span,
): Promise<FeedPage> {
  return readFeed(db, {
    name: 'events-of-interest',
    where: `${inSpan} and ${isVisible} and ($7::text is null or type = $7) and ${interestCondition('$8::bigint[]', '$9::bigint[]')}`,
    scannedTo: endOfSpan,
    values: [...visibleInSpan(orders, page), type ?? null, interests.shelterIds, interests.categoryIds],
  });
}

const isVisible = `(client_id is null or $4 = 'all' or ($4 = 'own' and (client_id = $5 or shelter_id = $6)))`;

function visibleInSpan(orders: Visibility | 'none', { after, limit, span }: Span): unknown[] {
  const whose = typeof orders === 'string' ? [orders, null, null] : ['own', orders.clientId, orders.shelterId];
  return [after, limit, span, ...whose];
}

/** Events of one type after a position. Reads an index on the type, so that rare types cost no more than frequent ones. */
export async function selectEventsOfType(
  db: Db,
  type: EventType,
  orders: Visibility,
  { after, limit }: { readonly after: bigint; readonly limit: number },
): Promise<FeedPage> {
  const values = [after, limit, type];
  const read = (query: Pick<FeedQuery, 'name' | 'where' | 'orWhere' | 'values'>) =>
    readFeed<EventRow>(db, { ...query, scannedTo: 'last_position' });
  if (orders === 'all') return read({ name: 'events-of-type', where: 'type = $3 and position > start', values });
  const { clientId, shelterId } = orders;
  const where = 'client_id = $4 and type = $3 and position > start';
  if (shelterId === null) return read({ name: 'events-of-type-and-client', where, values: [...values, clientId] });
  return read({
    name: 'events-of-type-client-and-shelter',
    where,
    orWhere: 'shelter_id = $5 and type = $3 and position > start',
    values: [...values, clientId, shelterId],
  });
}

/** An expression: a position, or the end of the gap that it is in or followed by. */
const pastGap = (position: string) =>
  `coalesce((select upper(gap) from unnest(gaps) as gap where int8range(${position}, ${position} + 1, '[]') && gap), ${position})`;
const inSpan = 'position > start and position <= start + $3';
const endOfSpan = `least(last_position, ${pastGap('start + $3')})`;

interface FeedQuery {
  readonly name: string;
  readonly columns?: string;
  /** $1 is the position to start after, $2 the limit. `start` is $1 if that is within the feed. */
  readonly where: string;
  /** Each of the two conditions is read from its own index, and what meets both is returned once. */
  readonly orWhere?: string;
  /** How far that reads, if the page is not full. */
  readonly scannedTo: string;
  readonly values: unknown[];
}

/** Reads events and the ends of the feed in one snapshot. */
async function readFeed<Event extends { readonly position: bigint }>(
  db: Db,
  { name, columns = eventColumns, where, orWhere, scannedTo, values }: FeedQuery,
): Promise<FeedPage<Event>> {
  const select = (condition: string) => `select ${columns} from events where ${condition} order by position limit $2`;
  const found = orWhere === undefined ? select(where) : `(${select(where)}) union (${select(orWhere)}) order by position limit $2`;
  type Ends = Omit<FeedPage, 'events'>;
  const { rows } = await db.query<Ends & (Event | { position: null })>({
    name,
    text: `select first_position as "firstPosition", last_position as "lastPosition", ${scannedTo} as "scannedTo",
        $1::bigint <@ gaps as "isInGap", found.*
      from (select first_position, last_position, gaps from feed limit 1) as feed
      cross join lateral (select greatest(least($1::bigint, last_position), first_position - 1) as asked) as asked
      cross join lateral (select ${pastGap('asked')} as start) as begun
      left join lateral (${found}) as found on true
      order by position`,
    values,
  });
  const [ends] = rows;
  if (!ends) throw new Error('the feed has no row');
  const events = rows.filter((row): row is Ends & Event => row.position !== null);
  const { firstPosition, lastPosition, scannedTo: readTo, isInGap } = ends;
  return { firstPosition, lastPosition, scannedTo: readTo, isInGap, events };
}

/** The positions of the events published from one time on and before another, as a range; undefined if there is none. */
export async function findPositions(db: Db, from: Date, to: Date): Promise<{ after: bigint; upTo: bigint } | undefined> {
  const { rows } = await db.query<{ first: bigint | null; last: bigint | null }>({
    name: 'positions-of-time',
    text: `select min(position) as first, max(position) as last from events where published_at >= $1 and published_at < $2`,
    values: [from, to],
  });
  const [{ first, last } = { first: null, last: null }] = rows;
  return first === null || last === null ? undefined : { after: first - 1n, upTo: last };
}

/** Creates the partitions of the coming days, and drops old ones. Returns how many it dropped. */
export async function rotatePartitionsOf(db: Writer, what: 'event' | 'attempt', keptDays: number): Promise<number> {
  await db.write({ text: `select make_${what}_partitions()` });
  const { rows } = await db.write<{ dropped: bigint }>({
    text: `select drop_${what}_partitions(make_interval(days => $1)) as dropped`,
    values: [keptDays],
  });
  return Number(rows[0]?.dropped ?? 0);
}
