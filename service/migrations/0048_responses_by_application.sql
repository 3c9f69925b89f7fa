-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

create index concurrently if not exists idempotent_answers_by_application on idempotent_answers (application_id)
  where application_id is not null;
