-- release: 1.0.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- What adopters choose an animal by. An animal without a row has an empty profile. domain/profile-fields.ts has a row for each field.
-- Owner: animals. Rows stay, as their animals do.
create table profiles (
  pet_id bigint primary key references pets,
  -- Copies of the animal's, for the index below.
  shelter_id bigint not null references shelters,
  removed_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  description text check (char_length(description) <= 8000),
  breed_primary text check (char_length(breed_primary) between 1 and 100),
  breed_secondary text check (char_length(breed_secondary) between 1 and 100),
  breed_mixed text not null default 'unknown' check (breed_mixed in ('yes', 'no', 'unknown')),
  birth_date date,
  birth_date_is_exact boolean not null default false,
  sex text not null default 'unknown' check (sex in ('male', 'female', 'unknown')),
  size text check (size in ('small', 'medium', 'large', 'extra_large')),
  -- squawk-ignore prefer-bigint-over-int
  weight_grams integer check (weight_grams between 1 and 10000000),
  colors text[] not null default '{}' check (cardinality(colors) <= 3),
  coat text check (coat in ('hairless', 'short', 'medium', 'long', 'wire', 'curly')),
  good_with_children text not null default 'unknown' check (good_with_children in ('yes', 'no', 'unknown')),
  good_with_dogs text not null default 'unknown' check (good_with_dogs in ('yes', 'no', 'unknown')),
  good_with_cats text not null default 'unknown' check (good_with_cats in ('yes', 'no', 'unknown')),
  spayed_neutered text not null default 'unknown' check (spayed_neutered in ('yes', 'no', 'unknown')),
  house_trained text not null default 'unknown' check (house_trained in ('yes', 'no', 'unknown')),
  vaccinated text not null default 'unknown' check (vaccinated in ('yes', 'no', 'unknown')),
  special_needs text not null default 'unknown' check (special_needs in ('yes', 'no', 'unknown')),
  -- In minor units: cents.
  fee_amount bigint check (fee_amount between 0 and 1000000000000),
  fee_currency text check (fee_currency ~ '^[A-Z]{3}$'),
  bonded_with bigint[] not null default '{}' check (cardinality(bonded_with) <= 10),
  tags text[] not null default '{}' check (cardinality(tags) <= 20),
  video_url text check (char_length(video_url) <= 2000),
  arrived_on date,
  external_id text check (char_length(external_id) between 1 and 100),
  -- An object of strings as JSON. Text, since jsonb would sort the names.
  attributes text check (char_length(attributes) <= 120000),
  constraint profiles_fee_is_whole check ((fee_amount is null) = (fee_currency is null))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
-- The shelter's own number for an animal. It is free again once the animal is removed.
create unique index profiles_external_id on profiles (shelter_id, external_id) where external_id is not null and removed_at is null;

create function copy_pet_to_profile() returns trigger language plpgsql as $$
begin
  update profiles set shelter_id = new.shelter_id, removed_at = new.removed_at where pet_id = new.id;
  return null;
end
$$;
create trigger copy_to_profile after update of shelter_id, removed_at on pets for each row
  when (old.shelter_id is distinct from new.shelter_id or old.removed_at is distinct from new.removed_at)
  execute function copy_pet_to_profile();
-- Of this schema and no other: nobody can put a table of the same name before it.
do $$
begin
  execute format('alter function copy_pet_to_profile() set search_path = %I, pg_temp', current_schema());
end
$$;

grant select, insert, update on profiles to homeward_app;
