-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Where a shelter is, as people type it into a search. Null: nobody has said it, as of all shelters from before.
alter table shelters add column town text;
alter table shelters add column postcode text;
alter table shelters add column country text;
alter table shelters add constraint shelters_town_check check (char_length(town) <= 100) not valid;
alter table shelters add constraint shelters_postcode_check check (char_length(postcode) <= 20) not valid;
alter table shelters add constraint shelters_country_check check (country ~ '^[A-Z]{2}$') not valid;

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
