-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Jobs of staff that end what one client has sent and nobody has decided on, and perhaps reopen it again. The worker carries them out.
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
create table bulk_ended (
  bulk_end_id bigint not null references bulk_ends,
  application_id bigint not null,
  is_reopened boolean not null default false,
  -- The code of the error for which it could not be reopened. Null: nobody has tried, or it was.
  failure text,
  primary key (bulk_end_id, application_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

grant select, insert, update, delete on bulk_ends, bulk_ended to homeward_app;
