-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- What a row says, for programs; `why` is for people. Rows from before, and those of processes of release 1.0.0, have none of these.
alter table history
  add column kind text,
  -- For kind pet_moved.
  add column from_shelter_id bigint,
  add column to_shelter_id bigint;
alter table history add constraint history_move_has_shelters
  check (kind <> 'pet_moved' or (from_shelter_id is not null and to_shelter_id is not null)) not valid;
