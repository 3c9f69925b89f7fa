-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- The history gets a partition a month, and is kept for ever. What was the table until now is its first partition, until the end of next
-- month. Nothing here takes as long as the table is large: its bound is validated, its primary key is an index that exists, and its foreign
-- keys are those of the new table. Processes of the release before write and read the new table by the same name.
lock table pets, orders in share row exclusive mode;
lock table history in access exclusive mode;
do $$
declare
  ends timestamptz := (date_trunc('month', now() at time zone 'utc') + interval '2 months') at time zone 'utc';
  -- The end of the first partition is in its name. Those of months are named by their beginning.
  first text := 'history_until_' || to_char(ends at time zone 'utc', 'YYYYMM');
  last_id bigint;
  is_called boolean;
begin
  select s.last_value, s.is_called into last_id, is_called from history_id_seq as s;
  -- The new table has its own sequence, of the same name.
  alter table history alter column id drop identity;
  alter table history drop constraint history_pkey;
  alter index history_by_pet rename to history_first_by_pet;
  execute format('alter table history rename to %I', first);
  execute format('alter table %I add constraint history_first_pkey primary key using index history_by_id_and_time', first);
  execute format('revoke all on %I from homeward_app', first);

  create table history (
    id bigint generated always as identity,
    pet_id bigint not null constraint history_pet_id_fkey references pets,
    order_id bigint constraint history_order_id_fkey references orders,
    client_id bigint,
    key_id bigint,
    at timestamptz not null default clock_timestamp(),
    from_status text,
    to_status text not null,
    why text not null,
    kind text,
    from_shelter_id bigint,
    to_shelter_id bigint,
    constraint history_move_has_shelters check (kind <> 'pet_moved' or (from_shelter_id is not null and to_shelter_id is not null)),
    constraint history_pkey primary key (id, at)
  ) partition by range (at);
  create index history_by_pet on history (pet_id, id);
  perform setval('history_id_seq', last_id, is_called);
  execute format('alter table history attach partition %I for values from (minvalue) to (%L)', first, ends);
  execute format('alter table %I drop constraint history_until', first);
end
$$;
grant select, insert on history to homeward_app;
-- Doctor compares it with the ids.
grant select on sequence history_id_seq to homeward_app;
