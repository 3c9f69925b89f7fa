-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: no, publishing and changes of endpoints and clients wait while queued deliveries are moved
-- runs with: 1.1.0, workers of 1.0.0 send no webhooks from it

-- Webhook endpoints read the feed from here on: what the release before has queued and not delivered moves over, in one transaction.
-- Its processes may be running. They only wait meanwhile, since no lock here excludes a reader; the triggers at the end apply to what
-- they write afterwards.
-- squawk-ignore-file require-concurrent-index-creation, constraint-missing-not-valid

-- Its statements lock these tables in two orders: a worker locks delivery_attempts before deliveries when it records attempts, and after
-- it when it deletes old ones. So a deadlock is possible in any order; then the locks taken so far are released, and taken again.
do $$
begin
  for tries in 1..30 loop
    begin
      lock table delivery_attempts, clients in share row exclusive mode;
      -- Also against those who lock an endpoint before they change it.
      lock table webhooks in exclusive mode;
      lock table deliveries in share row exclusive mode;
      return;
    exception when deadlock_detected then
      null;
    end;
  end loop;
  raise exception 'the tables of webhooks could not be locked; stop the workers and migrate again';
end
$$;

-- Read by the indexes of what is not delivered, which is little of a large table. Compiling would take longer than that.
set local enable_seqscan = off;
set local jit = off;

-- An event is published before or after this. Before: it is in deliveries, for each endpoint that gets it. After: endpoints read it.
insert into webhook_shards (id, position) select shard, last_position from feed, generate_series(0, 255) as shard;
update webhooks set verified_at = now(),
  suspended = exists (select from clients where clients.id = client_id and suspended_at is not null);
update webhooks set position = last_position, paused_position = last_position
  from feed where status = 'disabled' or suspended;

-- Where more than 1,000 are queued, they stay in the feed: the endpoint reads on from the first of them, and passes over what an attempt
-- shows as delivered. Not those that were leased more often than they were tried: they are being sent, or sent again on request.
-- Events since then that were never queued are skipped: it was disabled, or its client suspended. Where there are more than 50 such
-- gaps, because its types were changed, every delivery is moved.
with queued as materialized (
    select webhook_id, min(deliveries.position) filter (where lease <= attempt_count) as first
      from deliveries, feed where status = 'pending' and deliveries.position >= first_position
      group by webhook_id having count(*) > 1000),
  gap as (
    select webhook_id, min(position) - 1 as after, max(position) as up_to
      from (
        select queued.webhook_id, events.position, deliveries.id is null as is_missed,
            count(deliveries.id) over (partition by queued.webhook_id order by events.position) as deliveries_before
          from queued join webhooks on webhooks.id = queued.webhook_id
          join events on events.position > queued.first and (types = '{}' or events.type = any(types))
            and (events.client_id is null or (with_orders and events.client_id = webhooks.client_id))
          left join deliveries on deliveries.webhook_id = queued.webhook_id and deliveries.position = events.position
      ) as told where is_missed group by webhook_id, deliveries_before)
update webhooks set position = queued.first - 1,
    skipped = coalesce((select range_agg(int8range(after, up_to, '(]')) from gap where gap.webhook_id = queued.webhook_id), '{}')
  from queued
  where webhooks.id = queued.webhook_id and removed_at is null and queued.first is not null
    and (select count(*) from gap where gap.webhook_id = queued.webhook_id) <= 50;

-- Deliveries that need a row: those that wait for another attempt or behind one of the same animal, that failed for good, that are
-- sent again, and tests. The event is read from the feed.
create table delivery_exceptions (
  webhook_id bigint not null,
  -- The position of the event. Tests have numbers above all positions: from 2 * 10^15, and from 10^15 those of the release before.
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
  is_replay boolean not null default false
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
create sequence test_delivery_ids minvalue 2000000000000000;

-- `created_at` is the time of the event, by which it is found in the feed; the release before has another one where a replay queued it.
-- What the feed no longer has can't be sent. What one of its workers is sending now is due when that lease has ended.
create view old_deliveries as
  select deliveries.*, coalesce(deliveries.position, 1000000000000000 + deliveries.id) as delivery_id, webhooks.position as read_to,
      case when deliveries.position is null then deliveries.created_at
        when exists (select from events where events.position = deliveries.position and published_at = deliveries.created_at)
          then deliveries.created_at
        else (select published_at from events where events.position = deliveries.position) end as event_at
    from webhooks join deliveries on webhook_id = webhooks.id where removed_at is null;
insert into delivery_exceptions (webhook_id, delivery_id, pet_id, created_at, next_attempt_at, attempt_count, retry_count)
  select webhook_id, delivery_id, pet_id, event_at,
      case when pet_id is not null and lag(id) over (partition by webhook_id, pet_id order by delivery_id) is not null then 'infinity'
        else greatest(next_attempt_at, leased_until) end,
      attempt_count, attempt_count
    from old_deliveries where status = 'pending' and event_at is not null
      and (read_to is null or delivery_id <= read_to or lease > attempt_count or position is null);
insert into delivery_exceptions (webhook_id, delivery_id, pet_id, created_at, next_attempt_at, attempt_count, retry_count, status)
  select webhook_id, delivery_id, pet_id, event_at, next_attempt_at, attempt_count, attempt_count, 'failed'
    from old_deliveries where status = 'failed' and event_at is not null;
insert into delivery_exceptions (webhook_id, delivery_id, created_at, next_attempt_at, delivered_at, attempt_count, retry_count, status)
  select webhook_id, delivery_id, created_at, next_attempt_at, delivered_at, attempt_count, attempt_count, 'delivered'
    from old_deliveries where status = 'delivered' and position is null;
drop view old_deliveries;
set local enable_seqscan to default;
alter table delivery_exceptions
  -- squawk-ignore adding-serial-primary-key-field
  add primary key (webhook_id, delivery_id),
  add foreign key (webhook_id) references webhooks on delete cascade;
create index delivery_exceptions_due on delivery_exceptions (webhook_id, next_attempt_at, delivery_id) where status = 'pending';
create index delivery_exceptions_in_order on delivery_exceptions (webhook_id, pet_id, delivery_id) where status = 'pending';
create index delivery_exceptions_by_age on delivery_exceptions (created_at);
analyze delivery_exceptions;
grant select, insert, update, delete on delivery_exceptions to homeward_app;
grant usage on sequence test_delivery_ids to homeward_app;

select make_attempt_partitions(30);
-- The attempts since the migration before; also those that had a lower id and were not committed then.
insert into webhook_attempts (webhook_id, delivery_id, at, duration_ms, attempt, status, answer, error)
  select webhook_id, made.delivery_id, made.at, duration_ms, attempt, made.status, answer, error
    from (
      select webhook_id, coalesce(position, 1000000000000000 + deliveries.id) as delivery_id, old.at, duration_ms,
          least(greatest(attempt_count + 1 - row_number() over (partition by old.delivery_id order by old.id desc), 1), 32767) as attempt,
          old.status, case when old.status between 200 and 299 then null else answer end as answer, error
        from delivery_attempts as old join deliveries on deliveries.id = old.delivery_id
        where old.id > (select up_to - 10000 from moved_attempts)
    ) as made
    where made.at >= ((now() at time zone 'utc')::date - 30)::timestamp at time zone 'utc'
      and made.at < ((now() at time zone 'utc')::date + 3)::timestamp at time zone 'utc'
      and not exists (
        select from webhook_attempts as moved
          where moved.webhook_id = made.webhook_id and moved.delivery_id = made.delivery_id and moved.at = made.at);
-- squawk-ignore ban-drop-table
drop table moved_attempts;

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
create trigger webhook_changed before insert or update of url, types, status, key_id, with_orders, suspended, removed_at on webhooks
  for each row execute function webhook_changed();

create function client_suspended() returns trigger language plpgsql as $$
begin
  update webhooks set suspended = new.suspended_at is not null where client_id = new.id and removed_at is null;
  return null;
end
$$;
create trigger client_suspended after update of suspended_at on clients
  for each row when (old.suspended_at is distinct from new.suspended_at) execute function client_suspended();

-- Until the processes of the release before are gone: they queue nothing but tests, and lease nothing more. They can't replay: that is
-- an error which they report as 503, so that the caller tries again.
create function freeze_old_delivery() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if new.position is null then return new; end if;
    -- The publisher has written the feed's row in this transaction.
    if exists (select from feed where xmin = pg_current_xact_id()::xid) then return null; end if;
  elsif new.lease <> old.lease then
    return null;
  elsif old.leased_until is not null then
    return new;
  elsif new.status = old.status and new.attempt_count = old.attempt_count then
    return null;
  end if;
  raise exception 'deliveries are replayed by processes of this release only' using errcode = 'query_canceled';
end
$$;
create trigger freeze_old_delivery before insert or update on deliveries for each row execute function freeze_old_delivery();

-- Their tests are sent, and the results of what they had leased count. After the statement, which may change the same endpoint.
create function forward_old_delivery() returns trigger language plpgsql as $$
declare
  forwarded_id bigint := coalesce(new.position, 1000000000000000 + new.id);
begin
  if tg_op = 'INSERT' then
    insert into delivery_exceptions (webhook_id, delivery_id) values (new.webhook_id, forwarded_id);
  elsif new.status = 'delivered' and new.position is not null then
    delete from delivery_exceptions
      where webhook_id = new.webhook_id and delivery_id = forwarded_id and status = 'pending' and attempt_count = old.attempt_count;
  else
    update delivery_exceptions set status = new.status, attempt_count = new.attempt_count, retry_count = new.attempt_count,
        next_attempt_at = new.next_attempt_at, delivered_at = new.delivered_at
      where webhook_id = new.webhook_id and delivery_id = forwarded_id and status = 'pending' and attempt_count = old.attempt_count;
  end if;
  if new.status <> 'pending' then
    update delivery_exceptions set next_attempt_at = now() where next_attempt_at = 'infinity' and webhook_id = new.webhook_id
      and delivery_id = (select delivery_id from delivery_exceptions
        where webhook_id = new.webhook_id and pet_id = new.pet_id and status = 'pending' order by delivery_id limit 1);
  end if;
  update webhooks set is_changed = true, revision = revision + 1 where id = new.webhook_id;
  return null;
end
$$;
create trigger forward_old_delivery after insert or update on deliveries for each row execute function forward_old_delivery();

-- By then, the statement has counted the attempt.
create function forward_old_attempt() returns trigger language plpgsql as $$
begin
  insert into webhook_attempts (webhook_id, delivery_id, at, duration_ms, attempt, status, answer, error)
    select webhook_id, coalesce(position, 1000000000000000 + id), new.at, new.duration_ms, least(greatest(attempt_count, 1), 32767),
        new.status, case when new.status between 200 and 299 then null else new.answer end, new.error
      from deliveries where id = new.delivery_id;
  return null;
end
$$;
create trigger forward_old_attempt after insert on delivery_attempts for each row execute function forward_old_attempt();

-- Of this schema and no other: nobody can put a table of the same name before it.
do $$
declare
  name text;
begin
  foreach name in array array['webhook_changed()', 'client_suspended()', 'freeze_old_delivery()', 'forward_old_delivery()',
      'forward_old_attempt()'] loop
    execute format('alter function %s set search_path = %I, pg_temp', name, current_schema());
  end loop;
end
$$;
