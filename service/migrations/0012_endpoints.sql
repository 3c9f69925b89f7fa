-- release: 1.0.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

create type webhook_status as enum ('enabled', 'disabled');

-- Where a client wants events sent. Endpoints are readers of the feed (ADR 0033): what every one of them has got is a position, and only
-- what is not sent in order has a row (delivery_exceptions).
-- Owner: changes. A removed endpoint is found by nobody; its row goes 30 days later.
create table webhooks (
  id bigint generated always as identity primary key,
  client_id bigint not null references clients,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  removed_at timestamptz,
  status webhook_status not null default 'enabled',
  disabled_reason text,
  -- Since when no delivery has succeeded; null: the last one did.
  failing_since timestamptz,
  -- Whether the key that chose the address may read orders.
  with_orders boolean not null,
  -- Empty: every type.
  types text[] not null default '{}',
  url text not null check (char_length(url) between 1 and 2000),
  description text not null default '' check (char_length(description) <= 200),
  -- Not hashed: each delivery is signed with it.
  secret text not null,
  -- Signs too until then.
  previous_secret text,
  previous_secret_until timestamptz,
  -- The key that added the endpoint or last set its address or types.
  key_id bigint references api_keys,
  -- Endpoints are divided by client into shards, so that one worker has all endpoints of a client.
  shard bigint not null generated always as (client_id % 256) stored,
  -- Whether its client is.
  suspended boolean not null default false,
  -- When it responded with 2xx to a test; null: it gets nothing but tests.
  verified_at timestamptz,
  -- Counts the changes that a worker must know of. `is_changed`: the worker hasn't read the last one.
  revision bigint not null default 1,
  is_changed boolean not null default false,
  -- Everything up to here is decided; null: see its shard.
  position bigint,
  -- The end of the feed when it was disabled or suspended; null: it is served. What comes meanwhile is skipped.
  paused_position bigint,
  skipped int8multirange not null default '{}',
  -- Which shelters and categories it wants. Empty: all.
  shelter_ids bigint[] not null default '{}',
  category_ids bigint[] not null default '{}'
) with (autovacuum_vacuum_scale_factor = 0.02, vacuum_index_cleanup = on);
create index webhooks_by_client on webhooks (client_id, id);
create index webhooks_by_key on webhooks (key_id) where key_id is not null;
create index webhooks_changed on webhooks (shard) where is_changed;
create index webhooks_by_shard on webhooks (shard, id) where removed_at is null;

create function webhook_changed() returns trigger language plpgsql as $$
declare
  is_served boolean := new.status = 'enabled' and not new.suspended and new.removed_at is null;
  feed_end bigint := (select last_position from feed);
begin
  if tg_op = 'INSERT' then
    new.suspended := exists (select from clients where id = new.client_id and suspended_at is not null);
    new.is_changed := true;
    new.position := feed_end;
    if new.suspended or not is_served then new.paused_position := feed_end; end if;
    return new;
  end if;
  new.revision := old.revision + 1;
  new.is_changed := true;
  if new.url <> old.url then new.verified_at := null; end if;
  if new.position is null and (not is_served or new.verified_at is null) then
    new.position := (select position from webhook_shards where id = old.shard);
  end if;
  if not is_served then
    new.paused_position := coalesce(new.paused_position, feed_end);
  elsif new.paused_position is not null then
    new.skipped := new.skipped + int8multirange(int8range(new.paused_position, feed_end, '(]'));
    new.paused_position := null;
  end if;
  return new;
end
$$;
create trigger webhook_changed
  before insert or update of url, types, shelter_ids, category_ids, status, key_id, with_orders, suspended, removed_at on webhooks
  for each row execute function webhook_changed();

create function client_suspended() returns trigger language plpgsql as $$
begin
  update webhooks set suspended = new.suspended_at is not null where client_id = new.id and removed_at is null;
  return null;
end
$$;
create trigger client_suspended after update of suspended_at on clients
  for each row when (old.suspended_at is distinct from new.suspended_at) execute function client_suspended();

-- A worker that sends webhooks. Its shards are free once it has expired. Ids are never reused.
-- Owner: changes. A row goes when its worker stops, or an hour after it has expired.
create table webhook_workers (
  id bigint generated always as identity primary key,
  expires_at timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

-- How far the endpoints of a shard are, and which worker has it.
-- Owner: changes. 256 rows, which stay.
create table webhook_shards (
  id bigint primary key,
  worker_id bigint,
  -- Everything up to here is decided for those endpoints of the shard that have no position of their own.
  position bigint not null,
  moved_at timestamptz not null default now()
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
insert into webhook_shards (id, position) select shard, 0 from generate_series(0, 255) as shard;

-- A range of the feed that is sent to an endpoint again. A client has one at a time.
-- Owner: changes. A row goes when all of it is decided.
create table webhook_replays (
  webhook_id bigint primary key references webhooks on delete cascade,
  client_id bigint not null unique,
  created_at timestamptz not null default now(),
  -- Everything up to here is decided.
  position bigint not null,
  to_position bigint not null
) with (autovacuum_vacuum_scale_factor = 0.02, vacuum_index_cleanup = on);

create type delivery_status as enum ('pending', 'delivered', 'failed');

-- Deliveries that need a row: those that wait for another attempt or behind one of the same animal, that failed for good, that are
-- sent again, and tests. The event is read from the feed.
-- Owner: changes. Rows go when they are delivered; tests and what has failed after 30 days, as the event does.
create table delivery_exceptions (
  webhook_id bigint not null references webhooks on delete cascade,
  -- The position of the event. Tests have numbers above all positions.
  delivery_id bigint not null,
  -- Null: a test.
  pet_id bigint,
  created_at timestamptz not null default now(),
  -- Of a pending one; infinity: it waits behind an earlier one of the same animal.
  next_attempt_at timestamptz not null default now(),
  -- Of a test.
  delivered_at timestamptz,
  attempt_count bigint not null default 0,
  -- How many delays of the retry schedule have passed. A failing endpoint gets attempts between them.
  retry_count bigint not null default 0,
  status delivery_status not null default 'pending',
  -- It is sent again on request: nothing new waits behind it.
  is_replay boolean not null default false,
  primary key (webhook_id, delivery_id)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
create index delivery_exceptions_due on delivery_exceptions (webhook_id, next_attempt_at, delivery_id) where status = 'pending';
create index delivery_exceptions_in_order on delivery_exceptions (webhook_id, pet_id, delivery_id) where status = 'pending';
create index delivery_exceptions_by_age on delivery_exceptions (created_at);
create sequence test_delivery_ids minvalue 2000000000000000;

-- The attempts.
-- Owner: changes. A partition a day, which is dropped after 30 days.
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
      execute format('create table %I (like webhook_attempts including all)
        with (autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05)', name);
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

-- Of this schema and no other: nobody can put a table of the same name before it.
do $$
declare
  name text;
begin
  foreach name in array array['webhook_changed()', 'client_suspended()', 'make_attempt_partitions(bigint)', 'drop_attempt_partitions(interval)'] loop
    execute format('alter function %s set search_path = %I, pg_temp', name, current_schema());
  end loop;
end
$$;
revoke execute on function make_attempt_partitions(bigint), drop_attempt_partitions(interval) from public;
select make_attempt_partitions();

grant select, insert, update, delete on webhooks, webhook_workers, webhook_replays, delivery_exceptions to homeward_app;
grant select, update on webhook_shards to homeward_app;
grant select, insert on webhook_attempts to homeward_app;
grant usage on sequence test_delivery_ids to homeward_app;
grant select on sequence webhooks_id_seq to homeward_app;
grant execute on function make_attempt_partitions(bigint), drop_attempt_partitions(interval) to homeward_app;
