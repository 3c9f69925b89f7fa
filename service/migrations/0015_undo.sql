-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

lock table history, application_history, outbox, mail, events in access exclusive mode;

-- What a person has done in the console and can undo for two minutes. domain/undo.ts has the kinds. Their numbers are in the histories.
-- Owner: adoption. Rows go 3 days after they are final.
create table undoable_acts (
  id bigint generated always as identity primary key,
  kind text not null,
  person_id bigint not null,
  pet_id bigint not null,
  at timestamptz not null default now(),
  -- From then on it is not undone, and mail about it is sent.
  final_at timestamptz not null,
  -- What the histories don't tell of how it was before: the hold of the animal, and the rows of photos that the act has removed. No adopter's
  -- data.
  former jsonb not null,
  -- The last rows of the histories with the act; later ones are changes since. While it is carried out: those before.
  history_mark bigint not null,
  application_mark bigint not null,
  undone_at timestamptz,
  undone_by bigint
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on);
create index undoable_acts_by_person on undoable_acts (person_id, final_at) where undone_at is null;
create index undoable_acts_by_pet on undoable_acts (pet_id, final_at);
create index undoable_acts_by_time on undoable_acts (final_at);

-- Where the events of such an act are in the feed, so that those of its undoing can name them. Written by whoever publishes, who waits for
-- nobody who undoes: so there is no foreign key.
-- Owner: changes. Rows go with the act.
create table act_events (
  act_id bigint not null,
  position bigint not null,
  primary key (act_id, position)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on);

-- Part of an act that can be undone, or of its undoing. Null: neither.
alter table history add column act_id bigint, add column undoes_act_id bigint;
alter table application_history add column act_id bigint, add column undoes_act_id bigint;
alter table outbox add column act_id bigint, add column undoes_act_id bigint, add column final_at timestamptz;
-- It waits until the act is final, and is deleted if that is undone.
alter table mail add column act_id bigint;
-- Until when the act of the event can be undone; and the positions of the events that it undoes. Null: as above.
alter table events add column final_at timestamptz, add column undoes bigint[];

-- The numbers of acts, too.
create or replace function skip_ids() returns void language plpgsql as $$
declare
  skipped bigint := 1000000 + 10 * extract(epoch from now() - timestamptz '2026-11-01 00:00Z')::bigint;
  ids text;
begin
  foreach ids in array '{clients,api_keys,pets,orders,webhooks,shelters,photos,webhook_workers,applications,people,passkeys,undoable_acts}'::text[] loop
    perform setval(pg_get_serial_sequence(ids, 'id'), nextval(pg_get_serial_sequence(ids, 'id')) + skipped);
  end loop;
  perform setval('photo_claims', nextval('photo_claims') + skipped);
  perform setval('mail_claims', nextval('mail_claims') + skipped);
end;
$$;

grant select, insert, update, delete on undoable_acts to homeward_app;
grant select, insert, delete on act_events to homeward_app;
grant select on sequence application_history_id_seq to homeward_app;
