-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- When a person's role or shelter was last changed: the journal, applied after a failover, does not undo what was changed later. Null: as
-- it was when the person was invited.
alter table people add column post_changed_at timestamptz;
