-- Up Migration
-- release: 1.0.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Events that are committed and not yet published, each written in the transaction of the change that it tells of. Their
-- ids say nothing of the order in which those transactions commit, so nobody reads here but the publisher.
create table outbox (
  id bigint generated always as identity primary key,
  type text not null,
  -- What is told of one animal is told in order: its rows are written under the animal's lock.
  pet_id bigint not null references pets,
  -- Whose order it tells of; null: it is for everyone.
  client_id bigint references clients,
  at timestamptz not null default clock_timestamp(),
  -- JSON as it is sent. Text, since jsonb would not keep the order of its fields.
  data text not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- One row. Whoever publishes holds it, so that positions become visible in their order and without a gap.
create table feed (
  one boolean primary key default true check (one),
  first_position bigint not null default 1,
  last_position bigint not null default 0
);
insert into feed default values;

-- The published events, a partition a day.
create table events (
  position bigint not null,
  published_at timestamptz not null default now(),
  type text not null,
  pet_id bigint not null,
  client_id bigint,
  at timestamptz not null,
  data text not null,
  primary key (position, published_at)
) partition by range (published_at);

-- The application's role may make and drop nothing but these partitions, and those only by the two functions below.
-- A partition is attached, which lets readers and the publisher go on meanwhile.
create function make_event_partitions() returns void language plpgsql security definer as $$
declare
  day date;
  name text;
begin
  -- Several workers may be at it.
  perform pg_advisory_xact_lock(hashtextextended('make_event_partitions', 0));
  for day in select generate_series((now() at time zone 'utc')::date, (now() at time zone 'utc')::date + 2, interval '1 day') loop
    name := 'events_' || to_char(day, 'YYYYMMDD');
    if to_regclass(name) is null then
      execute format('create table %I (like events including all)', name);
      execute format('alter table events attach partition %I for values from (%L) to (%L)',
        name, day::timestamp at time zone 'utc', (day + 1)::timestamp at time zone 'utc');
    end if;
  end loop;
end
$$;

-- Drops the days that ended longer ago than `kept`. Whoever is not past them by then learns it from `first_position`,
-- which is written with the drop.
create function drop_event_partitions(kept interval) returns bigint language plpgsql security definer as $$
declare
  old regclass;
  dropped bigint := 0;
  last_dropped bigint;
begin
  if kept < interval '1 day' then raise exception 'events are kept for a day at least'; end if;
  -- Readers queue behind this lock: rather not today than for long.
  perform set_config('lock_timeout', '500ms', true);
  for old in
    select child.oid from pg_inherits join pg_class child on child.oid = inhrelid
      where inhparent = 'events'::regclass
        and to_date(right(child.relname, 8), 'YYYYMMDD') + 1 <= ((now() - kept) at time zone 'utc')::date
  loop
    -- Before the row of the feed, as the publisher does it.
    lock table events in access exclusive mode;
    if not exists (select from pg_class where oid = old) then continue; end if; -- by another worker meanwhile
    execute format('select max(position) from %s', old) into last_dropped;
    execute format('drop table %s', old);
    update feed set first_position = greatest(first_position, last_dropped + 1);
    dropped := dropped + 1;
  end loop;
  return dropped;
end
$$;

-- Of this schema and no other: nobody can put a table of the same name before it.
do $$
begin
  execute format('alter function make_event_partitions() set search_path = %I, pg_temp', current_schema());
  execute format('alter function drop_event_partitions(interval) set search_path = %I, pg_temp', current_schema());
end
$$;
revoke execute on function make_event_partitions(), drop_event_partitions(interval) from public;
select make_event_partitions();

grant select, insert, delete on outbox to homeward_app;
grant select, update on feed to homeward_app;
grant select, insert on events to homeward_app;
grant execute on function make_event_partitions(), drop_event_partitions(interval) to homeward_app;
