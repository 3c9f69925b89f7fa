-- release: 1.0.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Events that are committed and not yet published, each written in the transaction of the change that it tells of. Their
-- ids say nothing of the order in which those transactions commit, so nobody reads here but the publisher. No foreign keys: they would
-- lock the rows of the client and the animal for each event.
-- Owner: changes. Rows go when they are published.
create table outbox (
  id bigint generated always as identity primary key,
  type text not null,
  -- What is told of one animal is told in order: its rows are written under the animal's lock.
  pet_id bigint not null,
  -- Whose order it tells of; null: it is for everyone.
  client_id bigint,
  at timestamptz not null default clock_timestamp(),
  -- JSON as it is sent. Text, since jsonb would not keep the order of its fields.
  data text not null,
  -- The shelter and the category of the animal when it changed.
  shelter_id bigint,
  category_id bigint
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Whoever publishes locks it, so that positions become visible in their order and without a gap.
-- Owner: changes. One row, which stays.
create table feed (
  one boolean primary key default true check (one),
  first_position bigint not null default 1,
  last_position bigint not null default 0,
  -- Every row of outbox with this id or a lower one is published, so that the publisher doesn't read the dead rows before it.
  published_to bigint not null default 0,
  -- Where positions were last assigned. On another server the publisher first leaves out all that may have been assigned before: a standby
  -- that took over may lack the last ones. Null: not known.
  server text,
  -- What was left out, between the last position before and the new end: cursors in here are of events that are lost.
  gaps int8multirange not null default '{}'
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
insert into feed default values;

-- The published events.
-- Owner: changes. A partition a day, which is dropped after 30 days.
create table events (
  position bigint not null,
  published_at timestamptz not null default now(),
  type text not null,
  pet_id bigint not null,
  client_id bigint,
  at timestamptz not null,
  data text not null,
  -- As in the outbox.
  shelter_id bigint,
  category_id bigint,
  -- What the change has taken it from: such an event concerns both.
  previous_shelter_id bigint,
  previous_category_id bigint,
  primary key (position, published_at)
) partition by range (published_at);
-- The feed under a filter: reads what it returns, and nothing else.
create index events_by_type on events (type, position);
create index events_by_client_and_type on events (client_id, type, position) where client_id is not null;
create index events_by_shelter_and_type on events (shelter_id, type, position) where shelter_id is not null;

-- What an event without a shelter gets is that of the animal when it is published.
create function order_told() returns trigger language plpgsql as $$
begin
  if new.shelter_id is null then
    select shelter_id, category_id into new.shelter_id, new.category_id from pets where id = new.pet_id;
  end if;
  if new.type = 'pet.moved' then new.previous_shelter_id := (new.data::json ->> 'previousShelterId')::bigint; end if;
  if new.type = 'pet.updated' then new.previous_category_id := (new.data::json ->> 'previousCategoryId')::bigint; end if;
  return new;
end
$$;
-- A partition that is attached later gets it too.
create trigger order_told before insert on events
  for each row when (new.shelter_id is null or new.type in ('pet.moved', 'pet.updated')) execute function order_told();

-- The application's role may make and drop nothing but partitions such as these, and those only by functions such as the two below.
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
      execute format('create table %I (like events including all)
        with (autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05)', name);
      execute format('alter table events attach partition %I for values from (%L) to (%L)',
        name, day::timestamp at time zone 'utc', (day + 1)::timestamp at time zone 'utc');
    end if;
  end loop;
end
$$;

-- Drops the days that ended longer ago than `kept`. Whoever is not past them by then learns it from `first_position`,
-- which is written with the drop. The names of other tables and indexes are never read as dates: once the catalogs are analysed,
-- PostgreSQL may apply a condition on the name before the one on the parent.
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
    with partition as materialized (
      select child.oid, child.relname from pg_inherits join pg_class child on child.oid = inhrelid where inhparent = 'events'::regclass)
    select oid from partition where to_date(right(relname, 8), 'YYYYMMDD') + 1 <= ((now() - kept) at time zone 'utc')::date
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

-- Where this database is: PostgreSQL's system identifier, which a new cluster has; its timeline, which a recovery from an archive and the
-- promotion of a standby begin; and the ids of the database and of a table, which a dump that is loaded gets anew.
create function current_server() returns text language sql stable as $$
  select (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
    || '/' || (select oid from pg_database where datname = current_database()) || '/' || 'feed'::regclass::oid
$$;
do $$
begin
  update deployment set server = current_server();
exception when others then null; -- a provider may not allow it
end
$$;
update deployment set ids_server = server;
update feed set server = (select server from deployment);

-- For the owner, after a restore. Also by the time: what is restored or promoted twice must not assign the same ids twice. Nobody assigns
-- ten a second for long. And the numbers of claims: a worker that still has one must not find it assigned again.
create function skip_ids() returns void language plpgsql as $$
declare
  skipped bigint := 1000000 + 10 * extract(epoch from now() - timestamptz '2026-11-01 00:00Z')::bigint;
  ids text;
begin
  foreach ids in array '{clients,api_keys,pets,orders,webhooks,shelters,photos,webhook_workers,applications,people,passkeys}'::text[] loop
    perform setval(pg_get_serial_sequence(ids, 'id'), nextval(pg_get_serial_sequence(ids, 'id')) + skipped);
  end loop;
  perform setval('photo_claims', nextval('photo_claims') + skipped);
  perform setval('mail_claims', nextval('mail_claims') + skipped);
end;
$$;

-- For every process before it writes to a server for the first time: the first one skips them. Returns whether it has.
create function skip_lost_ids() returns boolean language plpgsql security definer as $$
declare
  here text := current_server();
  before text;
begin
  -- Others wait here, and then find nothing to do.
  select coalesce(ids_server, '') into before from deployment where ids_server is distinct from here for update;
  if not found then return false; end if;
  if before <> '' then perform skip_ids(); end if;
  update deployment set ids_server = here;
  return before <> '';
end;
$$;

-- Of this schema and no other: nobody can put a table of the same name before it.
do $$
declare
  name text;
begin
  foreach name in array array['order_told()', 'make_event_partitions()', 'drop_event_partitions(interval)', 'skip_lost_ids()'] loop
    execute format('alter function %s set search_path = %I, pg_temp', name, current_schema());
  end loop;
end
$$;
revoke execute on function make_event_partitions(), drop_event_partitions(interval), skip_ids(), skip_lost_ids() from public;
select make_event_partitions();

grant select, insert, delete on outbox to homeward_app;
-- The publisher's mark is never beyond what was assigned.
grant select on sequence outbox_id_seq to homeward_app;
grant select, update on feed to homeward_app;
grant select, insert on events to homeward_app;
grant execute on function make_event_partitions(), drop_event_partitions(interval), skip_lost_ids() to homeward_app;
