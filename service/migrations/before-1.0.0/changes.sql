-- What `homeward migrate` does to a database that has the schema of before 1.0.0, so that it has that of 1.0.0. No rows are changed.

-- Both were added without reading the rows that were there.
alter table pets validate constraint pets_hold_is_whole;
alter table person_links validate constraint person_links_kind;

-- A comment in it named a migration.
create or replace function make_usage_partitions() returns void language plpgsql security definer as $$
declare
  today date := (now() at time zone 'utc')::date;
  day date;
  name text;
begin
  perform pg_advisory_xact_lock(hashtextextended('make_usage_partitions', 0));
  for day in select generate_series(today - 1, today + 2, interval '1 day') loop
    name := 'key_usage_' || to_char(day, 'YYYYMMDD');
    if to_regclass(name) is null then
      execute format('create table %I (like key_usage including all)
        with (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05)', name);
      execute format('alter table key_usage attach partition %I for values from (%L) to (%L)',
        name, day::timestamp at time zone 'utc', (day + 1)::timestamp at time zone 'utc');
    end if;
  end loop;
end
$$;
do $$
begin
  execute format('alter function make_usage_partitions() set search_path = %I, pg_temp', current_schema());
end
$$;

-- What a worker of before has begun is not left undone.
do $$
begin
  if exists (select from unsettled_applications) or exists (select from listing_refill where refilled_to < refill_until)
    or exists (select from photos where status = 'ready' and pictures_bytes is null) or exists (select from removed_photo_bytes where files is null)
    or exists (select from idempotent_answers where shelter_id is null)
  then
    raise exception 'its worker has not finished what it does after an upgrade: start it again for some minutes';
  end if;
end
$$;
-- Processes of releases before those did not know applications, holds and clients of animals, and triggers stood in for them. Listings got
-- colors and photos their bytes later than the first rows.
drop trigger pet_placed on pets;
drop trigger pet_settles_applications on pets;
drop trigger order_settles_application on orders;
drop trigger order_erases_application on orders;
drop trigger history_of_held_pet on history;
drop function pet_placed(), note_unsettled_applications(), has_unsettled_applications(bigint), order_erased(), history_of_held_pet();
drop function refill_listings(integer);
drop table unsettled_applications, listing_refill;
drop index photos_to_count;

-- Who has described an animal is in its history.
alter table history add column changed text[];

-- The first rows of both did not say them.
alter table idempotent_answers alter column shelter_id set not null;
alter table removed_photo_bytes alter column files set not null;
drop index removed_files_by_time, removed_files_by_name;
create index removed_files_by_time on removed_photo_bytes (removed_at);
create index removed_files_by_name on removed_photo_bytes using gin (files) with (fastupdate = off);

-- A worker counted the words of names and breeds, to correct misspelt ones of searches. These are corrected to words of the program and to
-- towns.
drop table animal_words, search_words, word_trigrams, word_clients, word_feed;
alter table pets drop column named_by;
alter table profiles drop column breeds_by;
create index confirmed_shelters_by_town on confirmed_shelters using gin (listing_place(town) gin_trgm_ops) where town is not null;
