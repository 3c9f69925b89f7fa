-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Endpoints say which shelters and categories they want. Empty: all.
alter table webhooks add column shelter_ids bigint[] not null default '{}';
alter table webhooks add column category_ids bigint[] not null default '{}';
drop trigger webhook_changed on webhooks;
create trigger webhook_changed
  before insert or update of url, types, shelter_ids, category_ids, status, key_id, with_orders, suspended, removed_at on webhooks
  for each row execute function webhook_changed();

-- The shelter and the category of the animal when it changed. Events from before this have a category in their data, and no shelter.
alter table outbox add column shelter_id bigint;
alter table outbox add column category_id bigint;
alter table events add column category_id bigint;
-- What the change has taken it from: such an event concerns both.
alter table events add column previous_shelter_id bigint;
alter table events add column previous_category_id bigint;

-- Processes of the release before write and publish events without a shelter: those get what the animal has when they are published.
create or replace function order_told() returns trigger language plpgsql as $$
begin
  if new.shelter_id is null then
    select shelter_id, category_id into new.shelter_id, new.category_id from pets where id = new.pet_id;
  end if;
  if new.type = 'pet.moved' then new.previous_shelter_id := (new.data::json ->> 'previousShelterId')::bigint; end if;
  if new.type = 'pet.updated' then new.previous_category_id := (new.data::json ->> 'previousCategoryId')::bigint; end if;
  return new;
end
$$;
drop trigger order_told on events;
-- A partition that is attached later gets it too.
create trigger order_told before insert on events
  for each row when (new.shelter_id is null or new.type in ('pet.moved', 'pet.updated')) execute function order_told();

-- Of this schema and no other: nobody can put a table of the same name before it.
do $$
begin
  execute format('alter function order_told() set search_path = %I, pg_temp', current_schema());
end
$$;
