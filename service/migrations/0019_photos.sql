-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- A picture of an animal. Its files are named by the hash of their content, so an address never changes its picture.
create table photos (
  id bigint generated always as identity primary key,
  pet_id bigint not null references pets,
  -- Who has sent it. Workers take turns among clients.
  client_id bigint not null references clients,
  -- The order in which an animal's photos are shown, from 0.
  -- squawk-ignore prefer-bigint-over-int
  position integer not null,
  status text not null default 'processing' check (status in ('processing', 'ready', 'failed')),
  alt text check (char_length(alt) <= 500),
  -- SHA-256 of the original, in hexadecimal. The same bytes sent again are the same photo.
  original_hash text not null check (original_hash ~ '^[0-9a-f]{64}$'),
  -- The file with the original, which is deleted once it is processed.
  original_name text not null,
  -- Of the picture when it is ready.
  -- squawk-ignore prefer-bigint-over-int
  width integer check (width > 0),
  -- squawk-ignore prefer-bigint-over-int
  height integer check (height > 0),
  -- A ThumbHash in base64: what is shown until the picture is loaded.
  placeholder text check (char_length(placeholder) <= 100),
  -- By width in pixels: [{"width": 320, "height": 240, "hash": "…"}, …], the smallest first. Set before the files are written, so that
  -- no sweep deletes them.
  files jsonb,
  -- Why it failed: a code.
  failure text check (char_length(failure) <= 40),
  -- How often a worker has begun to process it. A worker's writes name the number of its attempt, so that one whose claim has ended
  -- writes nothing.
  -- squawk-ignore prefer-bigint-over-int
  attempts integer not null default 0,
  -- Until then, the photo belongs to the worker that makes this attempt.
  claimed_until timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint photos_ready_are_whole check (status <> 'ready' or (width is not null and height is not null and placeholder is not null and files is not null)),
  constraint photos_failed_have_a_code check ((status = 'failed') = (failure is not null))
);
create index photos_of_pet on photos (pet_id, position, id);
create unique index photos_by_original on photos (pet_id, original_hash);
create index photos_to_process on photos (client_id, attempts, id) where status = 'processing';
-- For the sweep: which files are in use.
create index photos_by_file on photos using gin (files jsonb_path_ops);

-- How many bytes of photos a client has sent on its last day (UTC).
create table photo_uploads (
  client_id bigint primary key references clients,
  day date not null,
  bytes bigint not null
);

-- Pictures that a sweep is deleting. Until then no photo may get a picture with this hash, since the deletion would take it away.
create table photo_deletions (
  hash text primary key,
  until timestamptz not null
);

-- The photos of an animal that is removed are no longer shown. Also for processes of the release before, which know no photos.
create function remove_photos_of_pet() returns trigger language plpgsql as $$
begin
  delete from photos where pet_id = new.id;
  return null;
end $$;
create trigger removed_pet_has_no_photos after update of removed_at on pets
  for each row when (old.removed_at is null and new.removed_at is not null) execute function remove_photos_of_pet();

grant select, insert, update, delete on photos, photo_deletions to homeward_app;
grant select, insert, update on photo_uploads to homeward_app;
