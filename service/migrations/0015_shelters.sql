-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Every animal belongs to a shelter. The first is there from the start: a store without others is that shelter.
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
  constraint shelters_position_is_whole check ((latitude is null) = (longitude is null))
);
insert into shelters (name) values ('Main shelter');

-- A constant default is not written to the rows. Processes of the release before add animals to the first shelter.
alter table pets add column shelter_id bigint not null default 1;
alter table pets add constraint pets_shelter_id_fkey foreign key (shelter_id) references shelters not valid;

-- What a bound key adds belongs to its shelter. Null: the key is not bound.
alter table api_keys add column shelter_id bigint;
alter table api_keys add constraint api_keys_shelter_id_fkey foreign key (shelter_id) references shelters not valid;
alter table api_keys add constraint api_keys_manage_their_shelter
  check (not 'shelter:manage' = any (scopes) or shelter_id is not null) not valid;

-- An order belongs to the shelter of its animal, and so does what is told of it. Triggers, so that processes of the release before
-- keep both. At this moment every animal is in the first shelter. Events from before this have none: only their clients read them.
alter table orders add column shelter_id bigint not null default 1;
alter table events add column shelter_id bigint;

-- An animal that doesn't exist is left to the foreign key.
create function order_placed() returns trigger language plpgsql as $$
begin
  new.shelter_id := coalesce((select shelter_id from pets where id = new.pet_id), 1);
  return new;
end
$$;
create trigger order_placed before insert on orders for each row execute function order_placed();

create function order_told() returns trigger language plpgsql as $$
begin
  new.shelter_id := (select shelter_id from pets where id = new.pet_id);
  return new;
end
$$;
-- A partition that is attached later gets it too.
create trigger order_told before insert on events for each row when (new.client_id is not null) execute function order_told();

create function pet_moved() returns trigger language plpgsql as $$
begin
  update orders set shelter_id = new.shelter_id where pet_id = new.id;
  return null;
end
$$;
create trigger pet_moved after update of shelter_id on pets
  for each row when (old.shelter_id <> new.shelter_id) execute function pet_moved();

-- Of this schema and no other: nobody can put a table of the same name before it.
do $$
declare
  name text;
begin
  foreach name in array array['order_placed()', 'order_told()', 'pet_moved()'] loop
    execute format('alter function %s set search_path = %I, pg_temp', name, current_schema());
  end loop;
end
$$;

grant select, insert, update on shelters to homeward_app;
