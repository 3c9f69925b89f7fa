-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- The files that are due first.
create index concurrently if not exists removed_files_by_time on removed_photo_bytes (removed_at) where files is not null;
-- For the scan, which leaves to the queue what is in it. Without a list of entries that every look would read.
create index concurrently if not exists removed_files_by_name on removed_photo_bytes using gin (files) with (fastupdate = off) where files is not null;
