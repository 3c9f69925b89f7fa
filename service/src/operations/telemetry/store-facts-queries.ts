import { type OrderStatus, orderStatuses } from '../../domain/order-states.ts';
import { isOnAnotherServer } from '../../platform/db/deployment.ts';
import type { Db } from '../../platform/db/handles.ts';

/** What only PostgreSQL knows. Each statement is bounded, since the tables grow for years. */
const readers = {
  outbox: (db: Db) => readOutbox(db, 'id > (select published_to from feed)'),
  // At or below the publisher's mark, where there should be none: nobody publishes them. By itself: it reads the dead rows of the outbox,
  // of which there are many while a snapshot is old.
  strays: (db: Db) => readOutbox(db, 'id <= (select published_to from feed)'),
  // The store is not known to be on this server: it was restored, or a standby has taken over.
  server: async (db: Db) => ({ isAnother: await isOnAnotherServer(db) }),
  wal: readWal,
  photos: countWaitingPhotos,
  removedPhotos: readRemovedPhotos,
  feed: readFeedEnd,
  endpoints: countEndpoints,
  mail: readMailWaiting,
  orders: countOrders,
};

/** A part is missing if it could not be read. */
export type StoreFacts = { readonly [Part in keyof typeof readers]?: Awaited<ReturnType<(typeof readers)[Part]>> };

interface WalFacts {
  readonly timeline: number;
  /** Undefined: archive_mode is off. */
  readonly archive: { readonly isFailing: boolean; readonly ageSeconds: number | undefined } | undefined;
}

interface Unpublished {
  readonly count: number;
  readonly oldestAgeSeconds: number;
}

/** Counting so many entries of an index takes some milliseconds. */
const countMax = 100_000;

/** Those parts that could be read, one after the other: a worker has few connections, and this is not urgent. */
export async function readStoreFacts(db: Db): Promise<{ facts: StoreFacts; errors: unknown[] }> {
  const errors: unknown[] = [];
  const facts: Record<string, unknown> = {};
  for (const [part, read] of Object.entries(readers)) {
    try {
      facts[part] = await read(db);
    } catch (error) {
      errors.push(error);
    }
  }
  return { facts, errors };
}

async function countOrders(db: Db): Promise<{ status: OrderStatus; count: number }[]> {
  const { rows } = await db.query<{ status: OrderStatus; count: number }>({
    name: 'facts-orders',
    text: `select status, (select count(*)::int from (select from orders where orders.status = listed.status limit $2) as found) as count
      from unnest($1::order_status[]) as listed (status)`,
    values: [orderStatuses, countMax],
  });
  return rows;
}

async function readOutbox(db: Db, where: string): Promise<Unpublished> {
  const { rows } = await db.query<{ count: number; age: number | null }>({
    text: `select count(*)::int as count, extract(epoch from clock_timestamp() - min(at))::float8 as age
      from (select at from outbox where ${where} order by id limit $1) as unpublished`,
    values: [countMax],
  });
  const [{ count, age } = { count: 0, age: null }] = rows;
  return { count, oldestAgeSeconds: Math.max(age ?? 0, 0) };
}

async function readFeedEnd(db: Db) {
  const { rows } = await db.query<{ position: bigint; age: number | null }>({
    name: 'facts-feed',
    text: `select last_position as position, (select extract(epoch from clock_timestamp() - published_at)::float8 from events
      where events.position <= feed.last_position order by events.position desc limit 1) as age from feed`,
  });
  const [{ position, age } = { position: 0n, age: null }] = rows;
  // Undefined: no event is stored.
  return { position: Number(position), newestAgeSeconds: age === null ? undefined : Math.max(age, 0) };
}

/**
 * An archive that is old is no fault while nothing was written, so its age counts only while a finished segment waits. What was archived
 * last may be the file of a timeline, which says nothing about segments.
 */
async function readWal(db: Db): Promise<WalFacts> {
  const { rows } = await db.query<{ timeline: number; isOn: boolean; isFailing: boolean; waits: boolean | null; age: number | null }>({
    name: 'facts-wal',
    text: `select ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int as timeline,
        current_setting('archive_mode') <> 'off' as "isOn",
        last_failed_time is not null and last_failed_time > coalesce(last_archived_time, '-infinity') as "isFailing",
        pg_current_wal_lsn() - '0/0'::pg_lsn >= ('x' || substr(segment, 9, 8))::bit(32)::bigint * 4294967296::numeric
          + (('x' || substr(segment, 17, 8))::bit(32)::bigint + 2) * segment_size as waits,
        extract(epoch from clock_timestamp() - last_archived_time)::float8 as age
      from pg_stat_archiver, substring(last_archived_wal from '^[0-9A-F]{24}') as segment,
        pg_size_bytes(current_setting('wal_segment_size')) as segment_size`,
  });
  const [row] = rows;
  if (!row) throw new Error('pg_stat_archiver is empty');
  // Undefined: nothing was ever archived.
  const ageSeconds = row.age === null ? undefined : row.waits ? Math.max(row.age, 0) : 0;
  return { timeline: row.timeline, archive: row.isOn ? { isFailing: row.isFailing, ageSeconds } : undefined };
}

async function countWaitingPhotos(db: Db) {
  const { rows } = await db.query<{ count: number; age: number | null; missing: number }>({
    name: 'facts-photos',
    // By the time of the last change: a photo that was sent again waits since then. One without its original waits for that.
    text: `select count(*) filter (where original_missing_since is null)::int as count,
        extract(epoch from clock_timestamp() - min(updated_at) filter (where original_missing_since is null))::float8 as age,
        count(*) filter (where original_missing_since < now() - interval '1 day')::int as missing
      from (select updated_at, original_missing_since from photos where status = 'processing' order by client_id, attempts, id limit $1) as waiting`,
    values: [countMax],
  });
  const [{ count, age, missing } = { count: 0, age: null, missing: 0 }] = rows;
  return { waiting: count, oldestWaitingSeconds: Math.max(age ?? 0, 0), originalsMissing: missing };
}

async function readRemovedPhotos(db: Db) {
  const { rows } = await db.query<{ age: number | null }>({
    name: 'facts-removed-photos',
    text: `select (select extract(epoch from clock_timestamp() - removed_at)::float8 from removed_photo_bytes
      where files is not null order by removed_at limit 1) as age`,
  });
  return { oldestSeconds: rows[0]?.age ?? 0 };
}

async function readMailWaiting(db: Db) {
  const { rows } = await db.query<{ age: number | null }>({
    name: 'facts-mail',
    text: `select (select extract(epoch from clock_timestamp() - waiting_since)::float8 from mail where state = 'queued'
      order by waiting_since limit 1) as age`,
  });
  return { oldestWaitingSeconds: Math.max(rows[0]?.age ?? 0, 0) };
}

async function countEndpoints(db: Db) {
  const { rows } = await db.query<Record<'unverified' | 'enabled' | 'disabled' | 'failing', number>>({
    name: 'facts-endpoints',
    text: `select count(*) filter (where status = 'enabled' and verified_at is null)::int as unverified,
        count(*) filter (where status = 'enabled' and verified_at is not null)::int as enabled,
        count(*) filter (where status = 'disabled')::int as disabled,
        count(*) filter (where status = 'enabled' and failing_since is not null)::int as failing
      from (select status, verified_at, failing_since from webhooks where removed_at is null order by shard, id limit $1) as found`,
    values: [countMax],
  });
  return rows[0] ?? { unverified: 0, enabled: 0, disabled: 0, failing: 0 };
}
