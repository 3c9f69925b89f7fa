-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- The status changes with every order, the rest of what a search finds an animal by rarely. So the status is a column and no word of
-- the document any more. Documents from before still have words such as 'status=sold': no search asks for them.
create or replace view listings_computed as
  select pets.id, pets.shelter_id, category_id, status, breeds, birth_date, sex, size, coat, good_with,
      setweight(to_tsvector('listings', name), 'A')
      || setweight(to_tsvector('listings', concat_ws(' ', breed_primary, breed_secondary)), 'B')
      || setweight(to_tsvector('listings', array_to_string(tags, ' ')), 'C')
      || setweight(to_tsvector('listings', coalesce(description, '')), 'D')
      || array_to_tsvector(array_remove(array[
        'category=' || category_id, 'shelter=' || pets.shelter_id,
        'sex=' || sex, 'size=' || size, 'coat=' || coat, 'born=' || greatest(extract(year from birth_date), 2000)
      ] || array(select 'breed=' || breed from unnest(breeds) breed) || array(select 'with=' || companion from unnest(good_with) companion), null))
        as document
    from pets join profiles on pet_id = pets.id
    cross join lateral (select
      array(select distinct listing_breed(breed) from unnest(array[breed_primary, breed_secondary]) breed
        where listing_breed(breed) <> '' order by 1) as breeds,
      array_remove(array[
        case when good_with_children = 'yes' then 'children' end,
        case when good_with_dogs = 'yes' then 'dogs' end,
        case when good_with_cats = 'yes' then 'cats' end], null) as good_with) as lists
    where pets.removed_at is null;

-- An update of the status alone names no column that an index has, so it is HOT: it writes no entry of an index, and no document.
create or replace function keep_listing_of_pet() returns trigger language plpgsql security definer as $$
begin
  if (old.name, old.category_id, old.shelter_id, old.removed_at)
    is not distinct from (new.name, new.category_id, new.shelter_id, new.removed_at)
  then
    update listings set status = new.status where id = new.id;
    return null;
  end if;
  if exists (select from profiles where pet_id = new.id) then perform refresh_listing(new.id); end if;
  if new.name <> old.name then perform note_listing_words(setweight(to_tsvector('listings', new.name), 'A')); end if;
  return null;
end
$$;

-- Of this schema and no other: nobody can put a table of the same name before it.
do $$
begin
  execute format('alter function keep_listing_of_pet() set search_path = %I, pg_temp', current_schema());
end
$$;

-- Each page keeps room for another version of a row: a row has 2 kB at most, since longer documents are stored apart. Vacuum comes
-- early, since it also moves the entries that wait (below) to their places.
alter table listings set (
  fillfactor = 75, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02
);
-- In kB. Every search reads all entries that wait to be put into their places, so they may not become many.
alter index listings_by_word set (gin_pending_list_limit = 256);
