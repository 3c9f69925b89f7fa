-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- What the staff of a shelter list by status.
create index concurrently if not exists orders_by_shelter_and_status on orders (shelter_id, status, id);
-- Which holds of a shelter end next.
create index concurrently if not exists pets_of_shelter_by_hold on pets (shelter_id, hold_until) where hold_until is not null;
-- Few fail.
create index concurrently if not exists photos_failed on photos (pet_id, id) where status = 'failed';
create index concurrently if not exists photos_failed_by_id on photos (id) where status = 'failed';
