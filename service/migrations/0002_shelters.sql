-- release: 1.0.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- A town or a postcode as searches compare it: without accents, case, hyphens and other marks. Immutable, since an index has it: the
-- rules of unaccent() change with a release of PostgreSQL at most, and `reindex` follows then.
create function listing_place(place text) returns text language sql immutable parallel safe as $$
  select btrim(regexp_replace(lower(unaccent(place)), '[^[:alnum:]]+', ' ', 'g'))
$$;
-- Of this schema and no other: an index is built and restored with an empty search_path.
do $$
begin
  execute format('alter function listing_place(text) set search_path = %I, pg_temp', current_schema());
end
$$;

-- Where animals live, and who decides on adoptions. The first is there from the start: a store without others is that shelter.
-- Owner: adoption. Rows stay: animals, orders and the history name them.
create table shelters (
  id bigint generated always as identity primary key,
  name text not null check (char_length(name) between 1 and 200),
  description text check (char_length(description) <= 8000),
  email text check (char_length(email) <= 254),
  phone text check (char_length(phone) <= 40),
  website text check (char_length(website) <= 2000),
  address text check (char_length(address) <= 500),
  latitude double precision check (latitude between -90 and 90),
  longitude double precision check (longitude between -180 and 180),
  timezone text check (char_length(timezone) <= 64),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- How its animals are adopted.
  adoption text not null default 'order' check (adoption in ('order', 'application')),
  -- How many open applications an animal of it may have.
  -- squawk-ignore prefer-bigint-over-int
  applications_max integer not null default 100 check (applications_max between 1 and 500),
  application_note text check (char_length(application_note) <= 2000),
  -- Where it is, as people type it into a search. Null: nobody has said it.
  town text check (char_length(town) <= 100),
  postcode text check (char_length(postcode) <= 20),
  country text check (country ~ '^[A-Z]{2}$'),
  constraint shelters_position_is_whole check ((latitude is null) = (longitude is null))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create index shelters_by_position on shelters (latitude, longitude) where latitude is not null;
create index shelters_by_town on shelters (listing_place(town)) where town is not null;
-- A postcode is compared without its space: many leave it out.
create index shelters_by_postcode on shelters (replace(listing_place(postcode), ' ', '')) where postcode is not null;

-- What a shelter asks applicants; one without a row asks nothing. Not in `shelters`: a change of that row invalidates cached listings.
-- Owner: adoption. Rows stay.
create table shelter_questions (
  shelter_id bigint primary key references shelters,
  questions jsonb not null check (jsonb_array_length(questions) <= 40),
  updated_at timestamptz not null default now()
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- A shelter's words as store staff have confirmed them last; null: never. Mail and searches for places use these, if the shelter still
-- gives any. Its e-mail address is also confirmed by the link that was mailed to it. Not in `shelters`: its staff write that row.
-- Owner: adoption. Rows stay.
create table confirmed_shelters (
  shelter_id bigint primary key references shelters,
  name text,
  email text,
  phone text,
  website text,
  address text,
  town text,
  postcode text
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
-- Finds the town that is misspelt in a search.
create index confirmed_shelters_by_town on confirmed_shelters using gin (listing_place(town) gin_trgm_ops) where town is not null;

-- Only store staff add shelters, so what they write then is confirmed.
create function shelter_added() returns trigger language plpgsql as $$
begin
  insert into confirmed_shelters (shelter_id, name, email, phone, website, address, town, postcode)
    values (new.id, new.name, new.email, new.phone, new.website, new.address, new.town, new.postcode);
  return null;
end
$$;
create trigger shelter_added after insert on shelters for each row execute function shelter_added();
-- Of this schema and no other: nobody can put a table of the same name before it.
do $$
begin
  execute format('alter function shelter_added() set search_path = %I, pg_temp', current_schema());
end
$$;

insert into shelters (name) values ('Main shelter');

grant select, insert, update on shelters, shelter_questions, confirmed_shelters to homeward_app;
-- Doctor compares it with the ids of the table, as other sequences.
grant select on sequence shelters_id_seq to homeward_app;
