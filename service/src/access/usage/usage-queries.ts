import type { Db, Transaction, Writer } from '../../platform/db/handles.ts';

type UsageKind = 'request' | 'error' | 'deprecated';

export interface UsageRow {
  readonly keyId: bigint;
  readonly kind: UsageKind;
  /** The error code or the operation; empty for requests. */
  readonly name: string;
  readonly count: number;
}

/**
 * Adds counts to a minute, with one statement. Does nothing if the process has added a batch with this number or a higher one. Rows are
 * written in one order by all processes, so that they wait for each other and never in a circle.
 */
export async function addUsage(
  tx: Transaction,
  writer: { readonly processId: string; readonly batch: bigint },
  minuteAt: Date,
  rows: readonly UsageRow[],
): Promise<void> {
  await tx.query({
    name: 'add-usage',
    text: `with batch as (
        insert into usage_writers (process_id, batch) values ($1, $2)
          on conflict (process_id) do update set batch = excluded.batch, written_at = now() where usage_writers.batch < excluded.batch
          returning batch)
      insert into key_usage as used (key_id, hour, kind, name, total, counts)
        select key_id, date_trunc('hour', $3::timestamptz, 'UTC'), kind, row.name, count,
            array_fill(0, array[$4::integer - 1]) || count || array_fill(0, array[60 - $4::integer])
          from batch, unnest($5::bigint[], $6::text[], $7::text[], $8::integer[]) as row (key_id, kind, name, count)
          order by key_id, kind, row.name
        on conflict (key_id, hour, kind, name) do update
          set total = used.total + excluded.total, counts[$4::integer] = used.counts[$4::integer] + excluded.counts[$4::integer]`,
    values: [
      writer.processId,
      writer.batch,
      minuteAt,
      minuteAt.getUTCMinutes() + 1,
      rows.map(({ keyId }) => keyId),
      rows.map(({ kind }) => kind),
      rows.map(({ name }) => name),
      rows.map(({ count }) => count),
    ],
  });
}

export type UsageInterval = 'minute' | 'hour' | 'day';

/** A sum over all keys of an interval (`start`), or over all intervals of a key (`keyId`). */
export interface UsageSum {
  readonly start: Date | null;
  readonly keyId: bigint | null;
  readonly kind: UsageKind;
  readonly name: string;
  readonly count: bigint;
}

interface UsageFilter {
  readonly clientId: bigint;
  /** Undefined: all keys of the client. */
  readonly keyId: bigint | undefined;
  readonly from: Date;
  readonly to: Date;
  readonly interval: UsageInterval;
}

/** The sums of a client's usage. `from` and `to` are whole intervals. */
export async function sumUsage(db: Db, { clientId, keyId, from, to, interval }: UsageFilter): Promise<UsageSum[]> {
  const byHour = `select key_id, kind, name, date_trunc('${interval}', hour, 'UTC') as start, total as count from used`;
  const byMinute = `select key_id, kind, name, hour + (n - 1) * interval '1 minute' as start, count
    from used, unnest(counts) with ordinality as minute (count, n)
    where count > 0 and hour + (n - 1) * interval '1 minute' >= $2 and hour + (n - 1) * interval '1 minute' < $3`;
  const { rows } = await db.query<UsageSum>({
    name: `usage-by-${interval}`,
    text: `with used as (select key_usage.* from api_keys join key_usage on key_id = api_keys.id
        where client_id = $1 and hour >= date_trunc('hour', $2::timestamptz, 'UTC') and hour < $3
          and ($4::bigint is null or api_keys.id = $4))
      select start, key_id as "keyId", kind, name, sum(count)::bigint as count from (${interval === 'minute' ? byMinute : byHour}) as part
        group by grouping sets ((start, kind, name), (key_id, kind, name)) order by start, "keyId", kind, count desc, name`,
    values: [clientId, from, to, keyId ?? null],
  });
  return rows;
}

export async function isKeyOf(db: Db, keyId: bigint, clientId: bigint): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'is-key-of-client',
    text: 'select from api_keys where id = $1 and client_id = $2',
    values: [keyId, clientId],
  });
  return rowCount === 1;
}

/** An hour of a key. */
export interface UsageHour {
  readonly keyId: bigint;
  readonly hour: Date;
  readonly kind: UsageKind;
  readonly name: string;
  /** One for each minute. */
  readonly counts: readonly number[];
}

/** All hours of a client's keys from one hour on and before another. */
export async function selectHours(db: Db, clientId: bigint, from: Date, to: Date): Promise<UsageHour[]> {
  const { rows } = await db.query<UsageHour>({
    name: 'usage-hours',
    text: `select key_id as "keyId", hour, kind, key_usage.name, counts from api_keys join key_usage on key_id = api_keys.id
      where client_id = $1 and hour >= $2 and hour < $3`,
    values: [clientId, from, to],
  });
  return rows;
}

export interface ClientUsage {
  readonly clientId: bigint;
  readonly requests: bigint;
  readonly errors: bigint;
  /** Errors with one of the given codes. */
  readonly limited: bigint;
  readonly deprecated: bigint;
}

/** What each client did from a minute on, before an hour. */
export async function sumByClient(db: Db, from: Date, to: Date, limitedCodes: readonly string[]): Promise<ClientUsage[]> {
  const { rows } = await db.query<ClientUsage>({
    name: 'usage-by-client',
    text: `select client_id as "clientId", coalesce(sum(count) filter (where kind = 'request'), 0)::bigint as requests,
        coalesce(sum(count) filter (where kind = 'error'), 0)::bigint as errors,
        coalesce(sum(count) filter (where kind = 'error' and name = any($3::text[])), 0)::bigint as limited,
        coalesce(sum(count) filter (where kind = 'deprecated'), 0)::bigint as deprecated
      from (select key_id, kind, name, case when hour >= $1 then total
            else (select sum(one) from unnest(counts[extract(minute from $1::timestamptz at time zone 'UTC')::integer + 1:60]) as one) end as count
          from key_usage where hour >= date_trunc('hour', $1::timestamptz, 'UTC') and hour < $2) as used
        join api_keys on api_keys.id = key_id group by client_id`,
    values: [from, to, limitedCodes],
  });
  return rows;
}

export interface DeprecatedCalls {
  readonly clientId: bigint;
  readonly keyId: bigint;
  readonly operation: string;
  readonly calls: bigint;
  /** The minute of the last one. */
  readonly lastAt: Date;
}

/** Calls of deprecated operations from one hour on and before another. */
export async function sumDeprecated(db: Db, from: Date, to: Date): Promise<DeprecatedCalls[]> {
  const { rows } = await db.query<DeprecatedCalls>({
    name: 'deprecated-calls',
    text: `select client_id as "clientId", key_id as "keyId", key_usage.name as operation, sum(total)::bigint as calls,
        max(hour + (select max(n) - 1 from unnest(counts) with ordinality as minute (count, n) where count > 0) * interval '1 minute') as "lastAt"
      from key_usage join api_keys on api_keys.id = key_id
      where kind = 'deprecated' and hour >= $1 and hour < $2 group by client_id, key_id, key_usage.name`,
    values: [from, to],
  });
  return rows;
}

/** The minute of each key's last request, for those of the keys that have any. Reads one row of each key. */
export async function findLastUses(db: Db, keyIds: readonly bigint[]): Promise<Map<bigint, Date>> {
  const { rows } = await db.query<{ keyId: bigint; at: Date }>({
    text: `select "keyId", hour + (select max(n) - 1 from unnest(counts) with ordinality as minute (count, n) where count > 0) * interval '1 minute' as at
      from unnest($1::bigint[]) as listed ("keyId") cross join lateral (
        select hour, counts from key_usage where key_id = "keyId" and kind = 'request' order by hour desc limit 1) as last`,
    values: [keyIds],
  });
  return new Map(rows.map(({ keyId, at }) => [keyId, at]));
}

export async function makeUsagePartitions(db: Writer): Promise<void> {
  await db.write({ text: 'select make_usage_partitions()' });
}

/** Returns the number of dropped partitions. Readers and writers queue behind the lock: rather later than for long. */
export async function dropUsagePartitions(tx: Transaction, keptDays: number): Promise<number> {
  await tx.query({ text: `set local lock_timeout = '500ms'` });
  const { rows } = await tx.query<{ dropped: bigint }>({
    text: 'select drop_usage_partitions(make_interval(days => $1)) as dropped',
    values: [keptDays],
  });
  return Number(rows[0]?.dropped ?? 0);
}

/** Forgets processes that have not written for a day. If one of them writes again, it counts as a new one. */
export async function deleteOldWriters(db: Writer): Promise<void> {
  await db.write({ text: `delete from usage_writers where written_at < now() - interval '1 day'` });
}
