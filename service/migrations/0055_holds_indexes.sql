-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Which holds end next.
create index concurrently if not exists pets_by_hold_until on pets (hold_until) where hold_until is not null;
-- What a search for held animals finds.
create index concurrently if not exists pets_by_hold on pets (hold, id) where hold is not null and removed_at is null;
