-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- The client that has added the animal with a key without a shelter: it may describe, rename and remove it until staff place the animal
-- in a shelter. Null: none, as of all that processes of the release before add. No foreign key: clients are never deleted, and each new
-- animal would lock its client's row.
alter table pets add column client_id bigint;

-- A process of the release before moves an animal and leaves the column as it is.
create function pet_placed() returns trigger language plpgsql as $$
begin
  new.client_id := null;
  return new;
end
$$;
create trigger pet_placed before update of shelter_id on pets
  for each row when (old.shelter_id <> new.shelter_id and new.client_id is not null) execute function pet_placed();
