-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: no, orders and events wait while their indexes are built
-- runs with: 1.0.0

-- Each file is one transaction, in which an index can't be built beside writers: they wait meanwhile. What locks a table that every request reads comes last.
-- squawk-ignore-file require-concurrent-index-creation, constraint-missing-not-valid

-- Bounds on open orders: of a client, and of one adopter within it.
create index if not exists orders_open_by_client on orders (client_id, lower(adopter_email)) where status in ('placed', 'approved');
-- An adopter asks for erasure by address, whatever the case it is written in.
create index if not exists orders_by_adopter on orders (lower(adopter_email)) where adopter_email is not null;
-- What retention erases next; an erased order leaves the index.
create index if not exists orders_with_adopter on orders (status, updated_at) where adopter_email is not null;
-- Of the expressions nothing is known until then, and plans would be chosen without.
analyze orders;

-- The feed under a filter: reads what it returns, and nothing else.
create index events_by_type on events (type, position);
create index events_by_client_and_type on events (client_id, type, position) where client_id is not null;

create index categories_named_first on categories ((name is null), id);
-- How many categories a client has registered on its last day of registering one (UTC).
create table category_registrations (
  client_id bigint primary key references clients,
  day date not null,
  count bigint not null check (count > 0)
);
grant select, insert, update on category_registrations to homeward_app;
-- A category that no animal is in; the foreign key of animals forbids any other.
grant delete on categories to homeward_app;

-- By these a process that serves streams finds the keys that have just ended, whatever the number of keys.
create index api_keys_by_revocation on api_keys (revoked_at) where revoked_at is not null;
create index api_keys_by_expiry on api_keys (expires_at) where expires_at is not null;

-- The key that added an endpoint or last set its address or types; null: from before this was recorded.
-- squawk-ignore adding-foreign-key-constraint
alter table webhooks add column key_id bigint references api_keys;
create index webhooks_by_key on webhooks (key_id) where key_id is not null;

-- A suspended client's keys are rejected, its endpoints get nothing. Bounds that an enterprise client has to itself; null: the plan's.
alter table clients
  add column suspended_at timestamptz,
  -- squawk-ignore prefer-bigint-over-int
  add column open_orders_max integer check (open_orders_max > 0),
  -- squawk-ignore prefer-bigint-over-int
  add column new_categories_max integer check (new_categories_max > 0),
  add constraint clients_bounds_only_for_enterprise
    check (plan = 'enterprise' or (open_orders_max is null and new_categories_max is null));
create index clients_by_suspension on clients (suspended_at) where suspended_at is not null;
