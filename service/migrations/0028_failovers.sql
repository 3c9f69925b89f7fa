-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

alter table feed
  -- Where positions were last assigned. On another server the publisher first leaves out all that may have been assigned before: a standby
  -- that took over may lack the last ones. Null: not known.
  add column server text,
  -- What was left out, between the last position before and the new end: cursors in here are of events that are lost.
  add column gaps int8multirange not null default '{}';
update feed set server = (select server from deployment);

-- A worker that sees a standby take over records it. It does not hide a restore: see 'A failover' in docs/operations/failover.md.
grant update (server) on deployment to homeward_app;
-- The publisher's mark is never beyond what was assigned.
grant select on sequence outbox_id_seq to homeward_app;
