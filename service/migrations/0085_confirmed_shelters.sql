-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- A shelter's words as store staff have confirmed them last; null: never. Mail and searches for places use these, if the shelter still
-- gives any. Its e-mail address is also confirmed by the link that was mailed to it. Not in `shelters`: its staff write that row.
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
grant select, insert, update on confirmed_shelters to homeward_app;

-- Only store staff add shelters, also by processes of the release before.
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

-- Confirms what store staff wrote: all of a shelter that never had a key to change itself; else each value that the audit says a command,
-- or a key for the whole store, has written last. Whatever else is there waits until somebody looks at it.
insert into confirmed_shelters (shelter_id, name, email, phone, website, address, town, postcode)
select id,
    max(value) filter (where field = 'name'), max(value) filter (where field = 'email'), max(value) filter (where field = 'phone'),
    max(value) filter (where field = 'website'), max(value) filter (where field = 'address'), max(value) filter (where field = 'town'),
    max(value) filter (where field = 'postcode')
  from (
    select shelters.id, given.field, given.value from shelters,
        lateral (values ('name', name), ('email', email), ('phone', phone), ('website', website), ('address', address), ('town', town),
          ('postcode', postcode)) as given (field, value)
      where not exists (select from api_keys where api_keys.shelter_id = shelters.id and 'shelter:manage' = any (scopes))
        or given.value = (
          select case when (audit.key_id is null and audit.person_id is null) or 'store:manage' = any (api_keys.scopes) then audit.after ->> given.field end
            from audit left join api_keys on api_keys.id = audit.key_id
            where audit.target = 'shelter' and audit.target_id = shelters.id and audit.act in ('shelter.created', 'shelter.changed')
              and audit.after ? given.field
            order by audit.at desc, audit.id desc limit 1)
  ) as written
  group by id;
