-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- The person who has done it in the console. Null: a key, a command or the service, as for all that processes of the release before record.
-- No foreign key: people are never deleted, and each transition would lock a person's row.
alter table history add column person_id bigint;
alter table application_history add column person_id bigint;
