-- release: 1.0.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

create type plan as enum ('free', 'pro', 'business', 'enterprise');

-- Who calls the API: partners, and one for the staff of each shelter (staff_clients). Limits are counted for a client.
-- Owner: access. Rows stay, also of suspended ones: the history names them, and so rows of many tables need no foreign key.
create table clients (
  id bigint generated always as identity primary key,
  name text not null unique check (char_length(name) between 1 and 200),
  plan plan not null,
  -- What an enterprise client has agreed on.
  -- squawk-ignore prefer-bigint-over-int
  per_minute integer check (per_minute > 0),
  -- squawk-ignore prefer-bigint-over-int
  per_day integer check (per_day > 0),
  created_at timestamptz not null default now(),
  -- A suspended client's keys are rejected, its endpoints get nothing.
  suspended_at timestamptz,
  -- Bounds that an enterprise client has to itself; null: the plan's.
  -- squawk-ignore prefer-bigint-over-int
  open_orders_max integer check (open_orders_max > 0),
  -- squawk-ignore prefer-bigint-over-int
  new_categories_max integer check (new_categories_max > 0),
  -- The last transaction that changed the client or one of its keys: a process looks here for what it must not use from its cache any
  -- more. By triggers, so that changes by hand are found too.
  changed_in xid8 not null default '0',
  constraint clients_limits_only_for_enterprise
    check ((plan = 'enterprise') = (per_minute is not null) and (per_minute is null) = (per_day is null)),
  constraint clients_bounds_only_for_enterprise
    check (plan = 'enterprise' or (open_orders_max is null and new_categories_max is null))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create index clients_by_suspension on clients (suspended_at) where suspended_at is not null;
-- For the check that every busy process makes many times a second.
create index clients_by_change on clients (changed_in);

-- The keys of clients.
-- Owner: access. Rows stay, also of ended ones: the history names them.
create table api_keys (
  id bigint generated always as identity primary key,
  client_id bigint not null references clients,
  -- SHA-256 of the whole key: a leaked dump must not yield usable keys.
  hash bytea not null unique check (octet_length(hash) = 32),
  hint text not null,
  scopes text[] not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  replaced_by bigint references api_keys,
  -- What a bound key adds belongs to its shelter. Null: the key is not bound.
  shelter_id bigint references shelters,
  constraint api_keys_manage_their_shelter check (not 'shelter:manage' = any (scopes) or shelter_id is not null)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create index api_keys_by_client on api_keys (client_id, id);
-- By these a process that serves streams finds the keys that have just ended, whatever the number of keys.
create index api_keys_by_revocation on api_keys (revoked_at) where revoked_at is not null;
create index api_keys_by_expiry on api_keys (expires_at) where expires_at is not null;

create function note_client_change() returns trigger language plpgsql as $$
begin
  new.changed_in := pg_current_xact_id();
  return new;
end
$$;
create trigger note_change before update on clients for each row execute function note_client_change();

create function note_key_change() returns trigger language plpgsql as $$
begin
  -- Once for each transaction, however many keys it changes.
  update clients set changed_in = pg_current_xact_id() where id = old.client_id and changed_in <> pg_current_xact_id();
  return null;
end
$$;
create trigger note_change after update or delete on api_keys for each row execute function note_key_change();

-- Read by each transaction that acts for a key: null while its authority holds, else a word that says why not. Null key: none acts. In a
-- function, so that each connection plans it once, also where it is called by a text that is not prepared.
create function ended_key(key bigint) returns text language plpgsql stable strict as $$
begin
  return nullif(coalesce((select case when revoked_at is not null then 'api_key_revoked' when expires_at <= now() then 'api_key_expired'
      when suspended_at is not null then 'client_suspended' else '' end
    from api_keys join clients on clients.id = client_id where api_keys.id = key), 'api_key_revoked'), '');
end $$;

-- How often each key was used (docs/adr/0038-usage.md): a row for an hour, with a count for each of its minutes, since a row for each
-- minute would take several times the space. No foreign key to api_keys: each check would lock the key's row.
-- Owner: access. A partition a day, which is dropped after 30 days.
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
-- Owner: access. A row goes a day after its process has written last.
create table usage_writers (
  process_id uuid primary key,
  batch bigint not null,
  written_at timestamptz not null default now()
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

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
      execute format('create table %I (like key_usage including all)
        with (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05)', name);
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

grant select, insert, update on clients, api_keys, key_usage to homeward_app;
grant select, insert, update, delete on usage_writers to homeward_app;
grant select on sequence clients_id_seq, api_keys_id_seq to homeward_app;
grant execute on function make_usage_partitions(), drop_usage_partitions(interval) to homeward_app;
