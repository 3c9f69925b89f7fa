-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Webhook endpoints become readers of the feed (docs/adr/0033-endpoints-read-the-feed.md): the tables, which nobody uses
-- before the next migration. Two tables that are in use are locked exclusively, for a short time: `feed` before `webhooks`, the order
-- of the release before, whose worker may be running.
-- squawk-ignore-file require-concurrent-index-creation, constraint-missing-not-valid

-- A worker that sends webhooks. Its shards are free once it has expired. Ids are never reused.
create table webhook_workers (
  id bigint generated always as identity primary key,
  expires_at timestamptz not null
);

-- Endpoints are divided by client into shards, so that one worker has all endpoints of a client.
create table webhook_shards (
  id bigint primary key,
  worker_id bigint,
  -- Everything up to here is decided for those endpoints of the shard that have no position of their own.
  position bigint not null,
  moved_at timestamptz not null default now()
) with (fillfactor = 50);

-- The attempts, a partition a day.
create table webhook_attempts (
  webhook_id bigint not null,
  delivery_id bigint not null,
  at timestamptz not null,
  -- squawk-ignore prefer-bigint-over-int
  duration_ms integer not null,
  -- Counts the attempts of the delivery, from 1 again after a replay.
  -- squawk-ignore prefer-bigint-over-smallint
  attempt smallint not null,
  -- Of the response; null: there was none.
  -- squawk-ignore prefer-bigint-over-smallint
  status smallint,
  -- The start of a response that was not 2xx.
  answer text,
  error text
) partition by range (at);
create index webhook_attempts_by_delivery on webhook_attempts (webhook_id, delivery_id, at);

create function make_attempt_partitions(days_back bigint default 0) returns void language plpgsql security definer as $$
declare
  today date := (now() at time zone 'utc')::date;
  day date;
  name text;
begin
  perform pg_advisory_xact_lock(hashtextextended('make_attempt_partitions', 0));
  for day in select generate_series(today - least(days_back, 30)::int, today + 2, interval '1 day') loop
    name := 'webhook_attempts_' || to_char(day, 'YYYYMMDD');
    if to_regclass(name) is null then
      execute format('create table %I (like webhook_attempts including all)', name);
      execute format('alter table webhook_attempts attach partition %I for values from (%L) to (%L)',
        name, day::timestamp at time zone 'utc', (day + 1)::timestamp at time zone 'utc');
    end if;
  end loop;
end
$$;

create function drop_attempt_partitions(kept interval) returns bigint language plpgsql security definer as $$
declare
  old regclass;
  dropped bigint := 0;
begin
  if kept < interval '1 day' then raise exception 'attempts are kept for a day at least'; end if;
  perform set_config('lock_timeout', '500ms', true);
  for old in
    with partition as materialized (
      select child.oid, child.relname from pg_inherits join pg_class child on child.oid = inhrelid
        where inhparent = 'webhook_attempts'::regclass)
    select oid from partition where to_date(right(relname, 8), 'YYYYMMDD') + 1 <= ((now() - kept) at time zone 'utc')::date
  loop
    lock table webhook_attempts in access exclusive mode;
    if not exists (select from pg_class where oid = old) then continue; end if; -- by another worker meanwhile
    execute format('drop table %s', old);
    dropped := dropped + 1;
  end loop;
  return dropped;
end
$$;

-- As before, but the names of other tables and indexes are never read as dates: once the catalogs are analysed, PostgreSQL may apply
-- a condition on the name before the one on the parent.
create or replace function drop_event_partitions(kept interval) returns bigint language plpgsql security definer as $$
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

-- Of this schema and no other: nobody can put a table of the same name before it.
do $$
begin
  execute format('alter function drop_event_partitions(interval) set search_path = %I, pg_temp', current_schema());
  execute format('alter function make_attempt_partitions(bigint) set search_path = %I, pg_temp', current_schema());
  execute format('alter function drop_attempt_partitions(interval) set search_path = %I, pg_temp', current_schema());
end
$$;
select make_attempt_partitions();

-- Everyone who reads these tables waits behind the lock, also while it waits: for a backup, for instance, which may take hours. So it
-- waits for a second only, and then lets the others go first.
do $$
declare
  before text := current_setting('lock_timeout');
begin
  for tries in 1..60 loop
    begin
      perform set_config('lock_timeout', '1s', true);
      lock table feed, webhooks in access exclusive mode;
      perform set_config('lock_timeout', before, true);
      return;
    exception when lock_not_available or deadlock_detected then
      perform pg_sleep(1);
    end;
  end loop;
  raise exception 'feed and webhooks are in use by a long transaction; migrate again when it has ended';
end
$$;

-- Every row of outbox with this id or a lower one is published, so that the publisher doesn't read the dead rows before it.
alter table feed add column published_to bigint not null default 0;

alter table webhooks
  -- squawk-ignore adding-field-with-default
  add column shard bigint not null generated always as (client_id % 256) stored,
  -- Whether its client is.
  add column suspended boolean not null default false,
  -- When it responded with 2xx to a test; null: it gets nothing but tests.
  add column verified_at timestamptz,
  -- Counts the changes that a worker must know of. `is_changed`: the worker hasn't read the last one.
  add column revision bigint not null default 1,
  add column is_changed boolean not null default false,
  -- Everything up to here is decided; null: see its shard.
  add column position bigint,
  -- The end of the feed when it was disabled or suspended; null: it is served. What comes meanwhile is skipped.
  add column paused_position bigint,
  add column skipped int8multirange not null default '{}';
create index webhooks_changed on webhooks (shard) where is_changed;
create index webhooks_by_shard on webhooks (shard, id) where removed_at is null;

-- A range of the feed that is sent to an endpoint again. A client has one at a time.
create table webhook_replays (
  webhook_id bigint primary key references webhooks on delete cascade,
  client_id bigint not null unique,
  created_at timestamptz not null default now(),
  -- Everything up to here is decided.
  position bigint not null,
  to_position bigint not null
);

revoke execute on function make_attempt_partitions(bigint), drop_attempt_partitions(interval) from public;

grant select, insert, update, delete on webhook_workers, webhook_replays to homeward_app;
grant select, update on webhook_shards to homeward_app;
grant select, insert on webhook_attempts to homeward_app;
grant execute on function make_attempt_partitions(bigint), drop_attempt_partitions(interval) to homeward_app;
