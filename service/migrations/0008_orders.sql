-- release: 1.0.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

create type order_status as enum ('placed', 'approved', 'completed', 'cancelled', 'expired', 'returned');

-- An animal that is promised to an adopter. domain/order-states.ts has the states.
-- Owner: adoption. Rows stay. The adopter is erased 90 days after an order was cancelled or expired, or on request; of completed ones
-- only then.
create table orders (
  id bigint generated always as identity primary key,
  client_id bigint not null references clients,
  pet_id bigint not null references pets,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  expires_at timestamptz not null,
  status order_status not null default 'placed',
  adopter_name text,
  adopter_email text,
  -- That of its animal.
  shelter_id bigint not null default 1,
  -- Null: the order was placed without an application.
  application_id bigint
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on);
-- The promise in one line: no animal has two open orders, whatever the code does.
create unique index orders_one_open_per_pet on orders (pet_id) where status in ('placed', 'approved');
create index orders_by_client on orders (client_id, id);
create index orders_by_pet on orders (pet_id, id);
create index orders_by_status on orders (status, id);
create index orders_to_expire on orders (expires_at) where status = 'placed';
-- Bounds on open orders: of a client, and of one adopter within it.
create index orders_open_by_client on orders (client_id, lower(adopter_email)) where status in ('placed', 'approved');
-- An adopter asks for erasure by address, whatever the case it is written in.
create index orders_by_adopter on orders (lower(adopter_email)) where adopter_email is not null;
-- What retention erases next; an erased order leaves the index.
create index orders_with_adopter on orders (status, updated_at) where adopter_email is not null;
create index orders_by_shelter on orders (shelter_id, id);
-- What the staff of a shelter list by status.
create index orders_by_shelter_and_status on orders (shelter_id, status, id);

-- An order belongs to the shelter of its animal. An animal that doesn't exist is left to the foreign key.
create function order_placed() returns trigger language plpgsql as $$
begin
  new.shelter_id := coalesce((select shelter_id from pets where id = new.pet_id), 1);
  return new;
end
$$;
create trigger order_placed before insert on orders for each row execute function order_placed();
-- Of this schema and no other: nobody can put a table of the same name before it.
do $$
begin
  execute format('alter function order_placed() set search_path = %I, pg_temp', current_schema());
end
$$;

-- The response that a retry of a POST gets. The effect, this row and the response are one transaction.
-- Owner: access. Rows go after 24 hours, or with the adopter of the order or the application.
create table idempotent_answers (
  client_id bigint not null references clients,
  key text not null check (char_length(key) between 1 and 255),
  fingerprint text not null,
  created_at timestamptz not null default now(),
  order_id bigint references orders,
  -- squawk-ignore prefer-bigint-over-int
  status integer not null check (status between 200 and 299),
  headers jsonb not null,
  body text not null,
  -- The shelter that the key of the request is bound to, 0 if it is bound to none: the same request with a key of another shelter has
  -- another effect.
  shelter_id bigint not null,
  -- Whose adopter is in the stored response; null: that of no application.
  application_id bigint,
  primary key (client_id, key)
) with (autovacuum_vacuum_scale_factor = 0.02, vacuum_index_cleanup = on);
create index idempotent_answers_by_age on idempotent_answers (created_at);
create index idempotent_answers_by_order on idempotent_answers (order_id) where order_id is not null;
create index idempotent_answers_by_application on idempotent_answers (application_id) where application_id is not null;

grant select, insert, update on orders to homeward_app;
grant select, insert, update, delete on idempotent_answers to homeward_app;
grant select on sequence orders_id_seq to homeward_app;
