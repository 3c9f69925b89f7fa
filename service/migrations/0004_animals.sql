-- release: 1.0.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Kinds of animals. Those without a name were registered by partners, who used their number (ADR 0030).
-- Owner: animals. One without a name goes when staff prune it and no animal is in it: the foreign key of animals forbids any other.
create table categories (
  id bigint primary key,
  name text,
  created_at timestamptz not null default now()
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create index categories_named_first on categories ((name is null), id);
insert into categories (id, name) values
  (1, 'Dogs'), (2, 'Cats'), (3, 'Rabbits'), (4, 'Birds'), (5, 'Small animals'),
  (6, 'Reptiles'), (7, 'Fish'), (8, 'Horses'), (9, 'Farm animals'), (10, 'Other');

-- How many categories a client has registered on its last day of registering one (UTC).
-- Owner: animals. A row for each client that has registered one; it stays.
create table category_registrations (
  client_id bigint primary key references clients,
  day date not null,
  count bigint not null check (count > 0)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- Words without accents and without stemming: names and breeds are of every language. The words of hyphenated ones are separate, and
-- addresses are left out.
create text search configuration listings (copy = pg_catalog.simple);
alter text search configuration listings alter mapping for word, hword_part, numword, hword_numpart with unaccent, simple;
alter text search configuration listings
  drop mapping for hword, asciihword, numhword, email, url, url_path, host, file, version, sfloat, float;

create type pet_status as enum ('available', 'pending', 'sold');

-- The animals. Whatever changes one locks its row first, so that its history and its events are in order.
-- Owner: animals. Rows stay: a removed animal leaves every list, and its history stays.
create table pets (
  id bigint generated always as identity primary key,
  category_id bigint not null references categories,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- An animal that is removed, or has an outcome such as a transfer.
  removed_at timestamptz,
  status pet_status not null,
  name text not null check (char_length(name) between 1 and 200),
  shelter_id bigint not null default 1 references shelters,
  -- The client that has added the animal with a key without a shelter: it may describe, rename and remove it until staff place the animal
  -- in a shelter. Null: none. No foreign key: clients are never deleted, and each new animal would lock its client's row.
  client_id bigint,
  -- Why the animal is not ready to be adopted: what everybody is told, such as medical. Null: it is not held, and then so are the next
  -- four. In the row of the animal: whoever locks that reads the hold as it is.
  hold text,
  -- What staff have said.
  hold_reason text,
  -- Null: until staff end it.
  hold_until timestamptz,
  -- For staff alone.
  hold_note text,
  -- Whether its end makes the animal available, unless an order is open.
  hold_releases boolean,
  -- Until then the outcome can be undone. Null: the animal is listed, or was removed for good.
  undoable_until timestamptz,
  constraint pets_hold_is_whole check (case
    when hold is null then (hold_reason, hold_until, hold_note, hold_releases) is null
    else hold_reason is not null and hold_releases is not null end)
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on);
-- The lists of animals skip removed ones by these, however many there are.
create index pets_listed on pets (id) where removed_at is null;
create index pets_listed_by_status on pets (status, id) where removed_at is null;
create index pets_listed_by_category on pets (category_id, id) where removed_at is null;
create index pets_listed_by_category_and_status on pets (category_id, status, id) where removed_at is null;
-- For the foreign key when a category is deleted, since a removed animal refers to its category too.
create index pets_of_category on pets (category_id);
create index pets_of_shelter on pets (shelter_id, id);
-- The animals of a shelter by their status: what its staff list and count. Those that have left are not in it, of which there are more
-- every year.
create index pets_in_shelter on pets (shelter_id, status, id) where removed_at is null;
-- Which holds end next, and what a search for held animals finds.
create index pets_by_hold_until on pets (hold_until) where hold_until is not null;
create index pets_by_hold on pets (hold, id) where hold is not null and removed_at is null;
create index pets_of_shelter_by_hold on pets (shelter_id, hold_until) where hold_until is not null;
-- The outcomes that can't be undone any more, for the worker; and those that can, which the staff of a shelter look through.
create index pets_undoable on pets (undoable_until) where undoable_until is not null;
create index pets_undoable_in_shelter on pets (shelter_id, undoable_until, id) where undoable_until is not null;
-- Finds animals without a profile by the words of their names. Every search reads all entries that wait to be put into their places, so
-- they may not become many: the limit is in kB.
create index pets_by_word_of_name on pets using gin (to_tsvector('listings', name)) with (gin_pending_list_limit = 256)
  where removed_at is null;

-- What would make a held animal available leaves it pending, and the end of the hold makes it available. Statements find the row that they
-- ask for, and return it pending. What ends the hold is left to the worker, which records it, except for an animal that is removed. A
-- hold that is over holds nothing.
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

-- What belongs to the shelter of the animal moves with it: its orders, and its open applications without the notes of the staff before.
create function pet_moved() returns trigger language plpgsql as $$
begin
  update orders set shelter_id = new.shelter_id where pet_id = new.id;
  update applications set shelter_id = new.shelter_id, note = null
    where pet_id = new.id and status in ('unconfirmed', 'submitted', 'reviewing', 'accepted');
  return null;
end
$$;
create trigger pet_moved after update of shelter_id on pets
  for each row when (old.shelter_id <> new.shelter_id) execute function pet_moved();
-- Of this schema and no other: nobody can put a table of the same name before it.
do $$
begin
  execute format('alter function pet_stays_held() set search_path = %I, pg_temp', current_schema());
  execute format('alter function pet_moved() set search_path = %I, pg_temp', current_schema());
end
$$;

-- Increased after each change of an animal whose process could not tell Redis. A sequence and not a row: no write waits for another.
create sequence unannounced_changes;
-- The first value is 1 both before and after it is taken.
select nextval('unannounced_changes');

grant select, insert, update, delete on categories to homeward_app;
grant select, insert, update on category_registrations, pets to homeward_app;
grant select on sequence pets_id_seq to homeward_app;
grant select, usage on sequence unannounced_changes to homeward_app;
