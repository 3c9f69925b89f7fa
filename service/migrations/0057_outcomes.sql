-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- An animal with an outcome, such as a transfer, is removed like any other, so processes of the release before list it no more either.
-- Until this time the outcome can be undone. Null: the animal is listed, or was removed for good.
alter table pets add column undoable_until timestamptz;

-- The photos of an animal that is removed for good are deleted; those of an outcome when it can't be undone any more. Processes of the
-- release before know no outcomes: what they remove is removed for good. The function is that of 0019.
drop trigger removed_pet_has_no_photos on pets;
create trigger removed_pet_has_no_photos after update of removed_at, undoable_until on pets
  for each row when (new.removed_at is not null and new.undoable_until is null and (old.removed_at is null or old.undoable_until is not null))
  execute function remove_photos_of_pet();
