-- The end of the 81 migrations from before 1.0.0, as `pg_dump --schema-only` shows it, and the rows that they have added. A store that
-- has exactly these is taken over: service/src/operations/doctor/earlier-store.ts. It goes with the first release after 1.0.0.
do $$ begin create role homeward_app nologin; exception when duplicate_object or unique_violation then null; end $$;
set check_function_bodies = off;
CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;
CREATE EXTENSION IF NOT EXISTS unaccent WITH SCHEMA public;
CREATE TYPE application_status AS ENUM ('unconfirmed', 'submitted', 'reviewing', 'accepted', 'completed', 'declined', 'withdrawn', 'closed');
CREATE TYPE delivery_status AS ENUM ('pending', 'delivered', 'failed');
CREATE TYPE order_status AS ENUM ('placed', 'approved', 'completed', 'cancelled', 'expired', 'returned');
CREATE TYPE pet_status AS ENUM ('available', 'pending', 'sold');
CREATE TYPE plan AS ENUM ('free', 'pro', 'business', 'enterprise');
CREATE TYPE webhook_status AS ENUM ('enabled', 'disabled');
CREATE FUNCTION audit_end() RETURNS timestamp with time zone
    LANGUAGE sql STABLE
    SET search_path TO 'public', 'pg_temp'
    AS $$
  select (max(to_date(right(relname, 6), 'YYYYMM')) + interval '1 month') at time zone 'utc'
    from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = 'audit'::regclass
$$;
CREATE FUNCTION audit_start() RETURNS timestamp with time zone
    LANGUAGE sql STABLE
    SET search_path TO 'public', 'pg_temp'
    AS $$
  select min(to_date(right(relname, 6), 'YYYYMM'))::timestamp at time zone 'utc'
    from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = 'audit'::regclass
$$;
CREATE FUNCTION client_suspended() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  update webhooks set suspended = new.suspended_at is not null where client_id = new.id and removed_at is null;
  return null;
end
$$;
CREATE FUNCTION copy_pet_to_profile() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  update profiles set shelter_id = new.shelter_id, removed_at = new.removed_at where pet_id = new.id;
  return null;
end
$$;
CREATE FUNCTION count_photo_bytes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
declare
  before bigint := 0;
  after bigint := 0;
  unused_bytes bigint := 0;
  unused text[];
begin
  if tg_op <> 'INSERT' then
    before := case when old.status = 'processing' then coalesce(old.original_bytes, 0) else 0 end + coalesce(old.pictures_bytes, 0);
    unused := array(select 'photos/' || (file ->> 'hash') || '.webp' from jsonb_array_elements(old.files) as file);
  end if;
  -- Its files stay, and still count. The row of the client is not locked: staff that removes an animal doesn't wait for its client.
  if tg_op = 'DELETE' then
    if old.status = 'processing' then
      unused := unused || old.original_name;
    end if;
    if before > 0 or unused <> '{}' then
      insert into removed_photo_bytes (client_id, bytes, files) values (old.client_id, before, unused);
    end if;
    return null;
  end if;
  after := case when new.status = 'processing' then coalesce(new.original_bytes, 0) else 0 end + coalesce(new.pictures_bytes, 0);
  if tg_op = 'UPDATE' then
    unused := array(select name from unnest(unused) as name where name not in
      (select 'photos/' || (file ->> 'hash') || '.webp' from jsonb_array_elements(new.files) as file));
    -- The worker deletes the original of a processed photo itself, so it no longer counts. It is here in case that the worker is killed.
    if old.status = 'processing' and (new.status <> 'processing' or new.original_name <> old.original_name) then
      unused := unused || old.original_name;
    end if;
    -- Pictures that the photo does not name any more stay, and still count.
    if old.pictures_bytes > 0 and new.pictures_bytes is distinct from old.pictures_bytes then
      unused_bytes := old.pictures_bytes;
      before := before - unused_bytes;
    end if;
    if unused_bytes > 0 or unused <> '{}' then
      insert into removed_photo_bytes (client_id, bytes, files) values (old.client_id, unused_bytes, unused);
    end if;
  end if;
  insert into photo_storage as stored (client_id, bytes)
    select client_id, sum(bytes) from (values (coalesce(old.client_id, new.client_id), -before), (new.client_id, after)) as part (client_id, bytes)
      group by client_id having sum(bytes) <> 0 order by client_id
    on conflict (client_id) do update set bytes = stored.bytes + excluded.bytes;
  return null;
end $$;
CREATE FUNCTION current_server() RETURNS text
    LANGUAGE sql STABLE
    AS $$
  select (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
    || '/' || (select oid from pg_database where datname = current_database()) || '/' || 'feed'::regclass::oid
$$;
CREATE FUNCTION distance_km(latitude_a double precision, longitude_a double precision, latitude_b double precision, longitude_b double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select 12742 * asin(sqrt(least(1.0,
    sin(radians(latitude_b - latitude_a) / 2) ^ 2
    + cos(radians(latitude_a)) * cos(radians(latitude_b)) * sin(radians(longitude_b - longitude_a) / 2) ^ 2)))
$$;
CREATE FUNCTION drop_attempt_partitions(kept interval) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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
CREATE FUNCTION drop_audit_partitions(days integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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
CREATE FUNCTION drop_event_partitions(kept interval) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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
CREATE FUNCTION drop_usage_partitions(kept interval) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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
CREATE FUNCTION ended_key(key bigint) RETURNS text
    LANGUAGE plpgsql STABLE STRICT
    AS $$
begin
  return nullif(coalesce((select case when revoked_at is not null then 'api_key_revoked' when expires_at <= now() then 'api_key_expired'
      when suspended_at is not null then 'client_suspended' else '' end
    from api_keys join clients on clients.id = client_id where api_keys.id = key), 'api_key_revoked'), '');
end $$;
CREATE FUNCTION ended_session(session bigint, held_role text, held_shelter bigint) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
begin
  return nullif(coalesce((select case when role <> held_role or coalesce(people.shelter_id, 0) <> held_shelter then 'changed'
      when suspended_at is not null and people.shelter_id is not null then 'suspended' else '' end
    from sessions join people on people.id = person_id join staff_clients on staff_clients.shelter_id = coalesce(people.shelter_id, 0)
      join clients on clients.id = client_id
    where sessions.id = session and removed_at is null and sessions.expires_at > now()), 'ended'), '');
end $$;
CREATE FUNCTION forget_recipient() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  new.recipient := null;
  return new;
end
$$;
CREATE FUNCTION has_unsettled_applications(pet bigint) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  return exists (
    select from applications
      join pets on pets.id = applications.pet_id
      left join orders on orders.id = applications.order_id
    where applications.pet_id = pet and applications.status in ('submitted', 'reviewing', 'accepted') and case applications.status
      when 'accepted' then orders.status not in ('placed', 'approved')
      when 'submitted' then pets.removed_at is not null or pets.status = 'sold'
      when 'reviewing' then pets.removed_at is not null or pets.status = 'sold'
      else false end);
end
$$;
CREATE FUNCTION history_end() RETURNS timestamp with time zone
    LANGUAGE sql STABLE
    SET search_path TO 'public', 'pg_temp'
    AS $$
  select max(to_date(right(relname, 6), 'YYYYMM') + case when relname like 'history\_until\_%' then interval '0' else interval '1 month' end) at time zone 'utc'
    from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = 'history'::regclass
$$;
CREATE FUNCTION history_of_held_pet() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  if exists (select from pets where id = new.pet_id and hold is not null and status = 'pending') then
    new.to_status := 'pending';
  end if;
  return new;
end
$$;
CREATE FUNCTION is_word_of_animal(asked text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET enable_indexscan TO 'off'
    SET enable_indexonlyscan TO 'off'
    SET enable_seqscan TO 'off'
    AS $$
declare
  query constant tsquery := plainto_tsquery('listings', asked);
begin
  return exists (select from listings where document @@ query)
    or exists (select from pets where removed_at is null and to_tsvector('listings', name) @@ query);
end
$$;
CREATE FUNCTION keep_listing_of_pet() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  if (old.name, old.category_id, old.shelter_id, old.removed_at)
    is not distinct from (new.name, new.category_id, new.shelter_id, new.removed_at)
  then
    update listings set status = new.status where id = new.id;
  elsif exists (select from profiles where pet_id = new.id) then
    perform refresh_listing(new.id);
  end if;
  return null;
end
$$;
CREATE FUNCTION keep_listing_of_profile() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
  animal bigint := coalesce(new.pet_id, old.pet_id);
begin
  -- A change of the animal that is not committed yet is waited for. One that comes later waits for this transaction.
  perform from pets where id = animal for share;
  perform refresh_listing(animal);
  return null;
end
$$;
CREATE FUNCTION listing_breed(breed text) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select btrim(regexp_replace(lower(unaccent(breed)), '[\s''\\]+', ' ', 'g'))
$$;
CREATE FUNCTION listing_place(place text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'public', 'pg_temp'
    AS $$
  select btrim(regexp_replace(lower(unaccent(place)), '[^[:alnum:]]+', ' ', 'g'))
$$;
CREATE FUNCTION make_attempt_partitions(days_back bigint DEFAULT 0) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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
CREATE FUNCTION make_audit_partitions() RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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
CREATE FUNCTION make_event_partitions() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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
CREATE FUNCTION make_history_partitions() RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
  month date;
  name text;
  made bigint := 0;
begin
  -- Several workers may be at it.
  perform pg_advisory_xact_lock(hashtextextended('make_history_partitions', 0));
  month := history_end() at time zone 'utc';
  while month <= date_trunc('month', now() at time zone 'utc') + interval '3 months' loop
    name := 'history_' || to_char(month, 'YYYYMM');
    -- Rows are only added, so that nothing else makes autovacuum mark pages as visible and gather statistics.
    execute format('create table %I (like history including all excluding identity)
      with (autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05)', name);
    execute format('alter table history attach partition %I for values from (%L) to (%L)',
      name, month::timestamp at time zone 'utc', (month + interval '1 month') at time zone 'utc');
    month := month + interval '1 month';
    made := made + 1;
  end loop;
  return made;
end
$$;
CREATE FUNCTION make_usage_partitions() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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
CREATE FUNCTION note_client_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  new.changed_in := pg_current_xact_id();
  return new;
end
$$;
CREATE FUNCTION note_key_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  -- Once for each transaction, however many keys it changes.
  update clients set changed_in = pg_current_xact_id() where id = old.client_id and changed_in <> pg_current_xact_id();
  return null;
end
$$;
CREATE FUNCTION note_unsettled_applications() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
  pet bigint := case when tg_table_name = 'orders' then (to_jsonb(new) ->> 'pet_id')::bigint else new.id end;
begin
  if has_unsettled_applications(pet) then
    insert into unsettled_applications (pet_id) values (pet) on conflict do nothing;
  end if;
  return null;
end
$$;
CREATE FUNCTION order_erased() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  update applications set adopter_name = null, adopter_email = null, adopter_address = null, adopter_phone = null, answers = null,
      note = null, message = null
    where order_id = new.id and status in ('accepted', 'completed');
  return null;
end
$$;
CREATE FUNCTION order_placed() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  new.shelter_id := coalesce((select shelter_id from pets where id = new.pet_id), 1);
  return new;
end
$$;
CREATE FUNCTION order_told() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  if new.shelter_id is null then
    select shelter_id, category_id into new.shelter_id, new.category_id from pets where id = new.pet_id;
  end if;
  if new.type = 'pet.moved' then new.previous_shelter_id := (new.data::json ->> 'previousShelterId')::bigint; end if;
  if new.type = 'pet.updated' then new.previous_category_id := (new.data::json ->> 'previousCategoryId')::bigint; end if;
  return new;
end
$$;
CREATE FUNCTION pet_moved() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  update orders set shelter_id = new.shelter_id where pet_id = new.id;
  update applications set shelter_id = new.shelter_id, note = null
    where pet_id = new.id and status in ('unconfirmed', 'submitted', 'reviewing', 'accepted');
  return null;
end
$$;
CREATE FUNCTION pet_placed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  new.client_id := null;
  return new;
end
$$;
CREATE FUNCTION pet_stays_held() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  if new.removed_at is not null then
    new.hold := null;
    new.hold_reason := null;
    new.hold_until := null;
    new.hold_note := null;
    new.hold_releases := null;
  elsif new.status = 'sold' then
    new.hold_until := least(new.hold_until, now());
  elsif new.status = 'available' and new.hold_until <= now() then
    new.hold_releases := false;
  elsif new.status = 'available' then
    new.status := 'pending';
    new.hold_releases := true;
  end if;
  return new;
end
$$;
CREATE FUNCTION refill_listings(animals_max integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
  refill listing_refill;
  animal bigint;
  looked_at integer := 0;
begin
  select * into refill from listing_refill for update skip locked;
  if not found or refill.refilled_to >= refill.refill_until then return 0; end if;
  for animal in
    select pet_id from profiles where pet_id > refill.refilled_to and pet_id <= refill.refill_until order by pet_id limit animals_max
  loop
    looked_at := looked_at + 1;
    refill.refilled_to := animal;
    -- A change that is not committed yet is waited for, in the order in which writers lock. One that comes later waits for this.
    perform from pets where id = animal for share;
    perform from profiles
      where pet_id = animal and (colors <> '{}' or concat(breed_primary, breed_secondary) like '%/%') for no key update;
    if found then perform refresh_listing(animal); end if;
  end loop;
  if looked_at < animals_max then refill.refilled_to := refill.refill_until; end if;
  update listing_refill set refilled_to = refill.refilled_to;
  return greatest(looked_at, 1);
end
$$;
CREATE FUNCTION refresh_listing(animal bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  insert into listings select * from listings_computed where id = animal
    on conflict (id) do update set shelter_id = excluded.shelter_id, category_id = excluded.category_id, status = excluded.status,
      breeds = excluded.breeds, birth_date = excluded.birth_date, sex = excluded.sex, size = excluded.size, coat = excluded.coat,
      good_with = excluded.good_with, document = excluded.document, colors = excluded.colors;
  if not found then delete from listings where id = animal; end if;
end
$$;
CREATE FUNCTION refuse_audit_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  raise exception 'rows of the audit are only added' using errcode = 'insufficient_privilege';
end
$$;
CREATE FUNCTION remove_photos_of_pet() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  delete from photos where pet_id = new.id;
  return null;
end $$;
CREATE FUNCTION shelter_added() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  insert into confirmed_shelters (shelter_id, name, email, phone, website, address, town, postcode)
    values (new.id, new.name, new.email, new.phone, new.website, new.address, new.town, new.postcode);
  return null;
end
$$;
CREATE FUNCTION skip_ids() RETURNS void
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION skip_lost_ids() RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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
CREATE FUNCTION webhook_changed() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
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
CREATE TEXT SEARCH CONFIGURATION listings (PARSER = pg_catalog."default");
ALTER TEXT SEARCH CONFIGURATION listings ADD MAPPING FOR asciiword WITH simple;
ALTER TEXT SEARCH CONFIGURATION listings ADD MAPPING FOR word WITH unaccent, simple;
ALTER TEXT SEARCH CONFIGURATION listings ADD MAPPING FOR numword WITH unaccent, simple;
ALTER TEXT SEARCH CONFIGURATION listings ADD MAPPING FOR hword_numpart WITH unaccent, simple;
ALTER TEXT SEARCH CONFIGURATION listings ADD MAPPING FOR hword_part WITH unaccent, simple;
ALTER TEXT SEARCH CONFIGURATION listings ADD MAPPING FOR hword_asciipart WITH simple;
ALTER TEXT SEARCH CONFIGURATION listings ADD MAPPING FOR "int" WITH simple;
ALTER TEXT SEARCH CONFIGURATION listings ADD MAPPING FOR uint WITH simple;
CREATE TABLE adopter_links (application_id bigint NOT NULL, number bigint NOT NULL, act text NOT NULL, asked_at timestamp with time zone DEFAULT now() NOT NULL, ends_at timestamp with time zone, used_at timestamp with time zone, CONSTRAINT adopter_links_act CHECK ((act = ANY (ARRAY['withdraw'::text, 'erase'::text]))), CONSTRAINT adopter_links_number CHECK ((number > 0))) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02', vacuum_index_cleanup='on');
CREATE TABLE animal_words (pet_id bigint NOT NULL, word text NOT NULL, client_id bigint NOT NULL, is_trusted boolean NOT NULL) WITH (autovacuum_vacuum_scale_factor='0.05');
CREATE TABLE api_keys (id bigint NOT NULL, client_id bigint NOT NULL, hash bytea NOT NULL, hint text NOT NULL, scopes text[] NOT NULL, created_at timestamp with time zone DEFAULT now() NOT NULL, expires_at timestamp with time zone, revoked_at timestamp with time zone, replaced_by bigint, shelter_id bigint, CONSTRAINT api_keys_hash_check CHECK ((octet_length(hash) = 32)), CONSTRAINT api_keys_manage_their_shelter CHECK (((NOT ('shelter:manage'::text = ANY (scopes))) OR (shelter_id IS NOT NULL)))) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
ALTER TABLE api_keys ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME api_keys_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE application_counts (client_id bigint NOT NULL, open_at_most bigint NOT NULL, unconfirmed_at_most bigint NOT NULL, day date NOT NULL, confirmations bigint NOT NULL) WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='500');
CREATE TABLE application_history (application_id bigint NOT NULL, id bigint NOT NULL, order_id bigint, client_id bigint, key_id bigint, at timestamp with time zone DEFAULT clock_timestamp() NOT NULL, from_status text, to_status text NOT NULL, by text NOT NULL, why text NOT NULL, person_id bigint) WITH (autovacuum_vacuum_insert_scale_factor='0.1', autovacuum_analyze_scale_factor='0.05');
ALTER TABLE application_history ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME application_history_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE applications (id bigint NOT NULL, client_id bigint NOT NULL, pet_id bigint NOT NULL, shelter_id bigint NOT NULL, order_id bigint, created_at timestamp with time zone DEFAULT now() NOT NULL, updated_at timestamp with time zone DEFAULT now() NOT NULL, acted_at timestamp with time zone DEFAULT now() NOT NULL, status application_status NOT NULL, is_mailed boolean NOT NULL, is_confirmed boolean DEFAULT false NOT NULL, closed_reason text, adopter_name text, adopter_email text, adopter_address text, adopter_phone text, answers text, note text, message text, is_entered boolean DEFAULT false NOT NULL, link_number bigint DEFAULT 0 NOT NULL, reopen_until timestamp with time zone, CONSTRAINT applications_accepted_with_order CHECK (((status <> ALL (ARRAY['accepted'::application_status, 'completed'::application_status])) OR (order_id IS NOT NULL))), CONSTRAINT applications_closed_with_reason CHECK (((status = 'closed'::application_status) = (closed_reason IS NOT NULL))), CONSTRAINT applications_open_with_adopter CHECK (((status <> ALL (ARRAY['unconfirmed'::application_status, 'submitted'::application_status, 'reviewing'::application_status])) OR ((adopter_address IS NOT NULL) AND (answers IS NOT NULL))))) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02', vacuum_index_cleanup='on');
ALTER TABLE applications ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME applications_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE audit (id bigint NOT NULL, at timestamp with time zone DEFAULT clock_timestamp() NOT NULL, act text NOT NULL, target text NOT NULL, target_id bigint, shelter_id bigint, person_id bigint, client_id bigint, key_id bigint, login text, host text, network text, before jsonb, after jsonb, CONSTRAINT audit_has_author CHECK (((person_id IS NOT NULL) OR (key_id IS NOT NULL) OR (login IS NOT NULL))), CONSTRAINT audit_has_origin CHECK (((network IS NOT NULL) OR (host IS NOT NULL))), CONSTRAINT audit_values_are_few CHECK (((octet_length((before)::text) <= 20000) AND (octet_length((after)::text) <= 20000)))) PARTITION BY RANGE (at);
CREATE TABLE audit_counts (author text NOT NULL, day date NOT NULL, count bigint NOT NULL, CONSTRAINT audit_counts_author CHECK ((author ~ '^[pk][0-9]+$'::text))) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
ALTER TABLE audit ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME audit_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE bulk_ended (bulk_end_id bigint NOT NULL, application_id bigint NOT NULL, is_reopened boolean DEFAULT false NOT NULL, failure text) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
CREATE TABLE bulk_ends (id bigint NOT NULL, client_id bigint NOT NULL, pet_id bigint, shelter_id bigint, by_client_id bigint, by_person_id bigint, created_at timestamp with time zone DEFAULT now() NOT NULL, until_id bigint NOT NULL, found bigint NOT NULL, state text DEFAULT 'ending'::text NOT NULL, changed_at timestamp with time zone DEFAULT now() NOT NULL, last_id bigint DEFAULT 0 NOT NULL, ended bigint DEFAULT 0 NOT NULL, reopened bigint DEFAULT 0 NOT NULL, taken_back_at timestamp with time zone, back_client_id bigint, back_person_id bigint, worked_at timestamp with time zone DEFAULT now() NOT NULL, CONSTRAINT bulk_ends_state CHECK ((state = ANY (ARRAY['ending'::text, 'reopening'::text, 'held'::text, 'telling'::text, 'done'::text])))) WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='500');
ALTER TABLE bulk_ends ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME bulk_ends_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE categories (id bigint NOT NULL, name text, created_at timestamp with time zone DEFAULT now() NOT NULL) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
CREATE TABLE category_registrations (client_id bigint NOT NULL, day date NOT NULL, count bigint NOT NULL, CONSTRAINT category_registrations_count_check CHECK ((count > 0))) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
CREATE TABLE clients (id bigint NOT NULL, name text NOT NULL, plan plan NOT NULL, per_minute integer, per_day integer, created_at timestamp with time zone DEFAULT now() NOT NULL, suspended_at timestamp with time zone, open_orders_max integer, new_categories_max integer, changed_in xid8 DEFAULT '0'::xid8 NOT NULL, CONSTRAINT clients_bounds_only_for_enterprise CHECK (((plan = 'enterprise'::plan) OR ((open_orders_max IS NULL) AND (new_categories_max IS NULL)))), CONSTRAINT clients_limits_only_for_enterprise CHECK ((((plan = 'enterprise'::plan) = (per_minute IS NOT NULL)) AND ((per_minute IS NULL) = (per_day IS NULL)))), CONSTRAINT clients_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200))), CONSTRAINT clients_new_categories_max_check CHECK ((new_categories_max > 0)), CONSTRAINT clients_open_orders_max_check CHECK ((open_orders_max > 0)), CONSTRAINT clients_per_day_check CHECK ((per_day > 0)), CONSTRAINT clients_per_minute_check CHECK ((per_minute > 0))) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
ALTER TABLE clients ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME clients_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE confirmed_shelters (shelter_id bigint NOT NULL, name text, email text, phone text, website text, address text, town text, postcode text) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
CREATE TABLE delivery_exceptions (webhook_id bigint NOT NULL, delivery_id bigint NOT NULL, pet_id bigint, created_at timestamp with time zone DEFAULT now() NOT NULL, next_attempt_at timestamp with time zone DEFAULT now() NOT NULL, delivered_at timestamp with time zone, attempt_count bigint DEFAULT 0 NOT NULL, retry_count bigint DEFAULT 0 NOT NULL, status delivery_status DEFAULT 'pending'::delivery_status NOT NULL, is_replay boolean DEFAULT false NOT NULL) WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.02');
CREATE TABLE deployment (one boolean DEFAULT true NOT NULL, id text DEFAULT substr(replace((gen_random_uuid())::text, '-'::text, ''::text), 1, 12) NOT NULL, server text, ids_server text, photos_id text DEFAULT (gen_random_uuid())::text NOT NULL, photos_marked_at timestamp with time zone, journal text, journal_since timestamp with time zone, secret bytea DEFAULT sha256(((uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())) || uuid_send(gen_random_uuid()))) NOT NULL, CONSTRAINT deployment_one_check CHECK (one), CONSTRAINT deployment_secret_is_whole CHECK ((octet_length(secret) = 32))) WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='500');
CREATE TABLE events ("position" bigint NOT NULL, published_at timestamp with time zone DEFAULT now() NOT NULL, type text NOT NULL, pet_id bigint NOT NULL, client_id bigint, at timestamp with time zone NOT NULL, data text NOT NULL, shelter_id bigint, category_id bigint, previous_shelter_id bigint, previous_category_id bigint) PARTITION BY RANGE (published_at);
CREATE TABLE failed_sign_ins (hour timestamp with time zone NOT NULL, kind text NOT NULL, network text NOT NULL, count bigint NOT NULL, CONSTRAINT failed_sign_ins_kind_length CHECK (((char_length(kind) >= 1) AND (char_length(kind) <= 40))), CONSTRAINT failed_sign_ins_network_length CHECK (((char_length(network) >= 1) AND (char_length(network) <= 50)))) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02', vacuum_index_cleanup='on');
CREATE TABLE feed (one boolean DEFAULT true NOT NULL, first_position bigint DEFAULT 1 NOT NULL, last_position bigint DEFAULT 0 NOT NULL, published_to bigint DEFAULT 0 NOT NULL, server text, gaps int8multirange DEFAULT '{}'::int8multirange NOT NULL, CONSTRAINT feed_one_check CHECK (one)) WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='500');
CREATE TABLE form_results (person_id bigint NOT NULL, form_id bytea NOT NULL, content bytea NOT NULL, location text DEFAULT ''::text NOT NULL, message text, created_at timestamp with time zone DEFAULT now() NOT NULL, CONSTRAINT form_results_content CHECK ((octet_length(content) = 32)), CONSTRAINT form_results_form_id CHECK ((octet_length(form_id) = 16)), CONSTRAINT form_results_location CHECK ((char_length(location) <= 2000)), CONSTRAINT form_results_message CHECK ((char_length(message) <= 1000))) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02', vacuum_index_cleanup='on');
CREATE TABLE history (id bigint NOT NULL, pet_id bigint NOT NULL, order_id bigint, client_id bigint, key_id bigint, at timestamp with time zone DEFAULT clock_timestamp() NOT NULL, from_status text, to_status text NOT NULL, why text NOT NULL, kind text, from_shelter_id bigint, to_shelter_id bigint, hold_reason text, hold_until timestamp with time zone, outcome text, person_id bigint, CONSTRAINT history_move_has_shelters CHECK (((kind <> 'pet_moved'::text) OR ((from_shelter_id IS NOT NULL) AND (to_shelter_id IS NOT NULL))))) PARTITION BY RANGE (at);
ALTER TABLE history ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME history_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE idempotent_answers (client_id bigint NOT NULL, key text NOT NULL, fingerprint text NOT NULL, created_at timestamp with time zone DEFAULT now() NOT NULL, order_id bigint, status integer NOT NULL, headers jsonb NOT NULL, body text NOT NULL, shelter_id bigint, application_id bigint, CONSTRAINT idempotent_answers_key_check CHECK (((char_length(key) >= 1) AND (char_length(key) <= 255))), CONSTRAINT idempotent_answers_status_check CHECK (((status >= 200) AND (status <= 299)))) WITH (autovacuum_vacuum_scale_factor='0.02', vacuum_index_cleanup='on');
CREATE TABLE identities (issuer text NOT NULL, subject text NOT NULL, person_id bigint NOT NULL, created_at timestamp with time zone DEFAULT now() NOT NULL, CONSTRAINT identities_issuer_length CHECK (((char_length(issuer) >= 1) AND (char_length(issuer) <= 2000))), CONSTRAINT identities_subject_length CHECK (((char_length(subject) >= 1) AND (char_length(subject) <= 255)))) WITH (autovacuum_vacuum_scale_factor='0.1', autovacuum_analyze_scale_factor='0.05');
CREATE TABLE key_usage (key_id bigint NOT NULL, hour timestamp with time zone NOT NULL, total bigint NOT NULL, kind text NOT NULL, name text NOT NULL, counts integer[] NOT NULL, CONSTRAINT key_usage_counts_check CHECK ((cardinality(counts) = 60)), CONSTRAINT key_usage_kind_check CHECK ((kind = ANY (ARRAY['request'::text, 'error'::text, 'deprecated'::text])))) PARTITION BY RANGE (hour);
CREATE TABLE listing_refill (refilled_to bigint NOT NULL, refill_until bigint NOT NULL) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
CREATE TABLE listings (id bigint NOT NULL, shelter_id bigint NOT NULL, category_id bigint NOT NULL, status pet_status NOT NULL, breeds text[] NOT NULL, birth_date date, sex text NOT NULL, size text, coat text, good_with text[] NOT NULL, document tsvector NOT NULL, colors text[] DEFAULT '{}'::text[] NOT NULL) WITH (fillfactor='75', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_insert_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
CREATE TABLE pets (id bigint NOT NULL, category_id bigint NOT NULL, created_at timestamp with time zone DEFAULT now() NOT NULL, updated_at timestamp with time zone DEFAULT now() NOT NULL, removed_at timestamp with time zone, status pet_status NOT NULL, name text NOT NULL, shelter_id bigint DEFAULT 1 NOT NULL, named_by bigint, client_id bigint, hold text, hold_reason text, hold_until timestamp with time zone, hold_note text, hold_releases boolean, undoable_until timestamp with time zone, CONSTRAINT pets_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200)))) WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_analyze_scale_factor='0.02', vacuum_index_cleanup='on');
CREATE TABLE profiles (pet_id bigint NOT NULL, shelter_id bigint NOT NULL, removed_at timestamp with time zone, created_at timestamp with time zone DEFAULT now() NOT NULL, updated_at timestamp with time zone DEFAULT now() NOT NULL, description text, breed_primary text, breed_secondary text, breed_mixed text DEFAULT 'unknown'::text NOT NULL, birth_date date, birth_date_is_exact boolean DEFAULT false NOT NULL, sex text DEFAULT 'unknown'::text NOT NULL, size text, weight_grams integer, colors text[] DEFAULT '{}'::text[] NOT NULL, coat text, good_with_children text DEFAULT 'unknown'::text NOT NULL, good_with_dogs text DEFAULT 'unknown'::text NOT NULL, good_with_cats text DEFAULT 'unknown'::text NOT NULL, spayed_neutered text DEFAULT 'unknown'::text NOT NULL, house_trained text DEFAULT 'unknown'::text NOT NULL, vaccinated text DEFAULT 'unknown'::text NOT NULL, special_needs text DEFAULT 'unknown'::text NOT NULL, fee_amount bigint, fee_currency text, bonded_with bigint[] DEFAULT '{}'::bigint[] NOT NULL, tags text[] DEFAULT '{}'::text[] NOT NULL, video_url text, arrived_on date, external_id text, attributes text, breeds_by bigint, CONSTRAINT profiles_attributes_check CHECK ((char_length(attributes) <= 120000)), CONSTRAINT profiles_bonded_with_check CHECK ((cardinality(bonded_with) <= 10)), CONSTRAINT profiles_breed_mixed_check CHECK ((breed_mixed = ANY (ARRAY['yes'::text, 'no'::text, 'unknown'::text]))), CONSTRAINT profiles_breed_primary_check CHECK (((char_length(breed_primary) >= 1) AND (char_length(breed_primary) <= 100))), CONSTRAINT profiles_breed_secondary_check CHECK (((char_length(breed_secondary) >= 1) AND (char_length(breed_secondary) <= 100))), CONSTRAINT profiles_coat_check CHECK ((coat = ANY (ARRAY['hairless'::text, 'short'::text, 'medium'::text, 'long'::text, 'wire'::text, 'curly'::text]))), CONSTRAINT profiles_colors_check CHECK ((cardinality(colors) <= 3)), CONSTRAINT profiles_description_check CHECK ((char_length(description) <= 8000)), CONSTRAINT profiles_external_id_check CHECK (((char_length(external_id) >= 1) AND (char_length(external_id) <= 100))), CONSTRAINT profiles_fee_amount_check CHECK (((fee_amount >= 0) AND (fee_amount <= '1000000000000'::bigint))), CONSTRAINT profiles_fee_currency_check CHECK ((fee_currency ~ '^[A-Z]{3}$'::text)), CONSTRAINT profiles_fee_is_whole CHECK (((fee_amount IS NULL) = (fee_currency IS NULL))), CONSTRAINT profiles_good_with_cats_check CHECK ((good_with_cats = ANY (ARRAY['yes'::text, 'no'::text, 'unknown'::text]))), CONSTRAINT profiles_good_with_children_check CHECK ((good_with_children = ANY (ARRAY['yes'::text, 'no'::text, 'unknown'::text]))), CONSTRAINT profiles_good_with_dogs_check CHECK ((good_with_dogs = ANY (ARRAY['yes'::text, 'no'::text, 'unknown'::text]))), CONSTRAINT profiles_house_trained_check CHECK ((house_trained = ANY (ARRAY['yes'::text, 'no'::text, 'unknown'::text]))), CONSTRAINT profiles_sex_check CHECK ((sex = ANY (ARRAY['male'::text, 'female'::text, 'unknown'::text]))), CONSTRAINT profiles_size_check CHECK ((size = ANY (ARRAY['small'::text, 'medium'::text, 'large'::text, 'extra_large'::text]))), CONSTRAINT profiles_spayed_neutered_check CHECK ((spayed_neutered = ANY (ARRAY['yes'::text, 'no'::text, 'unknown'::text]))), CONSTRAINT profiles_special_needs_check CHECK ((special_needs = ANY (ARRAY['yes'::text, 'no'::text, 'unknown'::text]))), CONSTRAINT profiles_tags_check CHECK ((cardinality(tags) <= 20)), CONSTRAINT profiles_vaccinated_check CHECK ((vaccinated = ANY (ARRAY['yes'::text, 'no'::text, 'unknown'::text]))), CONSTRAINT profiles_video_url_check CHECK ((char_length(video_url) <= 2000)), CONSTRAINT profiles_weight_grams_check CHECK (((weight_grams >= 1) AND (weight_grams <= 10000000)))) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
CREATE VIEW listings_computed AS SELECT pets.id, pets.shelter_id, pets.category_id, pets.status, lists.breeds, profiles.birth_date, profiles.sex, profiles.size, profiles.coat, lists.good_with, ((((setweight(to_tsvector('listings'::regconfig, pets.name), 'A'::"char") || setweight(to_tsvector('listings'::regconfig, translate(concat_ws(' '::text, profiles.breed_primary, profiles.breed_secondary), '/'::text, ' '::text)), 'B'::"char")) || setweight(to_tsvector('listings'::regconfig, ((array_to_string(profiles.tags, ' '::text) || ' '::text) || translate(array_to_string(profiles.colors, ' '::text), '/'::text, ' '::text))), 'C'::"char")) || setweight(to_tsvector('listings'::regconfig, COALESCE(profiles.description, ''::text)), 'D'::"char")) || array_to_tsvector(array_remove(((ARRAY[('category='::text || pets.category_id), ('shelter='::text || pets.shelter_id), ('sex='::text || profiles.sex), ('size='::text || profiles.size), ('coat='::text || profiles.coat), ('born='::text || GREATEST(EXTRACT(year FROM profiles.birth_date), (2000)::numeric))] || ARRAY(SELECT ('breed='::text || breed.breed) FROM unnest(lists.breeds) breed(breed))) || ARRAY(SELECT ('with='::text || companion.companion) FROM unnest(lists.good_with) companion(companion))), NULL::text))) AS document, lists.colors FROM ((pets JOIN profiles ON ((profiles.pet_id = pets.id))) CROSS JOIN LATERAL (SELECT ARRAY(SELECT DISTINCT listing_breed(breed.breed) AS listing_breed FROM unnest(ARRAY[profiles.breed_primary, profiles.breed_secondary]) breed(breed) WHERE (listing_breed(breed.breed) <> ''::text) ORDER BY (listing_breed(breed.breed))) AS breeds, array_remove(ARRAY[ CASE WHEN (profiles.good_with_children = 'yes'::text) THEN 'children'::text ELSE NULL::text END, CASE WHEN (profiles.good_with_dogs = 'yes'::text) THEN 'dogs'::text ELSE NULL::text END, CASE WHEN (profiles.good_with_cats = 'yes'::text) THEN 'cats'::text ELSE NULL::text END], NULL::text) AS good_with, ARRAY(SELECT DISTINCT listing_breed(color.color) AS listing_breed FROM unnest(profiles.colors) color(color) WHERE (listing_breed(color.color) <> ''::text) ORDER BY (listing_breed(color.color))) AS colors) lists) WHERE (pets.removed_at IS NULL);
CREATE TABLE mail (id bigint NOT NULL, kind text NOT NULL, subject_id bigint NOT NULL, is_single boolean NOT NULL, state text DEFAULT 'queued'::text NOT NULL, created_at timestamp with time zone DEFAULT now() NOT NULL, due_at timestamp with time zone NOT NULL, waiting_since timestamp with time zone NOT NULL, attempts bigint DEFAULT 0 NOT NULL, claim bigint, claimed_at timestamp with time zone, begun_at timestamp with time zone, is_counted boolean DEFAULT false NOT NULL, failure text, ended_at timestamp with time zone, recipient text, CONSTRAINT mail_has_ended CHECK (((state = 'queued'::text) = (ended_at IS NULL))), CONSTRAINT mail_state CHECK ((state = ANY (ARRAY['queued'::text, 'sent'::text, 'failed'::text, 'dropped'::text])))) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02', vacuum_index_cleanup='on');
CREATE SEQUENCE mail_claims START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1;
CREATE TABLE mail_counts (day date NOT NULL, address bytea NOT NULL, confirmations bigint NOT NULL, messages bigint NOT NULL) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02', vacuum_index_cleanup='on');
ALTER TABLE mail ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME mail_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE orders (id bigint NOT NULL, client_id bigint NOT NULL, pet_id bigint NOT NULL, created_at timestamp with time zone DEFAULT now() NOT NULL, updated_at timestamp with time zone DEFAULT now() NOT NULL, expires_at timestamp with time zone NOT NULL, status order_status DEFAULT 'placed'::order_status NOT NULL, adopter_name text, adopter_email text, shelter_id bigint DEFAULT 1 NOT NULL, application_id bigint) WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_analyze_scale_factor='0.02', vacuum_index_cleanup='on');
ALTER TABLE orders ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME orders_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE outbox (id bigint NOT NULL, type text NOT NULL, pet_id bigint NOT NULL, client_id bigint, at timestamp with time zone DEFAULT clock_timestamp() NOT NULL, data text NOT NULL, shelter_id bigint, category_id bigint) WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000');
ALTER TABLE outbox ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME outbox_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE passkeys (id bigint NOT NULL, person_id bigint NOT NULL, credential_id bytea NOT NULL, public_key bytea NOT NULL, counter bigint NOT NULL, transports text[] DEFAULT '{}'::text[] NOT NULL, name text NOT NULL, created_at timestamp with time zone DEFAULT now() NOT NULL, last_used_at timestamp with time zone, CONSTRAINT passkeys_credential_length CHECK (((octet_length(credential_id) >= 1) AND (octet_length(credential_id) <= 1023))), CONSTRAINT passkeys_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 100))), CONSTRAINT passkeys_public_key_length CHECK (((octet_length(public_key) >= 1) AND (octet_length(public_key) <= 4096)))) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
ALTER TABLE passkeys ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME passkeys_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE people (id bigint NOT NULL, email text, name text, role text NOT NULL, shelter_id bigint, created_at timestamp with time zone DEFAULT now() NOT NULL, last_seen_at timestamp with time zone, invited_until timestamp with time zone, removed_at timestamp with time zone, asked_on date, asked bigint DEFAULT 0 NOT NULL, invites_on date, invites bigint DEFAULT 0 NOT NULL, invited_by bigint, raised_role text, raised_shelter_id bigint, raised_until timestamp with time zone, raised_by bigint, sign_ins_since timestamp with time zone, sign_ins bigint DEFAULT 0 NOT NULL, post_changed_at timestamp with time zone, CONSTRAINT people_are_known CHECK (((removed_at IS NOT NULL) OR ((email IS NOT NULL) AND (name IS NOT NULL)))), CONSTRAINT people_email_length CHECK (((char_length(email) >= 3) AND (char_length(email) <= 254))), CONSTRAINT people_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200))), CONSTRAINT people_raised_role CHECK ((raised_role = ANY (ARRAY['volunteer'::text, 'staff'::text, 'admin'::text]))), CONSTRAINT people_role CHECK ((role = ANY (ARRAY['volunteer'::text, 'staff'::text, 'admin'::text]))), CONSTRAINT people_volunteers_have_a_shelter CHECK (((role <> 'volunteer'::text) OR (shelter_id IS NOT NULL)))) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
ALTER TABLE people ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME people_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE person_history (person_id bigint NOT NULL, at timestamp with time zone NOT NULL, history_id bigint, application_id bigint, application_history_id bigint, CONSTRAINT person_history_names_a_row CHECK (((history_id IS NULL) = ((application_id IS NOT NULL) AND (application_history_id IS NOT NULL))))) WITH (autovacuum_vacuum_insert_scale_factor='0.1', autovacuum_analyze_scale_factor='0.05');
CREATE TABLE person_links (hash bytea NOT NULL, person_id bigint NOT NULL, kind text NOT NULL, created_at timestamp with time zone DEFAULT now() NOT NULL, expires_at timestamp with time zone NOT NULL, used_at timestamp with time zone, CONSTRAINT person_links_hash CHECK ((octet_length(hash) = 32))) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02', vacuum_index_cleanup='on');
ALTER TABLE pets ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME pets_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE SEQUENCE photo_claims START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1;
CREATE TABLE photo_deletions (hash text NOT NULL, until timestamp with time zone NOT NULL) WITH (autovacuum_vacuum_scale_factor='0.02', vacuum_index_cleanup='on');
CREATE TABLE photo_scan (is_only_row boolean DEFAULT true NOT NULL, due_at timestamp with time zone DEFAULT (now() + '1 day'::interval) NOT NULL, started_at timestamp with time zone, scanned_to text, claims bigint DEFAULT 0 NOT NULL, claimed_until timestamp with time zone, CONSTRAINT photo_scan_is_only_row_check CHECK (is_only_row)) WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='500');
CREATE TABLE photo_storage (client_id bigint NOT NULL, bytes bigint NOT NULL) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
CREATE TABLE photo_uploads (client_id bigint NOT NULL, day date NOT NULL, bytes bigint NOT NULL) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
CREATE TABLE photos (id bigint NOT NULL, pet_id bigint NOT NULL, client_id bigint NOT NULL, "position" integer NOT NULL, status text DEFAULT 'processing'::text NOT NULL, alt text, original_hash text NOT NULL, original_name text NOT NULL, width integer, height integer, placeholder text, files jsonb, failure text, attempts integer DEFAULT 0 NOT NULL, claimed_until timestamp with time zone, created_at timestamp with time zone DEFAULT now() NOT NULL, updated_at timestamp with time zone DEFAULT now() NOT NULL, original_bytes bigint, pictures_bytes bigint, is_unlimited boolean DEFAULT false NOT NULL, original_missing_since timestamp with time zone, claim bigint, CONSTRAINT photos_alt_check CHECK ((char_length(alt) <= 500)), CONSTRAINT photos_failed_have_a_code CHECK (((status = 'failed'::text) = (failure IS NOT NULL))), CONSTRAINT photos_failure_check CHECK ((char_length(failure) <= 40)), CONSTRAINT photos_height_check CHECK ((height > 0)), CONSTRAINT photos_original_hash_check CHECK ((original_hash ~ '^[0-9a-f]{64}$'::text)), CONSTRAINT photos_placeholder_check CHECK ((char_length(placeholder) <= 100)), CONSTRAINT photos_ready_are_whole CHECK (((status <> 'ready'::text) OR ((width IS NOT NULL) AND (height IS NOT NULL) AND (placeholder IS NOT NULL) AND (files IS NOT NULL)))), CONSTRAINT photos_status_check CHECK ((status = ANY (ARRAY['processing'::text, 'ready'::text, 'failed'::text]))), CONSTRAINT photos_width_check CHECK ((width > 0))) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
ALTER TABLE photos ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME photos_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE removed_photo_bytes (id bigint NOT NULL, client_id bigint NOT NULL, bytes bigint NOT NULL, removed_at timestamp with time zone DEFAULT now() NOT NULL, files text[], claimed_until timestamp with time zone) WITH (autovacuum_vacuum_scale_factor='0.02', vacuum_index_cleanup='on');
ALTER TABLE removed_photo_bytes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME removed_photo_bytes_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE schema_migrations (id integer NOT NULL, name character varying(255) NOT NULL, run_on timestamp without time zone NOT NULL);
CREATE SEQUENCE schema_migrations_id_seq AS integer START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1;
ALTER SEQUENCE schema_migrations_id_seq OWNED BY schema_migrations.id;
CREATE TABLE search_words (word text NOT NULL, client_id bigint NOT NULL, rarity smallint NOT NULL, is_shared boolean NOT NULL, CONSTRAINT search_words_rarity_check CHECK (((rarity >= 0) AND (rarity <= 7)))) WITH (autovacuum_vacuum_scale_factor='0.05');
CREATE TABLE sessions (id bigint NOT NULL, person_id bigint NOT NULL, hash bytea NOT NULL, method text NOT NULL, network text NOT NULL, signed_in_at timestamp with time zone DEFAULT now() NOT NULL, last_seen_at timestamp with time zone DEFAULT now() NOT NULL, expires_at timestamp with time zone NOT NULL, CONSTRAINT sessions_hash CHECK ((octet_length(hash) = 32)), CONSTRAINT sessions_method CHECK ((method = ANY (ARRAY['passkey'::text, 'oidc'::text, 'link'::text])))) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02', vacuum_index_cleanup='on');
ALTER TABLE sessions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME sessions_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE shelter_questions (shelter_id bigint NOT NULL, questions jsonb NOT NULL, updated_at timestamp with time zone DEFAULT now() NOT NULL, CONSTRAINT shelter_questions_questions_check CHECK ((jsonb_array_length(questions) <= 40))) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
CREATE TABLE shelters (id bigint NOT NULL, name text NOT NULL, description text, email text, phone text, website text, address text, latitude double precision, longitude double precision, timezone text, created_at timestamp with time zone DEFAULT now() NOT NULL, updated_at timestamp with time zone DEFAULT now() NOT NULL, adoption text DEFAULT 'order'::text NOT NULL, applications_max integer DEFAULT 100 NOT NULL, application_note text, town text, postcode text, country text, CONSTRAINT shelters_address_check CHECK ((char_length(address) <= 500)), CONSTRAINT shelters_adoption_check CHECK ((adoption = ANY (ARRAY['order'::text, 'application'::text]))), CONSTRAINT shelters_application_note_check CHECK ((char_length(application_note) <= 2000)), CONSTRAINT shelters_applications_max_check CHECK (((applications_max >= 1) AND (applications_max <= 500))), CONSTRAINT shelters_country_check CHECK ((country ~ '^[A-Z]{2}$'::text)), CONSTRAINT shelters_description_check CHECK ((char_length(description) <= 8000)), CONSTRAINT shelters_email_check CHECK ((char_length(email) <= 254)), CONSTRAINT shelters_latitude_check CHECK (((latitude >= ('-90'::integer)::double precision) AND (latitude <= (90)::double precision))), CONSTRAINT shelters_longitude_check CHECK (((longitude >= ('-180'::integer)::double precision) AND (longitude <= (180)::double precision))), CONSTRAINT shelters_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200))), CONSTRAINT shelters_phone_check CHECK ((char_length(phone) <= 40)), CONSTRAINT shelters_position_is_whole CHECK (((latitude IS NULL) = (longitude IS NULL))), CONSTRAINT shelters_postcode_check CHECK ((char_length(postcode) <= 20)), CONSTRAINT shelters_timezone_check CHECK ((char_length(timezone) <= 64)), CONSTRAINT shelters_town_check CHECK ((char_length(town) <= 100)), CONSTRAINT shelters_website_check CHECK ((char_length(website) <= 2000))) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
ALTER TABLE shelters ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME shelters_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE staff_clients (shelter_id bigint NOT NULL, client_id bigint NOT NULL) WITH (autovacuum_vacuum_scale_factor='0.1', autovacuum_analyze_scale_factor='0.05');
CREATE SEQUENCE test_delivery_ids START WITH 2000000000000000 INCREMENT BY 1 MINVALUE 2000000000000000 NO MAXVALUE CACHE 1;
CREATE SEQUENCE unannounced_changes START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1;
CREATE TABLE unsettled_applications (pet_id bigint NOT NULL, since timestamp with time zone DEFAULT now() NOT NULL) WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='500');
CREATE TABLE usage_writers (process_id uuid NOT NULL, batch bigint NOT NULL, written_at timestamp with time zone DEFAULT now() NOT NULL) WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='500');
CREATE TABLE used_values (purpose text NOT NULL, hash bytea NOT NULL, expires_at timestamp with time zone NOT NULL, CONSTRAINT used_values_hash CHECK ((octet_length(hash) = 32))) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02', vacuum_index_cleanup='on');
CREATE TABLE webhook_attempts (webhook_id bigint NOT NULL, delivery_id bigint NOT NULL, at timestamp with time zone NOT NULL, duration_ms integer NOT NULL, attempt smallint NOT NULL, status smallint, answer text, error text) PARTITION BY RANGE (at);
CREATE TABLE webhook_replays (webhook_id bigint NOT NULL, client_id bigint NOT NULL, created_at timestamp with time zone DEFAULT now() NOT NULL, "position" bigint NOT NULL, to_position bigint NOT NULL) WITH (autovacuum_vacuum_scale_factor='0.02', vacuum_index_cleanup='on');
CREATE TABLE webhook_shards (id bigint NOT NULL, worker_id bigint, "position" bigint NOT NULL, moved_at timestamp with time zone DEFAULT now() NOT NULL) WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='500');
CREATE TABLE webhook_workers (id bigint NOT NULL, expires_at timestamp with time zone NOT NULL) WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='500');
ALTER TABLE webhook_workers ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME webhook_workers_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE webhooks (id bigint NOT NULL, client_id bigint NOT NULL, created_at timestamp with time zone DEFAULT now() NOT NULL, updated_at timestamp with time zone DEFAULT now() NOT NULL, removed_at timestamp with time zone, status webhook_status DEFAULT 'enabled'::webhook_status NOT NULL, disabled_reason text, failing_since timestamp with time zone, with_orders boolean NOT NULL, types text[] DEFAULT '{}'::text[] NOT NULL, url text NOT NULL, description text DEFAULT ''::text NOT NULL, secret text NOT NULL, previous_secret text, previous_secret_until timestamp with time zone, key_id bigint, shard bigint GENERATED ALWAYS AS ((client_id % (256)::bigint)) STORED NOT NULL, suspended boolean DEFAULT false NOT NULL, verified_at timestamp with time zone, revision bigint DEFAULT 1 NOT NULL, is_changed boolean DEFAULT false NOT NULL, "position" bigint, paused_position bigint, skipped int8multirange DEFAULT '{}'::int8multirange NOT NULL, shelter_ids bigint[] DEFAULT '{}'::bigint[] NOT NULL, category_ids bigint[] DEFAULT '{}'::bigint[] NOT NULL, CONSTRAINT webhooks_description_check CHECK ((char_length(description) <= 200)), CONSTRAINT webhooks_url_check CHECK (((char_length(url) >= 1) AND (char_length(url) <= 2000)))) WITH (autovacuum_vacuum_scale_factor='0.02', vacuum_index_cleanup='on');
ALTER TABLE webhooks ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME webhooks_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE word_clients (client_id bigint NOT NULL, uses bigint NOT NULL, words bigint NOT NULL, day date NOT NULL, new_words bigint NOT NULL, CONSTRAINT word_clients_uses_check CHECK ((uses >= 0)), CONSTRAINT word_clients_words_check CHECK ((words >= 0))) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
CREATE TABLE word_feed (one boolean DEFAULT true NOT NULL, "position" bigint NOT NULL, filled_to bigint, fill_until bigint NOT NULL, CONSTRAINT word_feed_one_check CHECK (one)) WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='500');
CREATE TABLE word_trigrams (trigram text NOT NULL, is_shared boolean NOT NULL, rarity smallint NOT NULL, word text NOT NULL) WITH (autovacuum_vacuum_scale_factor='0.05', vacuum_index_cleanup='on');
ALTER TABLE ONLY schema_migrations ALTER COLUMN id SET DEFAULT nextval('schema_migrations_id_seq'::regclass);
ALTER TABLE ONLY adopter_links ADD CONSTRAINT adopter_links_pkey PRIMARY KEY (application_id, number);
ALTER TABLE ONLY animal_words ADD CONSTRAINT animal_words_pkey PRIMARY KEY (pet_id, word);
ALTER TABLE ONLY api_keys ADD CONSTRAINT api_keys_hash_key UNIQUE (hash);
ALTER TABLE ONLY api_keys ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY application_counts ADD CONSTRAINT application_counts_pkey PRIMARY KEY (client_id);
ALTER TABLE ONLY application_history ADD CONSTRAINT application_history_pkey PRIMARY KEY (application_id, id);
ALTER TABLE ONLY applications ADD CONSTRAINT applications_pkey PRIMARY KEY (id);
ALTER TABLE ONLY audit_counts ADD CONSTRAINT audit_counts_pkey PRIMARY KEY (author);
ALTER TABLE ONLY audit ADD CONSTRAINT audit_pkey PRIMARY KEY (id, at);
ALTER TABLE ONLY bulk_ended ADD CONSTRAINT bulk_ended_pkey PRIMARY KEY (bulk_end_id, application_id);
ALTER TABLE ONLY bulk_ends ADD CONSTRAINT bulk_ends_pkey PRIMARY KEY (id);
ALTER TABLE ONLY categories ADD CONSTRAINT categories_pkey PRIMARY KEY (id);
ALTER TABLE ONLY category_registrations ADD CONSTRAINT category_registrations_pkey PRIMARY KEY (client_id);
ALTER TABLE ONLY clients ADD CONSTRAINT clients_name_key UNIQUE (name);
ALTER TABLE ONLY clients ADD CONSTRAINT clients_pkey PRIMARY KEY (id);
ALTER TABLE ONLY confirmed_shelters ADD CONSTRAINT confirmed_shelters_pkey PRIMARY KEY (shelter_id);
ALTER TABLE ONLY delivery_exceptions ADD CONSTRAINT delivery_exceptions_pkey PRIMARY KEY (webhook_id, delivery_id);
ALTER TABLE ONLY deployment ADD CONSTRAINT deployment_pkey PRIMARY KEY (one);
ALTER TABLE ONLY events ADD CONSTRAINT events_pkey PRIMARY KEY ("position", published_at);
ALTER TABLE ONLY failed_sign_ins ADD CONSTRAINT failed_sign_ins_pkey PRIMARY KEY (hour, kind, network);
ALTER TABLE ONLY feed ADD CONSTRAINT feed_pkey PRIMARY KEY (one);
ALTER TABLE ONLY form_results ADD CONSTRAINT form_results_pkey PRIMARY KEY (person_id, form_id, content);
ALTER TABLE ONLY history ADD CONSTRAINT history_pkey PRIMARY KEY (id, at);
ALTER TABLE ONLY idempotent_answers ADD CONSTRAINT idempotent_answers_pkey PRIMARY KEY (client_id, key);
ALTER TABLE ONLY identities ADD CONSTRAINT identities_pkey PRIMARY KEY (issuer, subject);
ALTER TABLE ONLY key_usage ADD CONSTRAINT key_usage_pkey PRIMARY KEY (key_id, hour, kind, name);
ALTER TABLE ONLY listings ADD CONSTRAINT listings_pkey PRIMARY KEY (id);
ALTER TABLE ONLY mail_counts ADD CONSTRAINT mail_counts_pkey PRIMARY KEY (day, address);
ALTER TABLE ONLY mail ADD CONSTRAINT mail_pkey PRIMARY KEY (id);
ALTER TABLE ONLY orders ADD CONSTRAINT orders_pkey PRIMARY KEY (id);
ALTER TABLE ONLY outbox ADD CONSTRAINT outbox_pkey PRIMARY KEY (id);
ALTER TABLE ONLY passkeys ADD CONSTRAINT passkeys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY people ADD CONSTRAINT people_pkey PRIMARY KEY (id);
ALTER TABLE person_links ADD CONSTRAINT person_links_kind CHECK ((kind = ANY (ARRAY['invitation'::text, 'sign_in'::text, 'raise'::text]))) NOT VALID;
ALTER TABLE ONLY person_links ADD CONSTRAINT person_links_pkey PRIMARY KEY (hash);
ALTER TABLE pets ADD CONSTRAINT pets_hold_is_whole CHECK (CASE WHEN (hold IS NULL) THEN (ROW(hold_reason, hold_until, hold_note, hold_releases) IS NULL) ELSE ((hold_reason IS NOT NULL) AND (hold_releases IS NOT NULL)) END) NOT VALID;
ALTER TABLE ONLY pets ADD CONSTRAINT pets_pkey PRIMARY KEY (id);
ALTER TABLE ONLY photo_deletions ADD CONSTRAINT photo_deletions_pkey PRIMARY KEY (hash);
ALTER TABLE ONLY photo_scan ADD CONSTRAINT photo_scan_pkey PRIMARY KEY (is_only_row);
ALTER TABLE ONLY photo_storage ADD CONSTRAINT photo_storage_pkey PRIMARY KEY (client_id);
ALTER TABLE ONLY photo_uploads ADD CONSTRAINT photo_uploads_pkey PRIMARY KEY (client_id);
ALTER TABLE ONLY photos ADD CONSTRAINT photos_pkey PRIMARY KEY (id);
ALTER TABLE ONLY profiles ADD CONSTRAINT profiles_pkey PRIMARY KEY (pet_id);
ALTER TABLE ONLY removed_photo_bytes ADD CONSTRAINT removed_photo_bytes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY schema_migrations ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY search_words ADD CONSTRAINT search_words_pkey PRIMARY KEY (word);
ALTER TABLE ONLY sessions ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY shelter_questions ADD CONSTRAINT shelter_questions_pkey PRIMARY KEY (shelter_id);
ALTER TABLE ONLY shelters ADD CONSTRAINT shelters_pkey PRIMARY KEY (id);
ALTER TABLE ONLY staff_clients ADD CONSTRAINT staff_clients_client_id_key UNIQUE (client_id);
ALTER TABLE ONLY staff_clients ADD CONSTRAINT staff_clients_pkey PRIMARY KEY (shelter_id);
ALTER TABLE ONLY unsettled_applications ADD CONSTRAINT unsettled_applications_pkey PRIMARY KEY (pet_id);
ALTER TABLE ONLY usage_writers ADD CONSTRAINT usage_writers_pkey PRIMARY KEY (process_id);
ALTER TABLE ONLY used_values ADD CONSTRAINT used_values_pkey PRIMARY KEY (purpose, hash);
ALTER TABLE ONLY webhook_replays ADD CONSTRAINT webhook_replays_client_id_key UNIQUE (client_id);
ALTER TABLE ONLY webhook_replays ADD CONSTRAINT webhook_replays_pkey PRIMARY KEY (webhook_id);
ALTER TABLE ONLY webhook_shards ADD CONSTRAINT webhook_shards_pkey PRIMARY KEY (id);
ALTER TABLE ONLY webhook_workers ADD CONSTRAINT webhook_workers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY webhooks ADD CONSTRAINT webhooks_pkey PRIMARY KEY (id);
ALTER TABLE ONLY word_clients ADD CONSTRAINT word_clients_pkey PRIMARY KEY (client_id);
ALTER TABLE ONLY word_feed ADD CONSTRAINT word_feed_pkey PRIMARY KEY (one);
ALTER TABLE ONLY word_trigrams ADD CONSTRAINT word_trigrams_pkey PRIMARY KEY (trigram, is_shared, rarity, word);
CREATE INDEX animal_words_by_word ON animal_words USING btree (word, is_trusted, client_id);
CREATE INDEX api_keys_by_client ON api_keys USING btree (client_id, id);
CREATE INDEX api_keys_by_expiry ON api_keys USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX api_keys_by_revocation ON api_keys USING btree (revoked_at) WHERE (revoked_at IS NOT NULL);
CREATE INDEX applications_by_adopter ON applications USING btree (adopter_address) WHERE (adopter_address IS NOT NULL);
CREATE INDEX applications_by_client ON applications USING btree (client_id, status, id);
CREATE INDEX applications_by_client_and_shelter ON applications USING btree (client_id, shelter_id, status, id);
CREATE UNIQUE INDEX applications_by_order ON applications USING btree (order_id) WHERE (order_id IS NOT NULL);
CREATE INDEX applications_by_pet ON applications USING btree (pet_id, status, id) INCLUDE (client_id, shelter_id);
CREATE INDEX applications_by_shelter ON applications USING btree (shelter_id, status, id);
CREATE INDEX applications_by_status ON applications USING btree (status, id);
CREATE UNIQUE INDEX applications_one_open ON applications USING btree (client_id, adopter_address, pet_id) WHERE (status = ANY (ARRAY['submitted'::application_status, 'reviewing'::application_status, 'accepted'::application_status]));
CREATE INDEX applications_unconfirmed ON applications USING btree (created_at) WHERE (status = 'unconfirmed'::application_status);
CREATE INDEX applications_waiting ON applications USING btree (acted_at) WHERE (status = ANY (ARRAY['submitted'::application_status, 'reviewing'::application_status]));
CREATE INDEX applications_with_answers ON applications USING btree (status, updated_at) WHERE (answers IS NOT NULL);
CREATE INDEX audit_by_act ON ONLY audit USING btree (act, at, id);
CREATE INDEX audit_by_person ON ONLY audit USING btree (person_id, at, id) WHERE (person_id IS NOT NULL);
CREATE INDEX audit_by_shelter ON ONLY audit USING btree (shelter_id, at, id);
CREATE INDEX audit_by_target ON ONLY audit USING btree (target, target_id, at, id);
CREATE INDEX audit_by_time ON ONLY audit USING btree (at, id);
CREATE INDEX bulk_ends_by_shelter ON bulk_ends USING btree (shelter_id, id);
CREATE UNIQUE INDEX bulk_ends_one_at_once ON bulk_ends USING btree (client_id) WHERE (state = ANY (ARRAY['ending'::text, 'reopening'::text]));
CREATE INDEX bulk_ends_open ON bulk_ends USING btree (worked_at) WHERE (state <> 'done'::text);
CREATE INDEX categories_named_first ON categories USING btree (((name IS NULL)), id);
CREATE INDEX clients_by_change ON clients USING btree (changed_in);
CREATE INDEX clients_by_suspension ON clients USING btree (suspended_at) WHERE (suspended_at IS NOT NULL);
CREATE INDEX delivery_exceptions_by_age ON delivery_exceptions USING btree (created_at);
CREATE INDEX delivery_exceptions_due ON delivery_exceptions USING btree (webhook_id, next_attempt_at, delivery_id) WHERE (status = 'pending'::delivery_status);
CREATE INDEX delivery_exceptions_in_order ON delivery_exceptions USING btree (webhook_id, pet_id, delivery_id) WHERE (status = 'pending'::delivery_status);
CREATE INDEX events_by_client_and_type ON ONLY events USING btree (client_id, type, "position") WHERE (client_id IS NOT NULL);
CREATE INDEX events_by_shelter_and_type ON ONLY events USING btree (shelter_id, type, "position") WHERE (shelter_id IS NOT NULL);
CREATE INDEX events_by_type ON ONLY events USING btree (type, "position");
CREATE INDEX form_results_by_person ON form_results USING btree (person_id, created_at);
CREATE INDEX form_results_by_time ON form_results USING btree (created_at);
CREATE INDEX history_by_pet ON ONLY history USING btree (pet_id, id);
CREATE INDEX idempotent_answers_by_age ON idempotent_answers USING btree (created_at);
CREATE INDEX idempotent_answers_by_application ON idempotent_answers USING btree (application_id) WHERE (application_id IS NOT NULL);
CREATE INDEX idempotent_answers_by_order ON idempotent_answers USING btree (order_id) WHERE (order_id IS NOT NULL);
CREATE INDEX identities_by_person ON identities USING btree (person_id);
CREATE INDEX key_usage_by_hour ON ONLY key_usage USING brin (hour) WITH (pages_per_range='32', autosummarize='on');
CREATE INDEX key_usage_deprecated ON ONLY key_usage USING btree (hour) WHERE (kind = 'deprecated'::text);
CREATE INDEX listings_by_word ON listings USING gin (document) WITH (gin_pending_list_limit='256');
CREATE INDEX listings_of_shelter ON listings USING btree (shelter_id, id);
CREATE INDEX mail_by_subject ON mail USING btree (subject_id, kind);
CREATE INDEX mail_due ON mail USING btree (due_at) WHERE (state = 'queued'::text);
CREATE INDEX mail_ended ON mail USING btree (state, ended_at) WHERE (ended_at IS NOT NULL);
CREATE UNIQUE INDEX mail_single ON mail USING btree (kind, subject_id) WHERE (is_single AND (state = 'queued'::text) AND (attempts = 0));
CREATE INDEX mail_waiting ON mail USING btree (waiting_since) WHERE (state = 'queued'::text);
CREATE INDEX orders_by_adopter ON orders USING btree (lower(adopter_email)) WHERE (adopter_email IS NOT NULL);
CREATE INDEX orders_by_client ON orders USING btree (client_id, id);
CREATE INDEX orders_by_pet ON orders USING btree (pet_id, id);
CREATE INDEX orders_by_shelter ON orders USING btree (shelter_id, id);
CREATE INDEX orders_by_shelter_and_status ON orders USING btree (shelter_id, status, id);
CREATE INDEX orders_by_status ON orders USING btree (status, id);
CREATE UNIQUE INDEX orders_one_open_per_pet ON orders USING btree (pet_id) WHERE (status = ANY (ARRAY['placed'::order_status, 'approved'::order_status]));
CREATE INDEX orders_open_by_client ON orders USING btree (client_id, lower(adopter_email)) WHERE (status = ANY (ARRAY['placed'::order_status, 'approved'::order_status]));
CREATE INDEX orders_to_expire ON orders USING btree (expires_at) WHERE (status = 'placed'::order_status);
CREATE INDEX orders_with_adopter ON orders USING btree (status, updated_at) WHERE (adopter_email IS NOT NULL);
CREATE UNIQUE INDEX passkeys_by_credential ON passkeys USING btree (credential_id);
CREATE INDEX passkeys_by_person ON passkeys USING btree (person_id, id);
CREATE UNIQUE INDEX people_by_email ON people USING btree (email) WHERE (removed_at IS NULL);
CREATE INDEX people_by_inviter ON people USING btree (invited_by, id) WHERE ((removed_at IS NULL) AND (invited_by IS NOT NULL));
CREATE INDEX people_by_shelter ON people USING btree (shelter_id, id) WHERE (removed_at IS NULL);
CREATE INDEX people_removed ON people USING btree (removed_at) WHERE ((removed_at IS NOT NULL) AND (email IS NOT NULL));
CREATE INDEX people_store_admins ON people USING btree (id) WHERE ((role = 'admin'::text) AND (shelter_id IS NULL) AND (removed_at IS NULL));
CREATE INDEX person_applications_by_person ON person_history USING btree (person_id, at, application_history_id) WHERE (application_id IS NOT NULL);
CREATE INDEX person_applications_by_time ON person_history USING btree (at, application_history_id) WHERE (application_id IS NOT NULL);
CREATE INDEX person_history_by_person ON person_history USING btree (person_id, at, history_id) WHERE (history_id IS NOT NULL);
CREATE INDEX person_history_by_time ON person_history USING btree (at, history_id) WHERE (history_id IS NOT NULL);
CREATE INDEX person_links_by_end ON person_links USING btree (expires_at);
CREATE INDEX person_links_by_person ON person_links USING btree (person_id, kind);
CREATE INDEX pets_by_hold ON pets USING btree (hold, id) WHERE ((hold IS NOT NULL) AND (removed_at IS NULL));
CREATE INDEX pets_by_hold_until ON pets USING btree (hold_until) WHERE (hold_until IS NOT NULL);
CREATE INDEX pets_by_word_of_name ON pets USING gin (to_tsvector('listings'::regconfig, name)) WITH (gin_pending_list_limit='256') WHERE (removed_at IS NULL);
CREATE INDEX pets_in_shelter ON pets USING btree (shelter_id, status, id) WHERE (removed_at IS NULL);
CREATE INDEX pets_listed ON pets USING btree (id) WHERE (removed_at IS NULL);
CREATE INDEX pets_listed_by_category ON pets USING btree (category_id, id) WHERE (removed_at IS NULL);
CREATE INDEX pets_listed_by_category_and_status ON pets USING btree (category_id, status, id) WHERE (removed_at IS NULL);
CREATE INDEX pets_listed_by_status ON pets USING btree (status, id) WHERE (removed_at IS NULL);
CREATE INDEX pets_of_category ON pets USING btree (category_id);
CREATE INDEX pets_of_shelter ON pets USING btree (shelter_id, id);
CREATE INDEX pets_of_shelter_by_hold ON pets USING btree (shelter_id, hold_until) WHERE (hold_until IS NOT NULL);
CREATE INDEX pets_undoable ON pets USING btree (undoable_until) WHERE (undoable_until IS NOT NULL);
CREATE INDEX pets_undoable_in_shelter ON pets USING btree (shelter_id, undoable_until, id) WHERE (undoable_until IS NOT NULL);
CREATE INDEX photos_by_file ON photos USING gin (files jsonb_path_ops) WITH (fastupdate=off);
CREATE UNIQUE INDEX photos_by_original ON photos USING btree (pet_id, original_hash);
CREATE INDEX photos_failed ON photos USING btree (pet_id, id) WHERE (status = 'failed'::text);
CREATE INDEX photos_failed_by_id ON photos USING btree (id) WHERE (status = 'failed'::text);
CREATE INDEX photos_of_pet ON photos USING btree (pet_id, "position", id);
CREATE INDEX photos_to_count ON photos USING btree (id) WHERE ((status = 'ready'::text) AND (pictures_bytes IS NULL));
CREATE INDEX photos_to_process ON photos USING btree (client_id, attempts, id) WHERE (status = 'processing'::text);
CREATE UNIQUE INDEX profiles_external_id ON profiles USING btree (shelter_id, external_id) WHERE ((external_id IS NOT NULL) AND (removed_at IS NULL));
CREATE INDEX removed_files_by_name ON removed_photo_bytes USING gin (files) WITH (fastupdate=off) WHERE (files IS NOT NULL);
CREATE INDEX removed_files_by_time ON removed_photo_bytes USING btree (removed_at) WHERE (files IS NOT NULL);
CREATE INDEX search_words_to_evict ON search_words USING btree (client_id, is_shared, rarity DESC);
CREATE INDEX sessions_by_end ON sessions USING btree (expires_at);
CREATE UNIQUE INDEX sessions_by_hash ON sessions USING btree (hash);
CREATE INDEX sessions_by_person ON sessions USING btree (person_id, id);
CREATE INDEX shelters_by_position ON shelters USING btree (latitude, longitude) WHERE (latitude IS NOT NULL);
CREATE INDEX shelters_by_postcode ON shelters USING btree (replace(listing_place(postcode), ' '::text, ''::text)) WHERE (postcode IS NOT NULL);
CREATE INDEX shelters_by_town ON shelters USING btree (listing_place(town)) WHERE (town IS NOT NULL);
CREATE INDEX used_values_by_end ON used_values USING btree (expires_at);
CREATE INDEX webhook_attempts_by_delivery ON ONLY webhook_attempts USING btree (webhook_id, delivery_id, at);
CREATE INDEX webhooks_by_client ON webhooks USING btree (client_id, id);
CREATE INDEX webhooks_by_key ON webhooks USING btree (key_id) WHERE (key_id IS NOT NULL);
CREATE INDEX webhooks_by_shard ON webhooks USING btree (shard, id) WHERE (removed_at IS NULL);
CREATE INDEX webhooks_changed ON webhooks USING btree (shard) WHERE is_changed;
CREATE TRIGGER client_suspended AFTER UPDATE OF suspended_at ON clients FOR EACH ROW WHEN ((old.suspended_at IS DISTINCT FROM new.suspended_at)) EXECUTE FUNCTION client_suspended();
CREATE TRIGGER copy_to_profile AFTER UPDATE OF shelter_id, removed_at ON pets FOR EACH ROW WHEN (((old.shelter_id IS DISTINCT FROM new.shelter_id) OR (old.removed_at IS DISTINCT FROM new.removed_at))) EXECUTE FUNCTION copy_pet_to_profile();
CREATE TRIGGER history_of_held_pet BEFORE INSERT ON history FOR EACH ROW WHEN (((new.order_id IS NULL) AND (new.from_status = 'pending'::text) AND (new.to_status = 'available'::text))) EXECUTE FUNCTION history_of_held_pet();
CREATE TRIGGER keep_listing AFTER UPDATE ON pets FOR EACH ROW WHEN ((old.name, old.category_id, old.status, old.shelter_id, old.removed_at) IS DISTINCT FROM (new.name, new.category_id, new.status, new.shelter_id, new.removed_at)) EXECUTE FUNCTION keep_listing_of_pet();
CREATE TRIGGER keep_listing AFTER INSERT OR DELETE OR UPDATE ON profiles FOR EACH ROW EXECUTE FUNCTION keep_listing_of_profile();
CREATE TRIGGER mail_forgets_recipient BEFORE UPDATE OF state ON mail FOR EACH ROW WHEN (((new.state <> 'queued'::text) AND (new.recipient IS NOT NULL))) EXECUTE FUNCTION forget_recipient();
CREATE TRIGGER note_change AFTER DELETE OR UPDATE ON api_keys FOR EACH ROW EXECUTE FUNCTION note_key_change();
CREATE TRIGGER note_change BEFORE UPDATE ON clients FOR EACH ROW EXECUTE FUNCTION note_client_change();
CREATE TRIGGER order_erases_application AFTER UPDATE OF adopter_email ON orders FOR EACH ROW WHEN (((new.adopter_email IS NULL) AND (old.adopter_email IS NOT NULL) AND (new.application_id IS NOT NULL))) EXECUTE FUNCTION order_erased();
CREATE TRIGGER order_placed BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION order_placed();
CREATE CONSTRAINT TRIGGER order_settles_application AFTER UPDATE OF status ON orders DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((new.application_id IS NOT NULL) AND (new.status <> old.status))) EXECUTE FUNCTION note_unsettled_applications();
CREATE TRIGGER order_told BEFORE INSERT ON events FOR EACH ROW WHEN (((new.shelter_id IS NULL) OR (new.type = ANY (ARRAY['pet.moved'::text, 'pet.updated'::text])))) EXECUTE FUNCTION order_told();
CREATE TRIGGER pet_moved AFTER UPDATE OF shelter_id ON pets FOR EACH ROW WHEN ((old.shelter_id <> new.shelter_id)) EXECUTE FUNCTION pet_moved();
CREATE TRIGGER pet_placed BEFORE UPDATE OF shelter_id ON pets FOR EACH ROW WHEN (((old.shelter_id <> new.shelter_id) AND (new.client_id IS NOT NULL))) EXECUTE FUNCTION pet_placed();
CREATE CONSTRAINT TRIGGER pet_settles_applications AFTER UPDATE OF status, removed_at ON pets DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((((new.status = 'sold'::pet_status) AND (old.status <> 'sold'::pet_status)) OR ((new.removed_at IS NOT NULL) AND (old.removed_at IS NULL)))) EXECUTE FUNCTION note_unsettled_applications();
CREATE TRIGGER pet_stays_held BEFORE UPDATE OF status, removed_at ON pets FOR EACH ROW WHEN (((old.hold IS NOT NULL) AND (new.hold IS NOT NULL))) EXECUTE FUNCTION pet_stays_held();
CREATE TRIGGER photo_bytes_are_counted AFTER INSERT OR DELETE OR UPDATE OF client_id, status, original_bytes, pictures_bytes ON photos FOR EACH ROW EXECUTE FUNCTION count_photo_bytes();
CREATE TRIGGER removed_pet_has_no_photos AFTER UPDATE OF removed_at, undoable_until ON pets FOR EACH ROW WHEN (((new.removed_at IS NOT NULL) AND (new.undoable_until IS NULL) AND ((old.removed_at IS NULL) OR (old.undoable_until IS NOT NULL)))) EXECUTE FUNCTION remove_photos_of_pet();
CREATE TRIGGER rows_are_only_added BEFORE DELETE OR UPDATE OR TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER shelter_added AFTER INSERT ON shelters FOR EACH ROW EXECUTE FUNCTION shelter_added();
CREATE TRIGGER webhook_changed BEFORE INSERT OR UPDATE OF url, types, shelter_ids, category_ids, status, key_id, with_orders, suspended, removed_at ON webhooks FOR EACH ROW EXECUTE FUNCTION webhook_changed();
ALTER TABLE ONLY adopter_links ADD CONSTRAINT adopter_links_application_id_fkey FOREIGN KEY (application_id) REFERENCES applications(id);
ALTER TABLE ONLY api_keys ADD CONSTRAINT api_keys_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id);
ALTER TABLE ONLY api_keys ADD CONSTRAINT api_keys_replaced_by_fkey FOREIGN KEY (replaced_by) REFERENCES api_keys(id);
ALTER TABLE ONLY api_keys ADD CONSTRAINT api_keys_shelter_id_fkey FOREIGN KEY (shelter_id) REFERENCES shelters(id);
ALTER TABLE ONLY application_counts ADD CONSTRAINT application_counts_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id);
ALTER TABLE ONLY application_history ADD CONSTRAINT application_history_application_id_fkey FOREIGN KEY (application_id) REFERENCES applications(id);
ALTER TABLE ONLY applications ADD CONSTRAINT applications_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id);
ALTER TABLE ONLY applications ADD CONSTRAINT applications_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(id);
ALTER TABLE ONLY applications ADD CONSTRAINT applications_pet_id_fkey FOREIGN KEY (pet_id) REFERENCES pets(id);
ALTER TABLE ONLY applications ADD CONSTRAINT applications_shelter_id_fkey FOREIGN KEY (shelter_id) REFERENCES shelters(id);
ALTER TABLE ONLY bulk_ended ADD CONSTRAINT bulk_ended_bulk_end_id_fkey FOREIGN KEY (bulk_end_id) REFERENCES bulk_ends(id);
ALTER TABLE ONLY category_registrations ADD CONSTRAINT category_registrations_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id);
ALTER TABLE ONLY confirmed_shelters ADD CONSTRAINT confirmed_shelters_shelter_id_fkey FOREIGN KEY (shelter_id) REFERENCES shelters(id);
ALTER TABLE ONLY delivery_exceptions ADD CONSTRAINT delivery_exceptions_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhooks(id) ON DELETE CASCADE;
ALTER TABLE history ADD CONSTRAINT history_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(id);
ALTER TABLE history ADD CONSTRAINT history_pet_id_fkey FOREIGN KEY (pet_id) REFERENCES pets(id);
ALTER TABLE ONLY idempotent_answers ADD CONSTRAINT idempotent_answers_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id);
ALTER TABLE ONLY idempotent_answers ADD CONSTRAINT idempotent_answers_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(id);
ALTER TABLE ONLY identities ADD CONSTRAINT identities_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(id);
ALTER TABLE ONLY orders ADD CONSTRAINT orders_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id);
ALTER TABLE ONLY orders ADD CONSTRAINT orders_pet_id_fkey FOREIGN KEY (pet_id) REFERENCES pets(id);
ALTER TABLE ONLY passkeys ADD CONSTRAINT passkeys_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(id);
ALTER TABLE ONLY people ADD CONSTRAINT people_shelter_id_fkey FOREIGN KEY (shelter_id) REFERENCES shelters(id);
ALTER TABLE ONLY person_links ADD CONSTRAINT person_links_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(id);
ALTER TABLE ONLY pets ADD CONSTRAINT pets_category_id_fkey FOREIGN KEY (category_id) REFERENCES categories(id);
ALTER TABLE ONLY pets ADD CONSTRAINT pets_shelter_id_fkey FOREIGN KEY (shelter_id) REFERENCES shelters(id);
ALTER TABLE ONLY photo_uploads ADD CONSTRAINT photo_uploads_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id);
ALTER TABLE ONLY photos ADD CONSTRAINT photos_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id);
ALTER TABLE ONLY photos ADD CONSTRAINT photos_pet_id_fkey FOREIGN KEY (pet_id) REFERENCES pets(id);
ALTER TABLE ONLY profiles ADD CONSTRAINT profiles_pet_id_fkey FOREIGN KEY (pet_id) REFERENCES pets(id);
ALTER TABLE ONLY profiles ADD CONSTRAINT profiles_shelter_id_fkey FOREIGN KEY (shelter_id) REFERENCES shelters(id);
ALTER TABLE ONLY sessions ADD CONSTRAINT sessions_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(id);
ALTER TABLE ONLY shelter_questions ADD CONSTRAINT shelter_questions_shelter_id_fkey FOREIGN KEY (shelter_id) REFERENCES shelters(id);
ALTER TABLE ONLY staff_clients ADD CONSTRAINT staff_clients_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id);
ALTER TABLE ONLY unsettled_applications ADD CONSTRAINT unsettled_applications_pet_id_fkey FOREIGN KEY (pet_id) REFERENCES pets(id);
ALTER TABLE ONLY webhook_replays ADD CONSTRAINT webhook_replays_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhooks(id) ON DELETE CASCADE;
ALTER TABLE ONLY webhooks ADD CONSTRAINT webhooks_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id);
ALTER TABLE ONLY webhooks ADD CONSTRAINT webhooks_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(id);
GRANT USAGE ON SCHEMA public TO homeward_app;
REVOKE ALL ON FUNCTION audit_end() FROM PUBLIC;
GRANT ALL ON FUNCTION audit_end() TO homeward_app;
REVOKE ALL ON FUNCTION audit_start() FROM PUBLIC;
GRANT ALL ON FUNCTION audit_start() TO homeward_app;
REVOKE ALL ON FUNCTION drop_attempt_partitions(kept interval) FROM PUBLIC;
GRANT ALL ON FUNCTION drop_attempt_partitions(kept interval) TO homeward_app;
REVOKE ALL ON FUNCTION drop_audit_partitions(days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION drop_audit_partitions(days integer) TO homeward_app;
REVOKE ALL ON FUNCTION drop_event_partitions(kept interval) FROM PUBLIC;
GRANT ALL ON FUNCTION drop_event_partitions(kept interval) TO homeward_app;
REVOKE ALL ON FUNCTION drop_usage_partitions(kept interval) FROM PUBLIC;
GRANT ALL ON FUNCTION drop_usage_partitions(kept interval) TO homeward_app;
REVOKE ALL ON FUNCTION history_end() FROM PUBLIC;
GRANT ALL ON FUNCTION history_end() TO homeward_app;
REVOKE ALL ON FUNCTION make_attempt_partitions(days_back bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION make_attempt_partitions(days_back bigint) TO homeward_app;
REVOKE ALL ON FUNCTION make_audit_partitions() FROM PUBLIC;
GRANT ALL ON FUNCTION make_audit_partitions() TO homeward_app;
REVOKE ALL ON FUNCTION make_event_partitions() FROM PUBLIC;
GRANT ALL ON FUNCTION make_event_partitions() TO homeward_app;
REVOKE ALL ON FUNCTION make_history_partitions() FROM PUBLIC;
GRANT ALL ON FUNCTION make_history_partitions() TO homeward_app;
REVOKE ALL ON FUNCTION make_usage_partitions() FROM PUBLIC;
GRANT ALL ON FUNCTION make_usage_partitions() TO homeward_app;
REVOKE ALL ON FUNCTION refill_listings(animals_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION refill_listings(animals_max integer) TO homeward_app;
REVOKE ALL ON FUNCTION skip_ids() FROM PUBLIC;
REVOKE ALL ON FUNCTION skip_lost_ids() FROM PUBLIC;
GRANT ALL ON FUNCTION skip_lost_ids() TO homeward_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE adopter_links TO homeward_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE animal_words TO homeward_app;
GRANT SELECT,INSERT,UPDATE ON TABLE api_keys TO homeward_app;
GRANT SELECT ON SEQUENCE api_keys_id_seq TO homeward_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE application_counts TO homeward_app;
GRANT SELECT,INSERT ON TABLE application_history TO homeward_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE applications TO homeward_app;
GRANT SELECT ON SEQUENCE applications_id_seq TO homeward_app;
GRANT SELECT,INSERT ON TABLE audit TO homeward_app;
GRANT SELECT,INSERT,UPDATE ON TABLE audit_counts TO homeward_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE bulk_ended TO homeward_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE bulk_ends TO homeward_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE categories TO homeward_app;
GRANT SELECT,INSERT,UPDATE ON TABLE category_registrations TO homeward_app;
GRANT SELECT,INSERT,UPDATE ON TABLE clients TO homeward_app;
GRANT SELECT ON SEQUENCE clients_id_seq TO homeward_app;
GRANT SELECT,INSERT,UPDATE ON TABLE confirmed_shelters TO homeward_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE delivery_exceptions TO homeward_app;
GRANT SELECT ON TABLE deployment TO homeward_app;
GRANT UPDATE(server) ON TABLE deployment TO homeward_app;
GRANT UPDATE(photos_id) ON TABLE deployment TO homeward_app;
GRANT UPDATE(photos_marked_at) ON TABLE deployment TO homeward_app;
GRANT UPDATE(journal) ON TABLE deployment TO homeward_app;
GRANT UPDATE(journal_since) ON TABLE deployment TO homeward_app;
GRANT SELECT,INSERT ON TABLE events TO homeward_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE failed_sign_ins TO homeward_app;
GRANT SELECT,UPDATE ON TABLE feed TO homeward_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE form_results TO homeward_app;
GRANT SELECT,INSERT ON TABLE history TO homeward_app;
GRANT SELECT ON SEQUENCE history_id_seq TO homeward_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE idempotent_answers TO homeward_app;
GRANT SELECT,INSERT,DELETE ON TABLE identities TO homeward_app;
GRANT SELECT,INSERT,UPDATE ON TABLE key_usage TO homeward_app;
GRANT SELECT ON TABLE listing_refill TO homeward_app;
GRANT SELECT ON TABLE listings TO homeward_app;
GRANT SELECT,INSERT,UPDATE ON TABLE pets TO homeward_app;
GRANT SELECT,INSERT,UPDATE ON TABLE profiles TO homeward_app;
GRANT SELECT ON TABLE listings_computed TO homeward_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE mail TO homeward_app;
GRANT USAGE ON SEQUENCE mail_claims TO homeward_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE mail_counts TO homeward_app;
GRANT SELECT,INSERT,UPDATE ON TABLE orders TO homeward_app;
GRANT SELECT ON SEQUENCE orders_id_seq TO homeward_app;
GRANT SELECT,INSERT,DELETE ON TABLE outbox TO homeward_app;
GRANT SELECT ON SEQUENCE outbox_id_seq TO homeward_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE passkeys TO homeward_app;
GRANT SELECT ON SEQUENCE passkeys_id_seq TO homeward_app;
GRANT SELECT,INSERT,UPDATE ON TABLE people TO homeward_app;
GRANT SELECT ON SEQUENCE people_id_seq TO homeward_app;
GRANT SELECT,INSERT ON TABLE person_history TO homeward_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE person_links TO homeward_app;
GRANT SELECT ON SEQUENCE pets_id_seq TO homeward_app;
GRANT USAGE ON SEQUENCE photo_claims TO homeward_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE photo_deletions TO homeward_app;
GRANT SELECT,UPDATE ON TABLE photo_scan TO homeward_app;
GRANT SELECT,INSERT,UPDATE ON TABLE photo_storage TO homeward_app;
GRANT SELECT,INSERT,UPDATE ON TABLE photo_uploads TO homeward_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE photos TO homeward_app;
GRANT SELECT ON SEQUENCE photos_id_seq TO homeward_app;
GRANT SELECT,INSERT,DELETE ON TABLE removed_photo_bytes TO homeward_app;
GRANT UPDATE(claimed_until) ON TABLE removed_photo_bytes TO homeward_app;
GRANT SELECT ON TABLE schema_migrations TO homeward_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE search_words TO homeward_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE sessions TO homeward_app;
GRANT SELECT,INSERT,UPDATE ON TABLE shelter_questions TO homeward_app;
GRANT SELECT,INSERT,UPDATE ON TABLE shelters TO homeward_app;
GRANT SELECT ON SEQUENCE shelters_id_seq TO homeward_app;
GRANT SELECT,INSERT ON TABLE staff_clients TO homeward_app;
GRANT USAGE ON SEQUENCE test_delivery_ids TO homeward_app;
GRANT SELECT,USAGE ON SEQUENCE unannounced_changes TO homeward_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE unsettled_applications TO homeward_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE usage_writers TO homeward_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE used_values TO homeward_app;
GRANT SELECT,INSERT ON TABLE webhook_attempts TO homeward_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE webhook_replays TO homeward_app;
GRANT SELECT,UPDATE ON TABLE webhook_shards TO homeward_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE webhook_workers TO homeward_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE webhooks TO homeward_app;
GRANT SELECT ON SEQUENCE webhooks_id_seq TO homeward_app;
GRANT SELECT,INSERT,UPDATE ON TABLE word_clients TO homeward_app;
GRANT SELECT,UPDATE ON TABLE word_feed TO homeward_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE word_trigrams TO homeward_app;
reset check_function_bodies;
do $$
declare
  ends timestamptz := (date_trunc('month', now() at time zone 'utc') + interval '2 months') at time zone 'utc';
  first text := 'history_until_' || to_char(ends at time zone 'utc', 'YYYYMM');
begin
  execute format('create table %I (like history including all excluding identity)
    with (autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05)', first);
  execute format('alter table history attach partition %I for values from (minvalue) to (%L)', first, ends);
end
$$;
select make_history_partitions(), make_audit_partitions(), make_event_partitions(), make_attempt_partitions(30), make_usage_partitions();
insert into deployment (server, ids_server) values (current_server(), current_server());
insert into feed (server) values (current_server());
insert into categories (id, name) values (1, 'Dogs'), (2, 'Cats'), (3, 'Rabbits'), (4, 'Birds'), (5, 'Small animals'), (6, 'Reptiles'), (7, 'Fish'), (8, 'Horses'), (9, 'Farm animals'), (10, 'Other');
insert into shelters (name) values ('Main shelter');
insert into listing_refill values (0, 0);
insert into photo_scan default values;
insert into webhook_shards (id, position) select shard, 0 from generate_series(0, 255) as shard;
insert into word_feed (position, filled_to, fill_until) values (0, 0, 0);
select nextval('unannounced_changes');
insert into schema_migrations (name, run_on) select name, now() from unnest('{0001_store,0002_history,0003_events,0004_webhooks,0005_trust,0006_feed_readers,0007_attempts,0008_queued_deliveries,0009_changes,0010_pet_lists,0011_client_changes,0012_autovacuum,0013_usage,0014_restores,0015_shelters,0016_shelter_constraints,0017_shelter_indexes,0018_profiles,0019_photos,0020_listings,0021_listing_indexes,0022_listing_status,0023_words_of_pets,0024_words,0025_photo_bytes,0026_photo_bytes_index,0027_idempotency_shelters,0028_failovers,0029_lost_ids,0030_photo_mark,0031_journal,0032_history_kind,0033_old_deliveries,0034_photo_claims,0035_removed_files,0036_removed_files_indexes,0037_subscriptions,0038_fewer_foreign_keys,0039_outbox_foreign_keys,0040_history_bound,0041_history_key,0042_history_validated,0043_history_partitions,0044_history_months,0045_autovacuum_everywhere,0046_applications,0047_shelter_adoption,0048_responses_by_application,0049_shelter_adoption_validated,0050_mail,0051_secret,0052_erase_with_orders,0053_owned_pets,0054_holds,0055_holds_indexes,0057_outcomes,0058_history_outcome,0059_undoable_outcomes,0060_shelter_town,0061_shelters_by_town,0062_shelter_town_validated,0063_listing_colors,0070_people,0071_audit,0072_history_person,0073_person_history,0077_form_results,0080_pets_in_shelter,0083_console_lists,0084_left_pets_in_shelter,0085_confirmed_shelters,0087_entered_applications,0088_bulk_ends,0089_raised_people,0090_people_by_inviter,0091_audit_counts,0092_adopter_links,0093_mail_recipient,0094_failed_sign_ins,0095_post_changes,0096_authority}'::text[]) as name;
