import { type Db, rowOf, rowsOf } from '../../platform/db/handles.ts';

export interface Server {
  readonly version: string;
  readonly versionNumber: number;
  readonly isStandby: boolean;
  readonly login: string;
  /** Otherwise what sessions of other users do is hidden. */
  readonly seesAll: boolean;
  /** Null if it is hidden. */
  readonly dataDirectory: string | null;
  readonly isMigrated: boolean;
  readonly searchPath: string;
  readonly database: string;
  /** Schemas with the tables of a store. */
  readonly schemas: readonly string[];
}

export const selectServer = (db: Db) =>
  rowOf<Server>(db)`select current_setting('server_version') as version, current_setting('server_version_num')::int as "versionNumber",
      pg_is_in_recovery() as "isStandby", current_user::text as login, pg_has_role('pg_read_all_stats', 'usage') as "seesAll",
      (select setting from pg_settings where name = 'data_directory') as "dataDirectory",
      to_regclass('schema_migrations') is not null as "isMigrated", current_setting('search_path') as "searchPath",
      current_database() as database,
      array(select relnamespace::regnamespace::text from pg_class where relname = 'schema_migrations' and relkind = 'r') as "schemas"`;

export const readClockMs = async (db: Db): Promise<number> =>
  (await rowOf<{ ms: number }>(db)`select extract(epoch from clock_timestamp())::float8 * 1000 as ms`).ms;

interface Rights {
  readonly roleExists: boolean;
  readonly isSuperuser: boolean;
  /** Tables of the store that the role may not read. */
  readonly unreadable: readonly string[];
  readonly mayChangeHistory: boolean;
}

/** `tables` are those of the store: of others the role needs to know nothing. */
export const selectRights = (db: Db, role: string, tables: readonly string[]) =>
  rowOf<Rights>(db)`with role as materialized (select oid, rolsuper from pg_roles where rolname = ${role})
      select exists (select from role) as "roleExists", coalesce((select rolsuper from role), false) as "isSuperuser",
        array(select relname::text from pg_class, role where relnamespace = (select relnamespace from pg_class where oid = to_regclass('schema_migrations'))
          and relname = any(${tables}) and relkind in ('r', 'p') and not has_table_privilege(role.oid, pg_class.oid, 'select') order by 1) as unreadable,
        coalesce((select bool_or(has_table_privilege(role.oid, part, 'update, delete, truncate')) from role,
          (select to_regclass('history')::oid as part union all select inhrelid from pg_inherits where inhparent = to_regclass('history')) as parts
          where not rolsuper), false) as "mayChangeHistory"`;

/** Fails if the user that logged in may not use the role. */
export async function setRole(db: Db, role: string): Promise<void> {
  await db.query({ text: `select set_config('role', $1, false)`, values: [role] });
}

interface Connections {
  readonly max: number;
  /** What is left for this user: of the server's, the user's and the database's limit the least. */
  readonly left: number;
}

export const selectConnections = (db: Db) =>
  rowOf<Connections>(db)`
      with sessions as materialized (select usesysid, datname from pg_stat_activity where usesysid is not null and datid is not null)
      select current_setting('max_connections')::int as max, least(
        current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
          - coalesce(current_setting('reserved_connections', true)::int, 0) - (select count(*) from sessions),
        (select rolconnlimit - (select count(*) from sessions where usesysid = pg_roles.oid) from pg_roles
          where rolname = current_user and rolconnlimit >= 0),
        (select datconnlimit - (select count(*) from sessions where datname = pg_database.datname) from pg_database
          where datname = current_database() and datconnlimit >= 0))::int as left`;

export interface LockHolder {
  readonly pid: number;
  readonly application: string;
  /** Null, like `seconds`, if it is hidden. */
  readonly state: string | null;
  /** Since its transaction began. */
  readonly seconds: number | null;
  readonly waiting: number;
  readonly waitSeconds: number | null;
  /** Tables that it has locked against writers, or against everyone. */
  readonly tables: string | null;
}

/**
 * Transactions that others wait for, and those that have locked a whole table for some time. Of a chain only its start: the others
 * wait too. The store's own statements wait for 2 s at most, so there may be a lock that nobody waits for at this moment.
 */
export const selectLockHolders = (db: Db, waitSecondsMin: number, holdSecondsMin: number) =>
  rowsOf<LockHolder>(db)`with waits as materialized (
          select locks.pid, extract(epoch from clock_timestamp() - waitstart)::float8 as seconds, unnest(pg_blocking_pids(locks.pid)) as blocker
            from pg_locks as locks where not granted),
        holders as materialized (
          select pid, string_agg(distinct relname, ', ') as tables from pg_locks join pg_class on pg_class.oid = relation
            where granted and locktype = 'relation' and database = (select oid from pg_database where datname = current_database())
              and mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
              and relkind in ('r', 'p') and relpersistence <> 't' and relnamespace not in ('pg_catalog'::regnamespace, 'pg_toast'::regnamespace)
            group by pid)
      select session.pid, application_name as application, state, extract(epoch from clock_timestamp() - xact_start)::float8 as seconds, tables,
          (select count(distinct pid)::int from waits where blocker = session.pid) as waiting,
          (select max(seconds) from waits where blocker = session.pid) as "waitSeconds"
        from pg_stat_activity as session left join holders using (pid)
        where not exists (select from waits where waits.pid = session.pid)
          and (exists (select from waits where blocker = session.pid and seconds >= ${waitSecondsMin}) or holders.pid is not null)
          and (xact_start is null or xact_start <= clock_timestamp() - make_interval(secs => ${holdSecondsMin}))
        order by waiting desc, xact_start limit 5`;

export interface SnapshotHolder {
  readonly kind: 'session' | 'prepared transaction' | 'replication slot';
  /** The process, the transaction's or the slot's name. */
  readonly name: string;
  readonly application: string | null;
  readonly state: string | null;
  readonly seconds: number | null;
  /** Transactions that began after it. */
  readonly transactions: number;
}

/** The oldest first. Rows that were deleted since can't be removed. */
export const selectSnapshotHolders = (db: Db) =>
  rowsOf<SnapshotHolder>(db)`select * from (
        select 'session' as kind, pid::text as name, application_name as application, state,
            extract(epoch from clock_timestamp() - xact_start)::float8 as seconds,
            greatest(age(backend_xmin), age(backend_xid))::float8 as transactions
          from pg_stat_activity where (datname = current_database() or backend_type = 'walsender') and pid <> pg_backend_pid()
            and backend_type <> 'autovacuum worker' and coalesce(backend_xmin, backend_xid) is not null
        union all select 'prepared transaction', gid, owner::text, 'prepared', extract(epoch from clock_timestamp() - prepared)::float8,
            age(transaction)::float8 from pg_prepared_xacts where database = current_database()
        union all select 'replication slot', slot_name::text, plugin::text, case when active then 'active' else 'inactive' end, null,
            greatest(age(xmin), age(catalog_xmin))::float8
          from pg_replication_slots where coalesce(xmin, catalog_xmin) is not null
      ) as holders order by transactions desc, seconds desc nulls last limit 5`;

export interface Standby {
  readonly name: string;
  readonly bytes: number | null;
  readonly seconds: number | null;
}

export const selectStandbys = (db: Db) =>
  rowsOf<Standby>(db)`
      select coalesce(nullif(application_name, ''), pid::text) as name, pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::float8 as bytes,
      extract(epoch from replay_lag)::float8 as seconds from pg_stat_replication order by bytes desc nulls last limit 20`;

export interface IdleSlot {
  readonly name: string;
  /** Of the write-ahead log that is stored for it; null: none. */
  readonly bytes: number | null;
  /** No setting limits how much that becomes. */
  readonly isEndless: boolean;
  /** The log that it needs is gone. */
  readonly isLost: boolean;
}

export const selectIdleSlots = (db: Db) =>
  rowsOf<IdleSlot>(db)`select slot_name::text as name, pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::float8 as bytes,
        current_setting('max_slot_wal_keep_size') = '-1' as "isEndless", wal_status is not distinct from 'lost' as "isLost"
      from pg_replication_slots where not active order by bytes desc nulls first limit 20`;

export interface Synchrony {
  /** synchronous_standby_names; empty: commits wait for no standby. */
  readonly names: string;
  readonly connected: number;
}

export const selectSynchrony = (db: Db) =>
  rowOf<Synchrony>(db)`select current_setting('synchronous_standby_names') as names,
      (select count(*)::int from pg_stat_replication where sync_state in ('sync', 'quorum')) as connected`;

interface Vacuuming {
  readonly isOn: boolean;
  /** Transactions since the oldest row that was not frozen yet. At 2 billion PostgreSQL stops. */
  readonly frozenAge: number;
  /** Tables for which it is switched off. */
  readonly disabled: readonly string[];
}

export const selectVacuuming = (db: Db) =>
  rowOf<Vacuuming>(db)`select current_setting('autovacuum')::bool and current_setting('track_counts')::bool as "isOn",
      (select age(datfrozenxid)::float8 from pg_database where datname = current_database()) as "frozenAge",
      array(select relname::text from pg_class where relkind = 'r' and 'autovacuum_enabled=false' = any(reloptions) limit 10) as disabled`;

interface DeadRows {
  readonly table: string;
  readonly dead: number;
  readonly live: number;
  /** Seconds since it was last vacuumed; null: never. */
  readonly seconds: number | null;
}

export const selectDeadRows = (db: Db, deadMin: number, shareMin: number) =>
  rowsOf<DeadRows>(db)`select relname::text as table, n_dead_tup::float8 as dead, n_live_tup::float8 as live,
        extract(epoch from clock_timestamp() - greatest(last_autovacuum, last_vacuum))::float8 as seconds
      from pg_stat_user_tables where n_dead_tup >= ${deadMin} and n_dead_tup >= ${shareMin}::float8 * n_live_tup order by n_dead_tup desc limit 3`;

/** Settings that are off, of those that keep acknowledged writes through a crash. */
export async function selectUnsafeSettings(db: Db): Promise<string[]> {
  const rows = await rowsOf<{ name: string }>(db)`select name from pg_settings
    where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off' order by 1`;
  return rows.map(({ name }) => name);
}

export const countHiddenSessions = async (db: Db): Promise<number> =>
  (
    await rowOf<{ count: number }>(db)`select count(*)::int as count from pg_stat_activity
    where usesysid is not null and datname = current_database() and query = '<insufficient privilege>'`
  ).count;

export interface Work {
  readonly workers: number;
  /** Since the first order that is overdue; null: none is. */
  readonly expiryLateSeconds: number | null;
  /** Since the first event that is not published; null: all are. */
  readonly feedLateSeconds: number | null;
  readonly unpublished: number;
  readonly hasPartition: boolean;
  /** The table of today, if it is not a partition any more. */
  readonly detachedPartition: string | null;
  /** Until the last partition of the history ends. */
  readonly historyDaysLeft: number;
  /** Until the last month of the audit ends; null: it has none. */
  readonly auditDaysLeft: number | null;
}

/** `unpublished` counts up to `unpublishedMax`. */
export const selectWork = (db: Db, unpublishedMax: number) =>
  // Also those at or below the publisher's mark, which nobody publishes.
  rowOf<Work>(db)`with pending as materialized (select at from outbox order by id limit ${unpublishedMax}),
      -- Not by audit_end(), which fails at a name without a month, such as that of a default partition.
      audited as (select to_date(right(relname, 6), 'YYYYMM') as month from pg_inherits join pg_class on pg_class.oid = inhrelid
        where inhparent = to_regclass('audit') and relname ~ '^audit_[0-9]{6}$'),
      partition as (select to_regclass('events_' || to_char(now() at time zone 'utc', 'YYYYMMDD')) as today)
      select (select count(*)::int from webhook_workers where expires_at > now()) as workers,
        (select extract(epoch from now() - min(expires_at))::float8 from orders where status = 'placed' and expires_at <= now()) as "expiryLateSeconds",
        (select extract(epoch from now() - min(at))::float8 from pending) as "feedLateSeconds", (select count(*)::int from pending) as unpublished,
        today is not null as "hasPartition",
        (select extract(days from history_end() - now())::int) as "historyDaysLeft",
        (select extract(days from (max(month) + interval '1 month') at time zone 'utc' - now())::int from audited) as "auditDaysLeft",
        (select case when relispartition then null else relname end from pg_class where oid = today) as "detachedPartition" from partition`;

export interface TroubledEndpoint {
  readonly id: bigint;
  readonly client: bigint;
  readonly isEnabled: boolean;
  /** Since it fails, or was disabled. */
  readonly seconds: number;
  readonly reason: string | null;
}

/** Endpoints that are failing, and those that were disabled in the last days. */
export const selectTroubledEndpoints = (db: Db, disabledDaysMax: number) =>
  rowsOf<TroubledEndpoint>(db)`select id, client_id as client, status = 'enabled' as "isEnabled", disabled_reason as reason,
        extract(epoch from now() - case when status = 'enabled' then failing_since else updated_at end)::float8 as seconds
      from webhooks where removed_at is null
        and ((status = 'enabled' and failing_since is not null and not suspended) or (status = 'disabled' and updated_at > now() - make_interval(days => ${disabledDaysMax})))
      order by status = 'enabled' desc, seconds desc limit 100`;

export const selectHasPhotos = async (db: Db): Promise<boolean> =>
  (await rowOf<{ has: boolean }>(db)`select exists (select from photos) as has`).has;

/** Of the process of PostgreSQL that serves this connection. */
export const readPid = async (db: Db): Promise<number> => (await rowOf<{ pid: number }>(db)`select pg_backend_pid() as pid`).pid;

/** Of two names of one server it is the same. */
export const readStartTime = async (db: Db): Promise<string> =>
  (await rowOf<{ at: string }>(db)`select pg_postmaster_start_time()::text as at`).at;

export interface SessionSetting {
  readonly name: string;
  readonly value: string;
  /** Where it is set: user, database, configuration file. */
  readonly source: string;
}

/** Before this session changes any of them. */
export const selectSessionSettings = (db: Db, names: readonly string[]) =>
  rowsOf<SessionSetting>(db)`select name, setting as value, source from pg_settings where name = any(${names}) order by name`;

export interface Archiver {
  readonly mode: string;
  readonly archivedCount: number;
  readonly failedCount: number;
  readonly lastFailedWal: string | null;
  readonly failedSeconds: number | null;
  /** Nothing was archived since it failed last. */
  readonly isFailing: boolean;
}

export const selectArchiver = (db: Db) =>
  rowOf<Archiver>(db)`
      select current_setting('archive_mode') as mode, archived_count::int as "archivedCount", failed_count::int as "failedCount", last_failed_wal as "lastFailedWal",
      extract(epoch from now() - last_failed_time)::float8 as "failedSeconds",
      coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) as "isFailing" from pg_stat_archiver`;

/** Valid keys by the beginning of their hints. */
export const countKeysByEnvironment = (db: Db) =>
  rowOf<Readonly<Record<'production' | 'staging', number>>>(db)`
      select count(*) filter (where hint like 'hw\\_live\\_%')::int as production, count(*) filter (where hint like 'hw\\_test\\_%')::int as staging
      from api_keys where revoked_at is null and (expires_at is null or expires_at > now())`;

/** A picture whose file must be there; undefined if the store has no photo that is ready. */
export const findSomePicture = async (db: Db): Promise<string | undefined> =>
  (
    await rowsOf<{ hash: string }>(db)`select files -> 0 ->> 'hash' as hash from photos
    where status = 'ready' and jsonb_array_length(files) > 0 order by id desc limit 1`
  )[0]?.hash;

/** An id that no animal and no order gets: nothing is left behind, not even a gap between ids. */
const triedId = '9223372036854775807';

/** What a partner's day writes: an animal, an order for it, their history and events. */
const triedWrites = [
  `insert into categories (id) values (${triedId}) on conflict do nothing`,
  `insert into pets (id, category_id, status, name, shelter_id) overriding system value
    select ${triedId}, ${triedId}, 'available', 'doctor', min(id) from shelters`,
  `insert into profiles (pet_id, shelter_id) select ${triedId}, min(id) from shelters`,
  `insert into orders (id, client_id, pet_id, adopter_name, adopter_email, expires_at) overriding system value
    select ${triedId}, min(id), ${triedId}, 'doctor', 'doctor@example.org', now() from clients having count(*) > 0`,
  `update pets set status = 'pending', updated_at = now() where id = ${triedId}`,
  `update orders set status = 'approved', updated_at = now() where id = ${triedId}`,
  `insert into history (id, pet_id, to_status, why) overriding system value values (${triedId}, ${triedId}, 'available', 'added')`,
  `insert into outbox (id, type, pet_id, data) overriding system value values (${triedId}, 'pet.created', ${triedId}, '{}')`,
];

/** Writes what the store writes, and rolls it back. Throws what PostgreSQL says. */
export async function tryWrites(db: Db): Promise<void> {
  await db.query({ text: 'begin read write' });
  try {
    for (const text of triedWrites) await db.query({ text });
  } finally {
    await db.query({ text: 'rollback' });
  }
}

/** Photos whose originals are not found for this long. */
export const countMissingOriginals = async (db: Db, hours: number): Promise<number> =>
  (
    await rowOf<{ count: number }>(db)`select count(*)::int as count from photos
    where status = 'processing' and original_missing_since < now() - make_interval(hours => ${hours})`
  ).count;

/** What was revoked and suspended since the store has a journal, the latest first: its lines must be there. */
export interface EndedAccess {
  readonly keys: readonly bigint[];
  readonly clients: readonly bigint[];
}

export const selectEndedAccess = (db: Db, limit: number) =>
  rowOf<EndedAccess>(db)`
      select array(select id from api_keys where revoked_at > journal_since order by revoked_at desc limit ${limit}) as keys,
      array(select id from clients where suspended_at > journal_since order by suspended_at desc limit ${limit}) as clients from deployment`;
