-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

create type application_status as enum
  ('unconfirmed', 'submitted', 'reviewing', 'accepted', 'completed', 'declined', 'withdrawn', 'closed');

-- Someone asks for an animal. Staff choose among those who do, and an order begins with that choice.
create table applications (
  id bigint generated always as identity primary key,
  client_id bigint not null references clients,
  pet_id bigint not null references pets,
  -- That of the animal, as long as the application is open. Afterwards the one that has decided.
  shelter_id bigint not null references shelters,
  -- The last order that was placed for it.
  order_id bigint references orders,
  created_at timestamptz not null default now(),
  -- When its status last changed.
  updated_at timestamptz not null default now(),
  -- When somebody last did something about it.
  acted_at timestamptz not null default now(),
  status application_status not null,
  -- Whether its adopter is told by e-mail.
  is_mailed boolean not null,
  -- Whether its adopter has confirmed the address. Staff may enter an application without that.
  is_confirmed boolean not null default false,
  closed_reason text,
  adopter_name text,
  adopter_email text,
  -- The address in lower case, without a tag: by it adopters are told apart.
  adopter_address text,
  adopter_phone text,
  -- A JSON array of questions with their texts of that day, and answers. Null: erased.
  answers text,
  note text,
  message text,
  constraint applications_closed_with_reason check ((status = 'closed') = (closed_reason is not null)),
  constraint applications_accepted_with_order check (status not in ('accepted', 'completed') or order_id is not null),
  constraint applications_open_with_adopter
    check (status not in ('unconfirmed', 'submitted', 'reviewing') or (adopter_address is not null and answers is not null))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on);

create index applications_by_client on applications (client_id, status, id);
create index applications_by_client_and_shelter on applications (client_id, shelter_id, status, id);
create index applications_by_shelter on applications (shelter_id, status, id);
-- A reader who sees some of an animal's applications does not read the rows of the others.
create index applications_by_pet on applications (pet_id, status, id) include (client_id, shelter_id);
create index applications_by_status on applications (status, id);
create unique index applications_by_order on applications (order_id) where order_id is not null;
-- With one client an adopter has one open application for an animal. Also counts those of an adopter.
create unique index applications_one_open on applications (client_id, adopter_address, pet_id)
  where status in ('submitted', 'reviewing', 'accepted');
create index applications_waiting on applications (acted_at) where status in ('submitted', 'reviewing');
create index applications_unconfirmed on applications (created_at) where status = 'unconfirmed';
-- What retention erases next.
create index applications_with_answers on applications (status, updated_at) where answers is not null;
-- An adopter asks for erasure by address. By the normalized one, so that those with another tag can be named.
create index applications_by_adopter on applications (adopter_address) where adopter_address is not null;

-- Every transition, from `submitted` on. No adopter's data: those can be erased, this can't.
create table application_history (
  application_id bigint not null references applications,
  id bigint generated always as identity,
  order_id bigint,
  client_id bigint,
  key_id bigint,
  at timestamptz not null default clock_timestamp(),
  from_status text,
  to_status text not null,
  by text not null,
  why text not null,
  primary key (application_id, id)
) with (autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05);

-- What is counted for a client's limits. Only what adds to it writes it, in turns.
create table application_counts (
  client_id bigint primary key references clients,
  -- As many or fewer are open, and unconfirmed: what has ended is not counted off until the client's are counted again, at its limit.
  open_at_most bigint not null,
  unconfirmed_at_most bigint not null,
  -- Confirmations that the client has caused on this day (UTC).
  day date not null,
  confirmations bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

-- Animals whose applications do not follow them or their orders yet. Processes of the release before know no applications.
create table unsettled_applications (
  pet_id bigint primary key references pets,
  since timestamptz not null default now()
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

-- Null: the order was placed without an application.
alter table orders add column application_id bigint;
-- Whose adopter is in the stored response; null: that of no application.
alter table idempotent_answers add column application_id bigint;

-- Whether an open application says otherwise than its order and its animal.
create function has_unsettled_applications(pet bigint) returns boolean stable language sql as $$
  select exists (
    select from applications
      join pets on pets.id = applications.pet_id
      left join orders on orders.id = applications.order_id
    where applications.pet_id = pet and applications.status in ('submitted', 'reviewing', 'accepted') and case applications.status
      when 'accepted' then orders.status not in ('placed', 'approved')
      when 'submitted' then pets.removed_at is not null or pets.status = 'sold'
      when 'reviewing' then pets.removed_at is not null or pets.status = 'sold'
      else false end)
$$;

-- At the end of the transaction: this release has settled the applications by then.
create function note_unsettled_applications() returns trigger language plpgsql as $$
declare
  pet bigint := case when tg_table_name = 'orders' then (to_jsonb(new) ->> 'pet_id')::bigint else new.id end;
begin
  if has_unsettled_applications(pet) then
    insert into unsettled_applications (pet_id) values (pet) on conflict do nothing;
  end if;
  return null;
end
$$;
create constraint trigger order_settles_application after update of status on orders deferrable initially deferred
  for each row when (new.application_id is not null and new.status <> old.status) execute function note_unsettled_applications();
create constraint trigger pet_settles_applications after update of status, removed_at on pets deferrable initially deferred
  for each row when ((new.status = 'sold' and old.status <> 'sold') or (new.removed_at is not null and old.removed_at is null))
  execute function note_unsettled_applications();

-- Open applications move with their animal, without the notes of the staff before.
create or replace function pet_moved() returns trigger language plpgsql as $$
begin
  update orders set shelter_id = new.shelter_id where pet_id = new.id;
  update applications set shelter_id = new.shelter_id, note = null
    where pet_id = new.id and status in ('unconfirmed', 'submitted', 'reviewing', 'accepted');
  return null;
end
$$;

-- Of this schema and no other: nobody can put a table of the same name before it.
do $$
declare
  name text;
begin
  foreach name in array array['has_unsettled_applications(bigint)', 'note_unsettled_applications()', 'pet_moved()'] loop
    execute format('alter function %s set search_path = %I, pg_temp', name, current_schema());
  end loop;
end
$$;

grant select, insert, update, delete on applications, application_counts, unsettled_applications to homeward_app;
grant select, insert on application_history to homeward_app;
