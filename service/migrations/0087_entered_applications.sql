-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Whether staff have entered it, so that it takes one of the animal's places for staff. False: a partner has sent it.
alter table applications add column is_entered boolean not null default false;
