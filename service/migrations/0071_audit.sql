-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Acts that change who may do what, limits, shelters and personal data: who, from where, what. Acts on animals, orders and applications
-- are in their history. No adopters' data. Rows are only added.
create table audit (
  id bigint generated always as identity,
  at timestamptz not null default clock_timestamp(),
  act text not null,
  target text not null,
  target_id bigint,
  -- Whose it is about, for that shelter's admins. Null: the store.
  shelter_id bigint,
  person_id bigint,
  client_id bigint,
  key_id bigint,
  -- Of a command.
  login text,
  host text,
  -- Of a request: IPv4 by /24, IPv6 by /48.
  network text,
  -- The listed fields of the target.
  before jsonb,
  after jsonb,
  constraint audit_has_author check (person_id is not null or key_id is not null or login is not null),
  constraint audit_has_origin check (network is not null or host is not null),
  constraint audit_values_are_few check (octet_length(before::text) <= 20000 and octet_length(after::text) <= 20000),
  constraint audit_pkey primary key (id, at)
) partition by range (at);
create index audit_by_target on audit (target, target_id, at, id);
create index audit_by_act on audit (act, at, id);
create index audit_by_shelter on audit (shelter_id, at, id);
create index audit_by_person on audit (person_id, at, id) where person_id is not null;
create index audit_by_time on audit (at, id);

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of the audit are only added' using errcode = 'insufficient_privilege';
end
$$;

-- When the last partition ends, and when the first begins.
create function audit_end() returns timestamptz stable language sql as $$
  select (max(to_date(right(relname, 6), 'YYYYMM')) + interval '1 month') at time zone 'utc'
    from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = 'audit'::regclass
$$;
create function audit_start() returns timestamptz stable language sql as $$
  select min(to_date(right(relname, 6), 'YYYYMM'))::timestamp at time zone 'utc'
    from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = 'audit'::regclass
$$;

-- The partitions of this month and the next three, as for the history.
create function make_audit_partitions() returns bigint language plpgsql security definer as $$
declare
  month date;
  name text;
  made bigint := 0;
begin
  -- Several workers may be at it.
  perform pg_advisory_xact_lock(hashtextextended('make_audit_partitions', 0));
  month := coalesce(audit_end() at time zone 'utc', date_trunc('month', now() at time zone 'utc'));
  while month <= date_trunc('month', now() at time zone 'utc') + interval '3 months' loop
    name := 'audit_' || to_char(month, 'YYYYMM');
    execute format('create table %I (like audit including all excluding identity)
      with (autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05)', name);
    -- Of each partition, too: that of the table does not run for a statement that names its partition.
    execute format('create trigger rows_are_only_added before update or delete or truncate on %I
      for each statement execute function refuse_audit_change()', name);
    execute format('alter table audit attach partition %I for values from (%L) to (%L)',
      name, month::timestamp at time zone 'utc', (month + interval '1 month') at time zone 'utc');
    month := month + interval '1 month';
    made := made + 1;
  end loop;
  return made;
end
$$;

-- Whole months that ended longer ago than this. Not less than a year: a process that was taken over can't remove what it has just done.
create function drop_audit_partitions(days integer) returns bigint language plpgsql security definer as $$
declare
  name text;
  dropped bigint := 0;
begin
  if days < 365 then raise exception 'the audit is kept for a year at least' using errcode = 'insufficient_privilege'; end if;
  perform pg_advisory_xact_lock(hashtextextended('make_audit_partitions', 0));
  for name in
    select relname from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = 'audit'::regclass
      and (to_date(right(relname, 6), 'YYYYMM') + interval '1 month') at time zone 'utc' < now() - make_interval(days => days)
  loop
    execute format('drop table %I', name);
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
  foreach name in array array['audit_end()', 'audit_start()', 'make_audit_partitions()', 'drop_audit_partitions(integer)'] loop
    execute format('alter function %s set search_path = %I, pg_temp', name, current_schema());
    execute format('revoke execute on function %s from public', name);
    execute format('grant execute on function %s to homeward_app', name);
  end loop;
end
$$;
select make_audit_partitions();
create trigger rows_are_only_added before update or delete or truncate on audit
  for each statement execute function refuse_audit_change();
grant select, insert on audit to homeward_app;
