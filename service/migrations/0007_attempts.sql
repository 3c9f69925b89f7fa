-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- The attempts of the last 30 days. In a large store this takes a while, and locks nothing: the release before goes on meanwhile. The
-- attempts that it makes from here on are moved by the next migration, which needs to know where this one has ended.
create table moved_attempts (up_to bigint not null);
insert into moved_attempts select coalesce(max(id), 0) from delivery_attempts;

select make_attempt_partitions(30);
-- `attempt` is right for the last attempt, and for those since the last replay.
insert into webhook_attempts (webhook_id, delivery_id, at, duration_ms, attempt, status, answer, error)
  select webhook_id, coalesce(position, 1000000000000000 + deliveries.id), old.at, duration_ms,
      least(greatest(attempt_count + 1 - row_number() over (partition by delivery_id order by old.id desc), 1), 32767), old.status,
      case when old.status between 200 and 299 then null else answer end, error
    from delivery_attempts as old join deliveries on deliveries.id = delivery_id, moved_attempts
    where old.id <= up_to
      and old.at >= ((now() at time zone 'utc')::date - 30)::timestamp at time zone 'utc'
      and old.at < ((now() at time zone 'utc')::date + 3)::timestamp at time zone 'utc';
