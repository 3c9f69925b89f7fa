-- release: 1.0.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

create type application_status as enum
  ('unconfirmed', 'submitted', 'reviewing', 'accepted', 'completed', 'declined', 'withdrawn', 'closed');

-- Someone asks for an animal. Staff choose among those who do, and an order begins with that choice. domain/application-states.ts has the
-- states.
-- Owner: adoption. Unconfirmed rows go after 72 hours, the others stay. The adopter is erased 90 days after the application has ended, or
-- on request; after an adoption with the adopter of its order.
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
  -- Whether staff have entered it, so that it takes one of the animal's places for staff. False: a partner has sent it.
  is_entered boolean not null default false,
  -- The number that links to the adopter's page have. It grows when staff end them.
  link_number bigint not null default 0,
  -- Until then staff may reopen what its adopter has withdrawn on the page.
  reopen_until timestamptz,
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
-- Owner: adoption. Rows are only added, and stay.
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
  -- The person who has done it in the console. Null: a key, a command or the service.
  person_id bigint,
  primary key (application_id, id)
) with (autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05);

-- What is counted for a client's limits. Only what adds to it writes it, in turns.
-- Owner: adoption. A row for each client that has applied; it stays.
create table application_counts (
  client_id bigint primary key references clients,
  -- As many or fewer are open, and unconfirmed: what has ended is not counted off until the client's are counted again, at its limit.
  open_at_most bigint not null,
  unconfirmed_at_most bigint not null,
  -- Confirmations that the client has caused on this day (UTC).
  day date not null,
  confirmations bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

-- What adopters asked for on their page, to withdraw or erase by a link that is mailed.
-- Owner: adoption. Those of the last day on which one was asked for; they go with the adopter.
create table adopter_links (
  application_id bigint not null references applications,
  -- In the link. Random, so that none is given twice after a restore.
  number bigint not null constraint adopter_links_number check (number > 0),
  act text not null constraint adopter_links_act check (act in ('withdraw', 'erase')),
  asked_at timestamptz not null default now(),
  -- Null: it was not mailed yet.
  ends_at timestamptz,
  used_at timestamptz,
  primary key (application_id, number)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on);

-- Jobs of staff that end what one client has sent and nobody has decided on, and perhaps reopen it again. The worker carries them out.
-- Owner: adoption. Rows go 30 days after the job is done.
create table bulk_ends (
  id bigint generated always as identity primary key,
  client_id bigint not null,
  -- Null: for every animal.
  pet_id bigint,
  -- Only those to this shelter, whose staff have asked for it. Null: to every one.
  shelter_id bigint,
  -- Who asked for it, as the history names them. All null: a command.
  by_client_id bigint,
  by_person_id bigint,
  created_at timestamptz not null default now(),
  -- Those up to here: they were there when staff asked. And how many waited for a decision then.
  until_id bigint not null,
  found bigint not null,
  -- ending: applications are ended. reopening: staff took it back. held: nothing is told yet. telling: adopters are told.
  state text not null default 'ending' constraint bulk_ends_state check (state in ('ending', 'reopening', 'held', 'telling', 'done')),
  -- Since when it is in this state.
  changed_at timestamptz not null default now(),
  -- The application that was last worked on in this state.
  last_id bigint not null default 0,
  ended bigint not null default 0,
  reopened bigint not null default 0,
  -- Who took it back, as above. Null: nobody.
  taken_back_at timestamptz,
  back_client_id bigint,
  back_person_id bigint,
  -- When a worker last took it up: they take turns.
  worked_at timestamptz not null default now()
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
create unique index bulk_ends_one_at_once on bulk_ends (client_id) where state in ('ending', 'reopening');
create index bulk_ends_open on bulk_ends (worked_at) where state <> 'done';
create index bulk_ends_by_shelter on bulk_ends (shelter_id, id);

-- What a job has ended.
-- Owner: adoption. Rows go with the job.
create table bulk_ended (
  bulk_end_id bigint not null references bulk_ends,
  application_id bigint not null,
  is_reopened boolean not null default false,
  -- The code of the error for which it could not be reopened. Null: nobody has tried, or it was.
  failure text,
  primary key (bulk_end_id, application_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

grant select, insert, update, delete on
  applications, application_counts, adopter_links, bulk_ends, bulk_ended to homeward_app;
grant select, insert on application_history to homeward_app;
-- With an id that is assigned again, an old link would lead to somebody else's application.
grant select on sequence applications_id_seq to homeward_app;
