-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

alter table people
  -- Who has invited this person. Null: a command.
  add column invited_by bigint,
  -- More rights, which a person has from when it follows a link on. Without a role, nothing waits; without a shelter, they are for the store.
  add column raised_role text constraint people_raised_role check (raised_role in ('volunteer', 'staff', 'admin')),
  add column raised_shelter_id bigint,
  add column raised_until timestamptz,
  -- Who has decided so. Null: a command.
  add column raised_by bigint;
alter table person_links drop constraint person_links_kind;
alter table person_links add constraint person_links_kind check (kind in ('invitation', 'sign_in', 'raise')) not valid;
