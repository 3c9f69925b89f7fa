-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- For the look that every busy process takes many times a second.
create index concurrently if not exists clients_by_change on clients (changed_in);
