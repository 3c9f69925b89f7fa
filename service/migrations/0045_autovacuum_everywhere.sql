-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- As 0012, for all other tables that are written. By default autovacuum waits for a fifth of a table: at ten million rows that is two
-- million dead ones, and statistics that are as old. None of these locks excludes a reader or a writer.

-- Few rows, which change all the time.
alter table deployment set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
alter table feed set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
alter table word_feed set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
alter table photo_scan set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
alter table usage_writers set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
alter table webhook_shards set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
alter table webhook_workers set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

-- They grow with the store.
alter table categories set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table category_registrations set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table clients set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table api_keys set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table shelters set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table profiles set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table photos set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table photo_storage set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table photo_uploads set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table word_clients set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- Queues, read from the front of their indexes.
alter table removed_photo_bytes set (autovacuum_vacuum_scale_factor = 0.02, vacuum_index_cleanup = on);
alter table photo_deletions set (autovacuum_vacuum_scale_factor = 0.02, vacuum_index_cleanup = on);
alter table webhook_replays set (autovacuum_vacuum_scale_factor = 0.02, vacuum_index_cleanup = on);

-- A table that is partitioned has no settings: its partitions do.
create or replace function make_event_partitions() returns void language plpgsql security definer as $$
declare
  day date;
  name text;
begin
  -- Several workers may be at it.
  perform pg_advisory_xact_lock(hashtextextended('make_event_partitions', 0));
  for day in select generate_series((now() at time zone 'utc')::date, (now() at time zone 'utc')::date + 2, interval '1 day') loop
    name := 'events_' || to_char(day, 'YYYYMMDD');
    if to_regclass(name) is null then
      execute format('create table %I (like events including all)
        with (autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05)', name);
      execute format('alter table events attach partition %I for values from (%L) to (%L)',
        name, day::timestamp at time zone 'utc', (day + 1)::timestamp at time zone 'utc');
    end if;
  end loop;
end
$$;
create or replace function make_attempt_partitions(days_back bigint default 0) returns void language plpgsql security definer as $$
declare
  today date := (now() at time zone 'utc')::date;
  day date;
  name text;
begin
  perform pg_advisory_xact_lock(hashtextextended('make_attempt_partitions', 0));
  for day in select generate_series(today - least(days_back, 30)::int, today + 2, interval '1 day') loop
    name := 'webhook_attempts_' || to_char(day, 'YYYYMMDD');
    if to_regclass(name) is null then
      execute format('create table %I (like webhook_attempts including all)
        with (autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05)', name);
      execute format('alter table webhook_attempts attach partition %I for values from (%L) to (%L)',
        name, day::timestamp at time zone 'utc', (day + 1)::timestamp at time zone 'utc');
    end if;
  end loop;
end
$$;
create or replace function make_usage_partitions() returns void language plpgsql security definer as $$
declare
  today date := (now() at time zone 'utc')::date;
  day date;
  name text;
begin
  perform pg_advisory_xact_lock(hashtextextended('make_usage_partitions', 0));
  for day in select generate_series(today - 1, today + 2, interval '1 day') loop
    name := 'key_usage_' || to_char(day, 'YYYYMMDD');
    if to_regclass(name) is null then
      -- Half of a page is free for the next versions of its rows, as in 0013.
      execute format('create table %I (like key_usage including all)
        with (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05)', name);
      execute format('alter table key_usage attach partition %I for values from (%L) to (%L)',
        name, day::timestamp at time zone 'utc', (day + 1)::timestamp at time zone 'utc');
    end if;
  end loop;
end
$$;
do $$
declare
  part record;
begin
  -- Of this schema and no other: nobody can put a table of the same name before it.
  execute format('alter function make_event_partitions() set search_path = %I, pg_temp', current_schema());
  execute format('alter function make_attempt_partitions(bigint) set search_path = %I, pg_temp', current_schema());
  execute format('alter function make_usage_partitions() set search_path = %I, pg_temp', current_schema());
  for part in
    select inhrelid::regclass as name, inhparent = 'key_usage'::regclass as is_updated from pg_inherits join pg_class on pg_class.oid = inhrelid
      where relkind = 'r' and inhparent in ('events'::regclass, 'webhook_attempts'::regclass, 'key_usage'::regclass, 'history'::regclass)
  loop
    execute format('alter table %s set (%I = 0.1, autovacuum_analyze_scale_factor = 0.05)', part.name,
      case when part.is_updated then 'autovacuum_vacuum_scale_factor' else 'autovacuum_vacuum_insert_scale_factor' end);
  end loop;
end
$$;
