-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- What a text about an animal said before and after a change of its history: a description, what a photo shows, the note of a hold.
-- Owner: animals. Of each animal the newest 20; all go 30 days after it has left. Notes of holds also go when an adopter of it is erased.
create table animal_texts (
  pet_id bigint not null references pets,
  -- The row of the history.
  history_id bigint not null,
  field text not null,
  -- That of the animal then: the people of another one do not read it.
  shelter_id bigint not null,
  before text,
  after text,
  -- Null: the animal is here.
  ends_at timestamptz,
  primary key (pet_id, history_id, field)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on);
create index animal_texts_to_end on animal_texts (ends_at) where ends_at is not null;

create function animal_left() returns trigger language plpgsql as $$
begin
  update animal_texts set ends_at = case when new.status = 'sold' or new.removed_at is not null then now() + interval '30 days' end
    where pet_id = new.id;
  return null;
end
$$;

-- As in 0019, and with the notes of holds, which may be about an adopter.
create or replace function application_found_by() returns trigger language plpgsql as $$
begin
  -- What an adopter has not confirmed nobody sees.
  if new.status = 'unconfirmed' or (new.adopter_name is null and new.adopter_email is null) then
    if tg_op = 'UPDATE' then
      delete from adopter_words where subject = 'application' and subject_id = new.id;
      delete from animal_texts where pet_id = new.pet_id and field = 'holdNote';
    end if;
  else
    insert into adopter_words (subject, subject_id, shelter_id, created_at, words)
      values ('application', new.id, new.shelter_id, new.created_at, adopter_words_of(new.adopter_name, new.adopter_email, new.adopter_phone))
      on conflict (subject, subject_id) do update set shelter_id = excluded.shelter_id, words = excluded.words;
  end if;
  return null;
end
$$;
create or replace function order_found_by() returns trigger language plpgsql as $$
begin
  if new.adopter_name is null and new.adopter_email is null then
    if tg_op = 'UPDATE' then
      delete from adopter_words where subject = 'order' and subject_id = new.id;
      delete from animal_texts where pet_id = new.pet_id and field = 'holdNote';
    end if;
  else
    insert into adopter_words (subject, subject_id, shelter_id, created_at, words)
      values ('order', new.id, new.shelter_id, new.created_at, adopter_words_of(new.adopter_name, new.adopter_email, null))
      on conflict (subject, subject_id) do update set shelter_id = excluded.shelter_id, words = excluded.words;
  end if;
  return null;
end
$$;
-- Of this schema and no other: nobody can put a table of the same name before it.
do $$
begin
  execute format('alter function animal_left() set search_path = %I, pg_temp', current_schema());
  execute format('alter function application_found_by() set search_path = %I, pg_temp', current_schema());
  execute format('alter function order_found_by() set search_path = %I, pg_temp', current_schema());
end
$$;
create trigger animal_left after update of status, removed_at on pets for each row
  when ((old.status = 'sold' or old.removed_at is not null) <> (new.status = 'sold' or new.removed_at is not null)) execute function animal_left();

grant select, insert, update, delete on animal_texts to homeward_app;
