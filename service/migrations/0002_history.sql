-- Up Migration
-- release: 1.0.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Every transition of an animal or of an order, in the transaction that made it. Rows of one animal are written under
-- its lock, so their ids are in the order of what happened. No adopter's data: those can be erased, this can't.
create table history (
  id bigint generated always as identity primary key,
  pet_id bigint not null references pets,
  order_id bigint references orders,
  client_id bigint references clients,
  key_id bigint references api_keys,
  at timestamptz not null default clock_timestamp(),
  from_status text,
  to_status text not null,
  why text not null
);
create index history_by_pet on history (pet_id, id);

-- What a repeat of a POST is answered with. The effect, this row and the answer are one transaction.
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
  primary key (client_id, key)
);
create index idempotent_answers_by_age on idempotent_answers (created_at);
create index idempotent_answers_by_order on idempotent_answers (order_id) where order_id is not null;

grant select, insert on history to homeward_app;
grant select, insert, update, delete on idempotent_answers to homeward_app;
