-- Up Migration
-- release: 1.0.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

create type webhook_status as enum ('enabled', 'disabled');
create table webhooks (
  id bigint generated always as identity primary key,
  client_id bigint not null references clients,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- A removed endpoint is found by nobody; its row stays until its deliveries are swept away.
  removed_at timestamptz,
  status webhook_status not null default 'enabled',
  disabled_reason text,
  -- Since when no delivery has succeeded; null: the last one did.
  failing_since timestamptz,
  -- Whether the key that chose the address may read orders.
  with_orders boolean not null,
  -- Empty: every type.
  types text[] not null default '{}',
  url text not null check (char_length(url) between 1 and 2000),
  description text not null default '' check (char_length(description) <= 200),
  -- Not hashed: each delivery is signed with it.
  secret text not null,
  -- Signs too until then.
  previous_secret text,
  previous_secret_until timestamptz
);
create index webhooks_by_client on webhooks (client_id, id);

create type delivery_status as enum ('pending', 'delivered', 'failed');
-- An event on its way to an endpoint, with what is sent, since the feed may drop it before it arrives.
create table deliveries (
  id bigint generated always as identity primary key,
  webhook_id bigint not null references webhooks,
  created_at timestamptz not null default now(),
  -- Of a pending one. While it is leased, the lease's end.
  next_attempt_at timestamptz not null default now(),
  -- Some worker is at it until then.
  leased_until timestamptz,
  delivered_at timestamptz,
  -- Counts the leases: only who holds the last one may say how it went.
  lease bigint not null default 0,
  attempt_count bigint not null default 0,
  status delivery_status not null default 'pending',
  -- In the feed; null: a test.
  position bigint,
  -- Deliveries of one animal to one endpoint go out in the order of the feed.
  pet_id bigint,
  at timestamptz not null default now(),
  type text not null,
  data text not null
) with (autovacuum_vacuum_scale_factor = 0.02);
create unique index deliveries_once on deliveries (webhook_id, position);
create index deliveries_by_webhook on deliveries (webhook_id, id);
create index deliveries_failed on deliveries (webhook_id, id) where status = 'failed';
create index deliveries_due on deliveries (webhook_id, next_attempt_at, id) where status = 'pending';
create index deliveries_in_order on deliveries (webhook_id, pet_id, position) where status = 'pending';
create index deliveries_leased on deliveries (webhook_id) where leased_until is not null;

create table delivery_attempts (
  id bigint generated always as identity primary key,
  delivery_id bigint not null references deliveries on delete cascade,
  at timestamptz not null,
  duration_ms bigint not null,
  -- Of the answer; null: there was none.
  -- squawk-ignore prefer-bigint-over-int
  status integer,
  answer text,
  error text
);
create index delivery_attempts_by_delivery on delivery_attempts (delivery_id, id);

grant select, insert, update, delete on webhooks, deliveries to homeward_app;
grant select, insert, delete on delivery_attempts to homeward_app;
