-- release: 1.0.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- What searches read: a row for each animal that has a profile and is not removed. Triggers keep it. Animals without a profile are found
-- in pets.
-- Owner: search. A row goes when its animal is removed.
create table listings (
  id bigint primary key,
  shelter_id bigint not null,
  category_id bigint not null,
  -- Not in the document: it changes with every order, the rest rarely. An update of it alone names no column that an index has, so it is
  -- HOT: it writes no entry of an index, and no document.
  status pet_status not null,
  -- As listing_breed() writes them.
  breeds text[] not null,
  birth_date date,
  sex text not null,
  size text,
  coat text,
  -- Those that the answer is yes for.
  good_with text[] not null,
  -- The words of the animal, the name with weight A, breeds B, tags and colors C, the description D. Also the filters as words such as
  -- 'sex=female', which no text can contain: so that one index finds every combination of words and filters. 'born=2000' is also
  -- what animals have that were born before: a search for old ones has fewer words then.
  document tsvector not null,
  -- As listing_breed() writes them. Their words are in the document too, so that its index finds them.
  colors text[] not null default '{}'
-- Each page keeps room for another version of a row: a row has 2 kB at most, since longer documents are stored apart. Vacuum comes
-- early, since it also moves the entries that wait (below) to their places.
) with (
  fillfactor = 75, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02
);
create index listings_of_shelter on listings (shelter_id, id);
-- Every search reads all entries that wait to be put into their places, so they may not become many: the limit is in kB.
create index listings_by_word on listings using gin (document) with (gin_pending_list_limit = 256);

create function listing_breed(breed text) returns text language sql stable parallel safe as $$
  select btrim(regexp_replace(lower(unaccent(breed)), '[\s''\\]+', ' ', 'g'))
$$;

-- The rows that listings must have. A slash is no path in a breed or a color: black/white is two words.
create view listings_computed as
  select pets.id, pets.shelter_id, category_id, status, breeds, birth_date, sex, size, coat, good_with,
      setweight(to_tsvector('listings', name), 'A')
      || setweight(to_tsvector('listings', translate(concat_ws(' ', breed_primary, breed_secondary), '/', ' ')), 'B')
      || setweight(to_tsvector('listings', array_to_string(tags, ' ') || ' ' || translate(array_to_string(profiles.colors, ' '), '/', ' ')), 'C')
      || setweight(to_tsvector('listings', coalesce(description, '')), 'D')
      || array_to_tsvector(array_remove(array[
        'category=' || category_id, 'shelter=' || pets.shelter_id,
        'sex=' || sex, 'size=' || size, 'coat=' || coat, 'born=' || greatest(extract(year from birth_date), 2000)
      ] || array(select 'breed=' || breed from unnest(breeds) breed) || array(select 'with=' || companion from unnest(good_with) companion), null))
        as document,
      lists.colors
    from pets join profiles on pet_id = pets.id
    cross join lateral (select
      array(select distinct listing_breed(breed) from unnest(array[breed_primary, breed_secondary]) breed
        where listing_breed(breed) <> '' order by 1) as breeds,
      array_remove(array[
        case when good_with_children = 'yes' then 'children' end,
        case when good_with_dogs = 'yes' then 'dogs' end,
        case when good_with_cats = 'yes' then 'cats' end], null) as good_with,
      array(select distinct listing_breed(color) from unnest(profiles.colors) color
        where listing_breed(color) <> '' order by 1) as colors) as lists
    where pets.removed_at is null;

create function refresh_listing(animal bigint) returns void language plpgsql as $$
begin
  insert into listings select * from listings_computed where id = animal
    on conflict (id) do update set shelter_id = excluded.shelter_id, category_id = excluded.category_id, status = excluded.status,
      breeds = excluded.breeds, birth_date = excluded.birth_date, sex = excluded.sex, size = excluded.size, coat = excluded.coat,
      good_with = excluded.good_with, document = excluded.document, colors = excluded.colors;
  if not found then delete from listings where id = animal; end if;
end
$$;

create function keep_listing_of_profile() returns trigger language plpgsql security definer as $$
declare
  animal bigint := coalesce(new.pet_id, old.pet_id);
begin
  -- A change of the animal that is not committed yet is waited for. One that comes later waits for this transaction.
  perform from pets where id = animal for share;
  perform refresh_listing(animal);
  return null;
end
$$;
create trigger keep_listing after insert or update or delete on profiles for each row execute function keep_listing_of_profile();

create function keep_listing_of_pet() returns trigger language plpgsql security definer as $$
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
create trigger keep_listing after update on pets for each row
  when ((old.name, old.category_id, old.status, old.shelter_id, old.removed_at)
    is distinct from (new.name, new.category_id, new.status, new.shelter_id, new.removed_at))
  execute function keep_listing_of_pet();

-- In kilometres, over the surface of a sphere. Between two points on the earth it is wrong by 0.5% at most. Not strict, since the
-- planner would then call it for each row: it replaces the call by the expression, which is ten times as fast. No position is null.
create function distance_km(
  latitude_a double precision, longitude_a double precision, latitude_b double precision, longitude_b double precision
) returns double precision language sql immutable parallel safe as $$
  select 12742 * asin(sqrt(least(1.0,
    sin(radians(latitude_b - latitude_a) / 2) ^ 2
    + cos(radians(latitude_a)) * cos(radians(latitude_b)) * sin(radians(longitude_b - longitude_a) / 2) ^ 2)))
$$;

-- Whether an animal has the word, by the indexes of words. The planner would rather look through animals until one has it, as if each
-- word were frequent.
create function is_word_of_animal(asked text) returns boolean language plpgsql stable
  set enable_indexscan = off set enable_indexonlyscan = off set enable_seqscan = off
as $$
declare
  query constant tsquery := plainto_tsquery('listings', asked);
begin
  return exists (select from listings where document @@ query)
    or exists (select from pets where removed_at is null and to_tsvector('listings', name) @@ query);
end
$$;

-- Of this schema and no other: nobody can put a table of the same name before it.
do $$
begin
  execute format('alter function keep_listing_of_profile() set search_path = %I, pg_temp', current_schema());
  execute format('alter function keep_listing_of_pet() set search_path = %I, pg_temp', current_schema());
end
$$;

grant select on listings, listings_computed to homeward_app;
