-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

create index concurrently if not exists pets_of_shelter on pets (shelter_id, id);
create index concurrently if not exists orders_by_shelter on orders (shelter_id, id);
