-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Both are trusted extensions: the owner of a database may create them.
create extension if not exists unaccent;
create extension if not exists pg_trgm;

-- Words without accents and without stemming: names and breeds are of every language. The words of hyphenated ones are separate, and
-- addresses are left out.
create text search configuration listings (copy = pg_catalog.simple);
alter text search configuration listings alter mapping for word, hword_part, numword, hword_numpart with unaccent, simple;
alter text search configuration listings
  drop mapping for hword, asciihword, numhword, email, url, url_path, host, file, version, sfloat, float;

-- What searches read: a row for each animal that has a profile and is not removed. Triggers keep it, so that processes of the release
-- before keep it too. There are no profiles yet, so there is nothing to fill in. Animals without a profile are found in pets.
create table listings (
  id bigint primary key,
  shelter_id bigint not null,
  category_id bigint not null,
  status pet_status not null,
  -- As listing_breed() writes them.
  breeds text[] not null,
  birth_date date,
  sex text not null,
  size text,
  coat text,
  -- Those that the answer is yes for.
  good_with text[] not null,
  -- The words of the animal, the name with weight A, breeds B, tags C, the description D. Also the filters as words such as
  -- 'sex=female', which no text can contain: so that one index finds every combination of words and filters. 'born=2000' is also
  -- what animals have that were born before: a search for old ones has fewer words then.
  document tsvector not null
);
create index listings_of_shelter on listings (shelter_id, id);
create index listings_by_word on listings using gin (document);

-- The words of names, breeds and descriptions, to find the right word for a misspelt one. Words stay when their animals go.
create table listing_words (
  word text not null,
  -- It was the word of a name or a breed. Only these correct others.
  is_name boolean not null,
  primary key (word, is_name)
);
create index listing_words_by_trigram on listing_words using gin (word gin_trgm_ops) where is_name;

create function listing_breed(breed text) returns text language sql stable parallel safe as $$
  select btrim(regexp_replace(lower(unaccent(breed)), '[\s''\\]+', ' ', 'g'))
$$;

-- The rows that listings must have.
create view listings_computed as
  select pets.id, pets.shelter_id, category_id, status, breeds, birth_date, sex, size, coat, good_with,
      setweight(to_tsvector('listings', name), 'A')
      || setweight(to_tsvector('listings', concat_ws(' ', breed_primary, breed_secondary)), 'B')
      || setweight(to_tsvector('listings', array_to_string(tags, ' ')), 'C')
      || setweight(to_tsvector('listings', coalesce(description, '')), 'D')
      || array_to_tsvector(array_remove(array[
        'status=' || status, 'category=' || category_id, 'shelter=' || pets.shelter_id,
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

create function refresh_listing(animal bigint) returns void language plpgsql as $$
begin
  insert into listings select * from listings_computed where id = animal
    on conflict (id) do update set shelter_id = excluded.shelter_id, category_id = excluded.category_id, status = excluded.status,
      breeds = excluded.breeds, birth_date = excluded.birth_date, sex = excluded.sex, size = excluded.size, coat = excluded.coat,
      good_with = excluded.good_with, document = excluded.document;
  if not found then delete from listings where id = animal; end if;
end
$$;

-- In the order of the words, so that two transactions that add the same ones don't deadlock.
create function note_listing_words(document tsvector) returns void language sql as $$
  insert into listing_words (word, is_name)
    select lexeme, weights && '{A,B}' from unnest(document)
      where strpos(lexeme, '=') = 0 and char_length(lexeme) <= 50 order by lexeme
    on conflict do nothing
$$;

create function keep_listing_of_profile() returns trigger language plpgsql security definer as $$
declare
  animal bigint := coalesce(new.pet_id, old.pet_id);
begin
  -- A change of the animal that is not committed yet is waited for. One that comes later waits for this transaction.
  perform from pets where id = animal for share;
  perform refresh_listing(animal);
  perform note_listing_words(document) from listings where id = animal and tg_op <> 'DELETE';
  return null;
end
$$;
create trigger keep_listing after insert or update or delete on profiles for each row execute function keep_listing_of_profile();

create function keep_listing_of_pet() returns trigger language plpgsql security definer as $$
begin
  if exists (select from profiles where pet_id = new.id) then perform refresh_listing(new.id); end if;
  if new.name <> old.name then perform note_listing_words(setweight(to_tsvector('listings', new.name), 'A')); end if;
  return null;
end
$$;
create trigger keep_listing after update on pets for each row
  when ((old.name, old.category_id, old.status, old.shelter_id, old.removed_at)
    is distinct from (new.name, new.category_id, new.status, new.shelter_id, new.removed_at))
  execute function keep_listing_of_pet();

create function note_words_of_pet() returns trigger language plpgsql security definer as $$
begin
  perform note_listing_words(setweight(to_tsvector('listings', new.name), 'A'));
  return null;
end
$$;
create trigger note_words after insert on pets for each row execute function note_words_of_pet();

-- In kilometres, over the surface of a sphere. Between two points on the earth it is wrong by 0.5% at most. Not strict, since the
-- planner would then call it for each row: it replaces the call by the expression, which is ten times as fast. No position is null.
create function distance_km(
  latitude_a double precision, longitude_a double precision, latitude_b double precision, longitude_b double precision
) returns double precision language sql immutable parallel safe as $$
  select 12742 * asin(sqrt(least(1.0,
    sin(radians(latitude_b - latitude_a) / 2) ^ 2
    + cos(radians(latitude_a)) * cos(radians(latitude_b)) * sin(radians(longitude_b - longitude_a) / 2) ^ 2)))
$$;

-- Of this schema and no other: nobody can put a table of the same name before it.
do $$
begin
  execute format('alter function keep_listing_of_profile() set search_path = %I, pg_temp', current_schema());
  execute format('alter function keep_listing_of_pet() set search_path = %I, pg_temp', current_schema());
  execute format('alter function note_words_of_pet() set search_path = %I, pg_temp', current_schema());
end
$$;
grant select on listings, listings_computed, listing_words to homeward_app;
