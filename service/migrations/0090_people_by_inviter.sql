-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Whom somebody has invited who is being removed.
create index concurrently if not exists people_by_inviter on people (invited_by, id) where removed_at is null and invited_by is not null;
