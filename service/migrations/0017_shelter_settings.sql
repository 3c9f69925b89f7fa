-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Both are changed: locked in the order of the code, which locks a shelter before what is confirmed of it.
lock table shelters, confirmed_shelters in access exclusive mode;

-- When visitors may come, by weekday and by the days that differ, in the time zone of the shelter. Null: nobody has said it.
alter table shelters add column opening_hours jsonb;
-- A new animal begins with a hold, so that nobody orders it before staff say that it is ready.
alter table shelters add column new_animals_held boolean not null default false;
-- What mail to adopters adds, in the shelter's words.
alter table shelters add column mail_received text;
alter table shelters add column mail_accepted text;
alter table shelters add constraint shelters_mail_received_length check (char_length(mail_received) <= 1000) not valid;
alter table shelters add constraint shelters_mail_accepted_length check (char_length(mail_accepted) <= 1000) not valid;
alter table shelters add constraint shelters_opening_hours_size check (length(opening_hours::text) <= 20000) not valid;

alter table confirmed_shelters add column mail_received text;
alter table confirmed_shelters add column mail_accepted text;

-- Only store staff add shelters, so what they write then is confirmed.
create or replace function shelter_added() returns trigger language plpgsql as $$
begin
  insert into confirmed_shelters (shelter_id, name, email, phone, website, address, town, postcode, mail_received, mail_accepted)
    values (new.id, new.name, new.email, new.phone, new.website, new.address, new.town, new.postcode, new.mail_received, new.mail_accepted);
  return null;
end
$$;
-- Replacing a function forgets where it looks for tables.
do $$
begin
  execute format('alter function shelter_added() set search_path = %I, pg_temp', current_schema());
end
$$;
