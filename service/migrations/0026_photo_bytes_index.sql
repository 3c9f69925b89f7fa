-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Photos from before, whose pictures are not counted yet.
create index concurrently if not exists photos_to_count on photos (id) where status = 'ready' and pictures_bytes is null;
