-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- What staff have noted about an application, one after another. applications.note is the newest of them, which 1.0.0 reads and writes.
-- Owner: adoption. Texts go with the adopter, and when the animal moves to another shelter; that there was a note stays, of the last 50.
create table application_notes (
  application_id bigint not null references applications on delete cascade,
  id bigint generated always as identity,
  -- Null: it was there before notes had a time and an author.
  at timestamptz default clock_timestamp(),
  client_id bigint,
  key_id bigint,
  -- The person who has written it in the console. Null: a key, a command, or 1.0.0.
  person_id bigint,
  -- Null: erased, or removed by who has written it.
  text text check (char_length(text) <= 2000),
  primary key (application_id, id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on);

create function application_note_changed() returns trigger language plpgsql as $$
declare
  newest text := (select text from application_notes where application_id = new.application_id and text is not null order by id desc limit 1);
begin
  update applications set note = newest where id = new.application_id and note is distinct from newest;
  return null;
end
$$;
create trigger application_note_changed after insert or update of text on application_notes
  for each row execute function application_note_changed();

-- Without a note there is no text of an earlier one either: an erasure and a move remove it. A statement that writes one is of 1.0.0.
create function application_noted() returns trigger language plpgsql as $$
begin
  if new.note is null then
    update application_notes set text = null where application_id = new.id and text is not null;
  elsif pg_trigger_depth() = 1 then
    insert into application_notes (application_id, at, text)
      select new.id, null, old.note where old.note is not null and not exists (select from application_notes where application_id = new.id);
    insert into application_notes (application_id, text) values (new.id, new.note);
  end if;
  return null;
end
$$;
-- Of this schema and no other: nobody can put a table of the same name before it.
do $$
begin
  execute format('alter function application_note_changed() set search_path = %I, pg_temp', current_schema());
  execute format('alter function application_noted() set search_path = %I, pg_temp', current_schema());
end
$$;
create trigger application_noted after update of note on applications
  for each row when (old.note is distinct from new.note) execute function application_noted();

grant select, insert, update, delete on application_notes to homeward_app;
