-- Up Migration

-- Photos from before, whose pictures are not counted yet.
create index concurrently if not exists photos_to_count on photos (id) where status = 'ready' and pictures_bytes is null;
