-- Up Migration
-- release: 1.0.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- The processes that serve requests act as this role: no DDL, no TRUNCATE. An operator may create it beforehand.
do $$
begin
  if not exists (select from pg_roles where rolname = 'homeward_app') then
    create role homeward_app nologin;
  end if;
exception when duplicate_object or unique_violation then null; -- another database of this server was faster
end
$$;
do $$
begin
  -- Tried first and asked later: since PostgreSQL 16 the maker of a role is its member, and yet may not act as it.
  execute format('grant homeward_app to %I', current_user);
exception
  when unique_violation then null; -- likewise
  when insufficient_privilege then
    if not pg_has_role(current_user, 'homeward_app', 'member') then raise; end if;
end
$$;
do $$
begin
  execute format('grant usage on schema %I to homeward_app', current_schema());
exception when unique_violation then null; -- likewise
end
$$;

-- One row: names everything that this deployment keeps in Redis.
create table deployment (
  one boolean primary key default true check (one),
  id text not null default substr(replace(gen_random_uuid()::text, '-', ''), 1, 12)
);
insert into deployment default values;

create table categories (
  id bigint primary key,
  name text,
  created_at timestamptz not null default now()
);
insert into categories (id, name) values
  (1, 'Dogs'), (2, 'Cats'), (3, 'Rabbits'), (4, 'Birds'), (5, 'Small animals'),
  (6, 'Reptiles'), (7, 'Fish'), (8, 'Horses'), (9, 'Farm animals'), (10, 'Other');

create type pet_status as enum ('available', 'pending', 'sold');
create table pets (
  id bigint generated always as identity primary key,
  category_id bigint not null references categories,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- An animal taken back leaves every list; its row and its history stay.
  removed_at timestamptz,
  status pet_status not null,
  name text not null check (char_length(name) between 1 and 200)
);
create index pets_by_status on pets (status, id);
create index pets_by_category on pets (category_id, id);
create index pets_by_category_and_status on pets (category_id, status, id);

create type plan as enum ('free', 'pro', 'business', 'enterprise');
create table clients (
  id bigint generated always as identity primary key,
  name text not null unique check (char_length(name) between 1 and 200),
  plan plan not null,
  -- squawk-ignore prefer-bigint-over-int
  per_minute integer check (per_minute > 0),
  -- squawk-ignore prefer-bigint-over-int
  per_day integer check (per_day > 0),
  created_at timestamptz not null default now(),
  constraint clients_limits_only_for_enterprise
    check ((plan = 'enterprise') = (per_minute is not null) and (per_minute is null) = (per_day is null))
);

create table api_keys (
  id bigint generated always as identity primary key,
  client_id bigint not null references clients,
  -- SHA-256 of the whole key: a leaked dump must not yield usable keys.
  hash bytea not null unique check (octet_length(hash) = 32),
  hint text not null,
  scopes text[] not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  replaced_by bigint references api_keys
);
create index api_keys_by_client on api_keys (client_id, id);

create type order_status as enum ('placed', 'approved', 'completed', 'cancelled', 'expired', 'returned');
create table orders (
  id bigint generated always as identity primary key,
  client_id bigint not null references clients,
  pet_id bigint not null references pets,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  expires_at timestamptz not null,
  status order_status not null default 'placed',
  adopter_name text,
  adopter_email text
);
-- The promise in one line: no animal has two open orders, whatever the code does.
create unique index orders_one_open_per_pet on orders (pet_id) where status in ('placed', 'approved');
create index orders_by_client on orders (client_id, id);
create index orders_by_pet on orders (pet_id, id);
create index orders_by_status on orders (status, id);
create index orders_to_expire on orders (expires_at) where status = 'placed';

grant select on deployment to homeward_app;
grant select, insert, update on categories, pets, clients, api_keys, orders to homeward_app;
