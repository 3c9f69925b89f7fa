-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Colors as listing_breed() writes them. Their words are in the document too, so that its index finds them.
-- A slash is no path in them, nor in a breed: black/white is two words.
alter table listings add column colors text[] not null default '{}';

create or replace view listings_computed as
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

create or replace function refresh_listing(animal bigint) returns void language plpgsql as $$
begin
  insert into listings select * from listings_computed where id = animal
    on conflict (id) do update set shelter_id = excluded.shelter_id, category_id = excluded.category_id, status = excluded.status,
      breeds = excluded.breeds, birth_date = excluded.birth_date, sex = excluded.sex, size = excluded.size, coat = excluded.coat,
      good_with = excluded.good_with, document = excluded.document, colors = excluded.colors;
  if not found then delete from listings where id = animal; end if;
end
$$;

-- Animals that were described before are found by their colors, or by a breed with a slash, once their rows are made again. The worker does it, up to the newest of
-- them; a write of an animal does it for that one.
create table listing_refill (
  -- The rows of animals up to this id are made again.
  refilled_to bigint not null,
  refill_until bigint not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
grant select on listing_refill to homeward_app;
insert into listing_refill select 0, coalesce(max(pet_id), 0) from profiles;
-- As every table, for a look at it: homeward doctor takes one that can't be read for a dump that was restored without its rights.
grant select on listing_refill to homeward_app;

-- Makes the rows of the next animals again. Returns how many animals it has looked at; 0: none are left, or another worker does it.
create function refill_listings(animals_max integer) returns integer language plpgsql security definer as $$
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

-- Of this schema and no other: nobody can put a table of the same name before it.
do $$
begin
  execute format('alter function refill_listings(integer) set search_path = %I, pg_temp', current_schema());
end
$$;
revoke execute on function refill_listings(integer) from public;
grant execute on function refill_listings(integer) to homeward_app;
