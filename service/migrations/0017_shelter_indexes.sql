-- Up Migration

create index concurrently if not exists pets_of_shelter on pets (shelter_id, id);
create index concurrently if not exists orders_by_shelter on orders (shelter_id, id);
