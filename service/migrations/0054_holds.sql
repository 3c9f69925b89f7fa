-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Why an animal is not ready to be adopted. In the row of the animal: whoever locks that reads the hold as it is.
alter table pets
  -- What everybody is told, such as medical. Null: the animal is not held, and then all of these are.
  add column hold text,
  -- What staff have said.
  add column hold_reason text,
  -- Null: until staff end it.
  add column hold_until timestamptz,
  -- For staff alone.
  add column hold_note text,
  -- Whether its end makes the animal available, unless an order is open.
  add column hold_releases boolean;
alter table pets add constraint pets_hold_is_whole check (case
  when hold is null then (hold_reason, hold_until, hold_note, hold_releases) is null
  else hold_reason is not null and hold_releases is not null end) not valid;

-- What would make a held animal available leaves it pending, and the end of the hold makes it available. Also what a process of the
-- release before does: its statements find the row that they ask for, and return it pending. What ends the hold is left to the worker,
-- which records it, except for an animal that is removed. A hold that is over holds nothing.
create function pet_stays_held() returns trigger language plpgsql as $$
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
create trigger pet_stays_held before update of status, removed_at on pets
  for each row when (old.hold is not null and new.hold is not null) execute function pet_stays_held();

-- For kind pet_held.
alter table history
  add column hold_reason text,
  add column hold_until timestamptz;

-- A process of the release before records that it has made the animal available.
create function history_of_held_pet() returns trigger language plpgsql as $$
begin
  if exists (select from pets where id = new.pet_id and hold is not null and status = 'pending') then
    new.to_status := 'pending';
  end if;
  return new;
end
$$;
create trigger history_of_held_pet before insert on history
  for each row when (new.order_id is null and new.from_status = 'pending' and new.to_status = 'available')
  execute function history_of_held_pet();

-- Of this schema and no other: nobody can put a table of the same name before it.
do $$
declare
  name text;
begin
  foreach name in array array['pet_stays_held()', 'history_of_held_pet()'] loop
    execute format('alter function %s set search_path = %I, pg_temp', name, current_schema());
  end loop;
end
$$;
