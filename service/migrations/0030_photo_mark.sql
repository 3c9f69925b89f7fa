-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

alter table deployment
  -- By which the store recognises its own photos: the same text is in a file beside them. A disk that is not mounted has no such file,
  -- and the directory or bucket of another store has another.
  -- The table has one row.
  -- squawk-ignore adding-field-with-default
  add column photos_id text not null default gen_random_uuid()::text,
  -- When a worker has written that file. Null: not yet.
  add column photos_marked_at timestamptz;
grant update (photos_id, photos_marked_at) on deployment to homeward_app;

-- Since when the file with the original is not found. It is looked for again, less and less often.
alter table photos add column original_missing_since timestamptz;
