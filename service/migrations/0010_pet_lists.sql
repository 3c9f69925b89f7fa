-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- The lists of animals skip removed ones by these, however many there are. The queries of the release before have the same condition,
-- so its processes use them too, and the indexes without the condition can go at once.
create index concurrently if not exists pets_listed on pets (id) where removed_at is null;
create index concurrently if not exists pets_listed_by_status on pets (status, id) where removed_at is null;
create index concurrently if not exists pets_listed_by_category on pets (category_id, id) where removed_at is null;
create index concurrently if not exists pets_listed_by_category_and_status on pets (category_id, status, id) where removed_at is null;
-- For the foreign key when a category is deleted, since a removed animal refers to its category too.
create index concurrently if not exists pets_of_category on pets (category_id);

drop index concurrently if exists pets_by_status;
drop index concurrently if exists pets_by_category;
drop index concurrently if exists pets_by_category_and_status;
