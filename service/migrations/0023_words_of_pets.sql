-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Words were written by triggers, in the transaction of the change: one that paused delayed all that added the same word. From now on
-- the worker makes them (0024). listing_words stays for processes from before, which find the words in it that were there.
drop trigger note_words on pets;

-- The key that last set the name; null: the one that added the animal.
alter table pets add column named_by bigint;

create or replace function keep_listing_of_profile() returns trigger language plpgsql security definer as $$
declare
  animal bigint := coalesce(new.pet_id, old.pet_id);
begin
  -- A change of the animal that is not committed yet is waited for. One that comes later waits for this transaction.
  perform from pets where id = animal for share;
  perform refresh_listing(animal);
  return null;
end
$$;

create or replace function keep_listing_of_pet() returns trigger language plpgsql security definer as $$
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

drop function note_words_of_pet();
drop function note_listing_words(tsvector);

-- Of this schema and no other: nobody can put a table of the same name before it.
do $$
begin
  execute format('alter function keep_listing_of_profile() set search_path = %I, pg_temp', current_schema());
  execute format('alter function keep_listing_of_pet() set search_path = %I, pg_temp', current_schema());
end
$$;

-- In kB, as for listings_by_word (0022).
alter index pets_by_word_of_name set (gin_pending_list_limit = 256);
