-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- No row of an adopter comes or changes between the last ids that are read here and the triggers.
lock table orders, applications in share row exclusive mode;

-- A name, an address or what somebody types, without case, accents, marks and the spellings of one sound: Müller, Mueller and Muler are the
-- same. Immutable, since an index has it, and by code points, since a database may have the locale C: there lower() knows ASCII alone.
create function adopter_fold(given text) returns text language sql immutable parallel safe as $$
  select btrim(regexp_replace(
    replace(replace(replace(
      regexp_replace(regexp_replace(
        translate(lower(unaccent(normalize(given, NFKC))),
          'АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯІЇЄҐЂЈЉЊЋЏΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩς',
          'абвгдежзийклмнопрстуфхцчшщъыьэюяіїєґђјљњћџαβγδεζηθικλμνξοπρστυφχψωσ'),
        '[\u0001-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000,;]+', ' ', 'g'),
        '[\u0021-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007e\u00a1-\u00bf\u02b0-\u036f\u200b-\u206f\u3001-\u303f]', '', 'g'),
      'ae', 'a'), 'oe', 'o'), 'ue', 'u'),
    '([^0-9 ])\1+', '\1', 'g'))
$$;

-- The digits of a telephone number without what begins it: 0043 1 555, +43 (0)1 555 and 01 555 all end with 1555.
create function adopter_digits(phone text) returns text language sql immutable parallel safe as $$
  select ltrim(regexp_replace(regexp_replace(normalize(phone, NFKC), '\(\s*0\s*\)', '', 'g'), '[^0-9]', '', 'g'), '0')
$$;

-- By what an adopter is found: the words of the name, the name as one word, the address, the digits of the telephone number.
create function adopter_words_of(name text, email text, phone text) returns text language sql immutable parallel safe as $$
  select ' ' || concat_ws(' ', adopter_fold(name), case when name ~ '\s' then adopter_fold(regexp_replace(name, '\s', '', 'g')) end,
    adopter_fold(email), adopter_digits(phone)) || ' '
$$;

-- Every three characters in a row of each word, or the whole word if it is shorter, and the shelter, so that a search of one shelter reads
-- nothing of the others.
create function adopter_grams(shelter_id bigint, words text) returns text[] language sql immutable parallel safe as $$
  select array_agg(distinct gram) from (
    select substr(word, n, 3) as gram from unnest(string_to_array(btrim(words), ' ')) as word, generate_series(1, greatest(length(word) - 2, 1)) as n
    union all select '#' || shelter_id where shelter_id is not null) as grams where gram <> ''
$$;
do $$
begin
  execute format('alter function adopter_fold(text) set search_path = %I, pg_temp', current_schema());
  execute format('alter function adopter_words_of(text, text, text) set search_path = %I, pg_temp', current_schema());
end
$$;

-- By which staff find an adopter. Triggers write it, so that it has what the application or the order has, and nothing once that is erased.
-- Owner: adoption. Rows go with the adopter's data of their application or order.
create table adopter_words (
  subject text not null constraint adopter_words_subject check (subject in ('application', 'order')),
  subject_id bigint not null,
  -- That of the application or the order.
  shelter_id bigint not null,
  created_at timestamptz not null,
  words text not null,
  primary key (subject, subject_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on);
create index adopter_words_by_shelter on adopter_words (shelter_id, created_at);
create index adopter_words_by_time on adopter_words (created_at);
-- Every search reads all entries that wait to be put into their places, so they may not become many: the limit is in kB.
create index adopter_words_by_gram on adopter_words using gin (adopter_grams(shelter_id, words)) with (gin_pending_list_limit = 256);

-- Which applications and orders of before this release the worker has still to read.
-- Owner: adoption. Two rows; they stay.
create table adopter_words_fill (
  subject text primary key,
  filled_to bigint not null,
  fill_until bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
insert into adopter_words_fill select 'application', 0, coalesce(max(id), 0) from applications;
insert into adopter_words_fill select 'order', 0, coalesce(max(id), 0) from orders;

create function application_found_by() returns trigger language plpgsql as $$
begin
  -- What an adopter has not confirmed nobody sees.
  if new.status = 'unconfirmed' or (new.adopter_name is null and new.adopter_email is null) then
    if tg_op = 'UPDATE' then delete from adopter_words where subject = 'application' and subject_id = new.id; end if;
  else
    insert into adopter_words (subject, subject_id, shelter_id, created_at, words)
      values ('application', new.id, new.shelter_id, new.created_at, adopter_words_of(new.adopter_name, new.adopter_email, new.adopter_phone))
      on conflict (subject, subject_id) do update set shelter_id = excluded.shelter_id, words = excluded.words;
  end if;
  return null;
end
$$;
create function order_found_by() returns trigger language plpgsql as $$
begin
  if new.adopter_name is null and new.adopter_email is null then
    if tg_op = 'UPDATE' then delete from adopter_words where subject = 'order' and subject_id = new.id; end if;
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
  execute format('alter function application_found_by() set search_path = %I, pg_temp', current_schema());
  execute format('alter function order_found_by() set search_path = %I, pg_temp', current_schema());
end
$$;
create trigger application_found_by after insert on applications for each row execute function application_found_by();
create trigger application_found_by_other_words after update on applications for each row
  when ((old.status = 'unconfirmed') <> (new.status = 'unconfirmed') or (old.shelter_id, old.adopter_name, old.adopter_email, old.adopter_phone)
    is distinct from (new.shelter_id, new.adopter_name, new.adopter_email, new.adopter_phone))
  execute function application_found_by();
create trigger order_found_by after insert on orders for each row execute function order_found_by();
create trigger order_found_by_other_words after update on orders for each row
  when ((old.shelter_id, old.adopter_name, old.adopter_email) is distinct from (new.shelter_id, new.adopter_name, new.adopter_email))
  execute function order_found_by();

grant select, insert, update, delete on adopter_words to homeward_app;
grant select, update on adopter_words_fill to homeward_app;
