-- Up Migration

-- For the look that every busy process takes many times a second.
create index concurrently if not exists clients_by_change on clients (changed_in);
