-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- How often each key was used (docs/adr/0038-usage.md): a row for an hour, with a count for each of its minutes, since a row for each
-- minute would take several times the space. A partition a day. No foreign key to api_keys: each check would lock the key's row.
create table key_usage (
  key_id bigint not null,
  -- The start of an hour, in UTC.
  hour timestamptz not null,
  total bigint not null,
  -- 'request': all requests of the key. 'error': those with the error code `name`. 'deprecated': those to the operation `name`.
  kind text not null check (kind in ('request', 'error', 'deprecated')),
  name text not null,
  -- squawk-ignore prefer-bigint-over-int
  counts integer[] not null check (cardinality(counts) = 60),
  primary key (key_id, hour, kind, name)
) partition by range (hour);
-- For those who read the usage of all keys. Rows are in the order of their hours, so it takes almost no space.
create index key_usage_by_hour on key_usage using brin (hour) with (pages_per_range = 32, autosummarize = on);
create index key_usage_deprecated on key_usage (hour) where kind = 'deprecated';

-- The processes that write usage, each with the number of its last batch: a batch whose outcome a process doesn't know is sent again,
-- and counted once.
create table usage_writers (
  process_id uuid primary key,
  batch bigint not null,
  written_at timestamptz not null default now()
);

-- Yesterday too: the clock of a process may be behind PostgreSQL's. Half of a page is free for the next versions of its rows: during their
-- hour they change every few seconds, all rows of a page at once.
create function make_usage_partitions() returns void language plpgsql security definer as $$
declare
  today date := (now() at time zone 'utc')::date;
  day date;
  name text;
begin
  perform pg_advisory_xact_lock(hashtextextended('make_usage_partitions', 0));
  for day in select generate_series(today - 1, today + 2, interval '1 day') loop
    name := 'key_usage_' || to_char(day, 'YYYYMMDD');
    if to_regclass(name) is null then
      execute format('create table %I (like key_usage including all) with (fillfactor = 45)', name);
      execute format('alter table key_usage attach partition %I for values from (%L) to (%L)',
        name, day::timestamp at time zone 'utc', (day + 1)::timestamp at time zone 'utc');
    end if;
  end loop;
end
$$;

-- Drops the days that ended longer ago than `kept`. Whoever calls it sets how long it waits for the lock, which excludes everyone else.
create function drop_usage_partitions(kept interval) returns bigint language plpgsql security definer as $$
declare
  old regclass;
  dropped bigint := 0;
begin
  if kept < interval '1 day' then raise exception 'usage is kept for a day at least'; end if;
  for old in
    with partition as materialized (
      select child.oid, child.relname from pg_inherits join pg_class child on child.oid = inhrelid where inhparent = 'key_usage'::regclass)
    select oid from partition where to_date(right(relname, 8), 'YYYYMMDD') + 1 <= ((now() - kept) at time zone 'utc')::date
  loop
    lock table key_usage in access exclusive mode;
    if not exists (select from pg_class where oid = old) then continue; end if; -- by another worker meanwhile
    execute format('drop table %s', old);
    dropped := dropped + 1;
  end loop;
  return dropped;
end
$$;

-- Of this schema and no other: nobody can put a table of the same name before it.
do $$
begin
  execute format('alter function make_usage_partitions() set search_path = %I, pg_temp', current_schema());
  execute format('alter function drop_usage_partitions(interval) set search_path = %I, pg_temp', current_schema());
end
$$;
revoke execute on function make_usage_partitions(), drop_usage_partitions(interval) from public;
select make_usage_partitions();

grant select, insert, update on key_usage to homeward_app;
grant select, insert, update, delete on usage_writers to homeward_app;
grant execute on function make_usage_partitions(), drop_usage_partitions(interval) to homeward_app;
