-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- What people have done with animals, orders and applications, by person and by time. It is an index of both histories: one of the column
-- would have to read all that keys have done, while nobody could write.
create table person_history (
  person_id bigint not null,
  at timestamptz not null,
  -- A row of the history, at this time. Else of the history of applications.
  history_id bigint,
  application_id bigint,
  application_history_id bigint,
  constraint person_history_names_a_row check ((history_id is null) = (application_id is not null and application_history_id is not null))
) with (autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05);
create index person_history_by_person on person_history (person_id, at, history_id) where history_id is not null;
create index person_history_by_time on person_history (at, history_id) where history_id is not null;
create index person_applications_by_person on person_history (person_id, at, application_history_id) where application_id is not null;
create index person_applications_by_time on person_history (at, application_history_id) where application_id is not null;
grant select, insert on person_history to homeward_app;
