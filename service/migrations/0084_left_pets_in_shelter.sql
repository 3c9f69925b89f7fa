-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- The animals of a shelter that have left and can be brought back: what its staff look through.
create index concurrently if not exists pets_undoable_in_shelter on pets (shelter_id, undoable_until, id) where undoable_until is not null;
