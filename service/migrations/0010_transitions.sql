-- release: 1.0.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Every transition of an animal or of an order, in the transaction that made it. Rows of one animal are written under
-- its lock, so their ids are in the order of what happened. No adopter's data: those can be erased, this can't. No foreign keys to
-- clients, keys and people: these are never deleted, and each row would lock theirs. 'homeward verify' finds those that don't exist.
-- Owner: animals. Rows are only added, and stay for ever. A partition a month.
create table history (
  id bigint generated always as identity,
  pet_id bigint not null constraint history_pet_id_fkey references pets,
  order_id bigint constraint history_order_id_fkey references orders,
  client_id bigint,
  key_id bigint,
  at timestamptz not null default clock_timestamp(),
  from_status text,
  to_status text not null,
  -- What a row says, for people; `kind` is for programs.
  why text not null,
  kind text,
  -- For kind pet_moved.
  from_shelter_id bigint,
  to_shelter_id bigint,
  -- For kind pet_held.
  hold_reason text,
  hold_until timestamptz,
  -- For kind pet_outcome: its type. Only staff read it.
  outcome text,
  -- The person who has done it in the console. Null: a key, a command or the service.
  person_id bigint,
  -- For kinds pet_described and pet_photo_changed: the names of the fields that were changed. Never what was in them.
  changed text[],
  constraint history_move_has_shelters check (kind <> 'pet_moved' or (from_shelter_id is not null and to_shelter_id is not null)),
  constraint history_pkey primary key (id, at)
) partition by range (at);
create index history_by_pet on history (pet_id, id);

-- When the last partition ends.
create function history_end() returns timestamptz stable language sql as $$
  select max(to_date(right(relname, 6), 'YYYYMM') + case when relname like 'history\_until\_%' then interval '0' else interval '1 month' end) at time zone 'utc'
    from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = 'history'::regclass
$$;

-- The partitions of this month and the next three, without a gap after those that there are: if no worker runs, rows can still be written
-- for three months. A partition refers to animals and orders, so that writers of these wait while one is attached.
create function make_history_partitions() returns bigint language plpgsql security definer as $$
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

-- The first partition takes everything until the end of next month. Its end is in its name; those of months are named by their beginning.
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

-- Of this schema and no other: nobody can put a table of the same name before it.
do $$
begin
  execute format('alter function history_end() set search_path = %I, pg_temp', current_schema());
  execute format('alter function make_history_partitions() set search_path = %I, pg_temp', current_schema());
end
$$;
revoke execute on function history_end(), make_history_partitions() from public;
grant execute on function history_end(), make_history_partitions() to homeward_app;
select make_history_partitions();

-- What people have done with animals, orders and applications, by person and by time. It is an index of both histories: one of the column
-- would have to read all that keys have done.
-- Owner: animals. Rows are only added, and stay.
create table person_history (
  person_id bigint not null,
  at timestamptz not null,
  -- A row of the history, at this time. Else of the history of applications.
  history_id bigint,
  application_id bigint,
  application_history_id bigint,
  constraint person_history_names_a_row check ((history_id is null) = (application_id is not null and application_history_id is not null))
) with (autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05);
create index person_history_by_person on person_history (person_id, at, history_id) where history_id is not null;
create index person_history_by_time on person_history (at, history_id) where history_id is not null;
create index person_applications_by_person on person_history (person_id, at, application_history_id) where application_id is not null;
create index person_applications_by_time on person_history (at, application_history_id) where application_id is not null;

grant select, insert on history, person_history to homeward_app;
grant select on sequence history_id_seq to homeward_app;
