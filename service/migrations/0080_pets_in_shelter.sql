-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- The animals of a shelter by their status: what its staff list and count. Those that have left are not in it, of which there are more
-- every year.
create index concurrently if not exists pets_in_shelter on pets (shelter_id, status, id) where removed_at is null;
