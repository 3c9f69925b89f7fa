-- release: 1.0.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- A picture of an animal. Its files are named by the hash of their content, so an address never changes its picture.
-- Owner: animals. A row goes when the photo is deleted, when its animal is removed for good, and with an outcome that can't be undone
-- any more. Its files go a day later.
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
  -- How often a worker has begun to process it, but for attempts that don't count.
  -- squawk-ignore prefer-bigint-over-int
  attempts integer not null default 0,
  -- Until then, the photo belongs to the worker that makes this attempt.
  claimed_until timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Of the original, which is there while the photo is processed.
  original_bytes bigint,
  -- Of all its pictures. Set before they are written.
  pictures_bytes bigint,
  -- Sent by the store's own staff, whose photos are counted and not limited.
  is_unlimited boolean not null default false,
  -- Since when the file with the original is not found. It is looked for again, less and less often.
  original_missing_since timestamptz,
  -- The number of the last claim, from photo_claims. A worker's writes name it, so that one whose claim has ended writes nothing. Null:
  -- nobody's.
  claim bigint,
  constraint photos_ready_are_whole check (status <> 'ready' or (width is not null and height is not null and placeholder is not null and files is not null)),
  constraint photos_failed_have_a_code check ((status = 'failed') = (failure is not null))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create index photos_of_pet on photos (pet_id, position, id);
create unique index photos_by_original on photos (pet_id, original_hash);
create index photos_to_process on photos (client_id, attempts, id) where status = 'processing';
-- Which files are in use. Without a list of pending entries, which every look for a file would read: photos are added less often.
create index photos_by_file on photos using gin (files jsonb_path_ops) with (fastupdate = off);
-- Few fail.
create index photos_failed on photos (pet_id, id) where status = 'failed';
create index photos_failed_by_id on photos (id) where status = 'failed';

-- The numbers of claims on photos, which only grow: a worker whose claim has ended never has the number of another's.
create sequence photo_claims;

-- How many bytes of photos a client has sent on its last day (UTC).
-- Owner: animals. A row for each client that has sent one; it stays.
create table photo_uploads (
  client_id bigint primary key references clients,
  day date not null,
  bytes bigint not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- Pictures that a sweep is deleting. Until then no photo may get a picture with this hash, since the deletion would take it away.
-- Owner: images. Rows go at that time.
create table photo_deletions (
  hash text primary key,
  until timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0.02, vacuum_index_cleanup = on);

-- A queue: what photos no longer refer to, and a worker deletes a day later. Its bytes count until then.
-- Owner: images. Rows go with the files.
create table removed_photo_bytes (
  id bigint generated always as identity primary key,
  client_id bigint not null,
  bytes bigint not null,
  removed_at timestamptz not null default now(),
  -- originals/NAME and photos/HASH.webp.
  files text[] not null,
  -- Until then, the row belongs to the worker that deletes its files.
  claimed_until timestamptz
) with (autovacuum_vacuum_scale_factor = 0.02, vacuum_index_cleanup = on);
-- The files that are due first.
create index removed_files_by_time on removed_photo_bytes (removed_at);
-- For the scan, which leaves to the queue what is in it. Without a list of entries that every look would read.
create index removed_files_by_name on removed_photo_bytes using gin (files) with (fastupdate = off);

-- The bytes of all files of a client: the sum over its photos, and over removed ones until their files are deleted. Written by the
-- trigger below and by the sweep, in the transactions that change those rows, so it can't differ from them. No foreign key: clients are
-- never deleted.
-- Owner: animals. A row for each client that has sent a photo; it stays.
create table photo_storage (
  client_id bigint primary key,
  bytes bigint not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- The weekly scan of all files, for those that no row names. One worker has it at a time.
-- Owner: images. One row, which stays.
create table photo_scan (
  is_only_row boolean primary key default true check (is_only_row),
  -- When the next scan begins, or the current one began to be due.
  due_at timestamptz not null default now() + interval '1 day',
  -- Null: no scan is under way.
  started_at timestamptz,
  -- The last file that was looked at, where another worker goes on. Null: none yet.
  scanned_to text,
  -- A worker's writes name the number of its claim, so that one whose claim has ended writes nothing.
  claims bigint not null default 0,
  claimed_until timestamptz
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
insert into photo_scan default values;

-- Counts bytes, and puts files that no photo names any more into the queue.
create function count_photo_bytes() returns trigger language plpgsql as $$
declare
  before bigint := 0;
  after bigint := 0;
  unused_bytes bigint := 0;
  unused text[];
begin
  if tg_op <> 'INSERT' then
    before := case when old.status = 'processing' then coalesce(old.original_bytes, 0) else 0 end + coalesce(old.pictures_bytes, 0);
    unused := array(select 'photos/' || (file ->> 'hash') || '.webp' from jsonb_array_elements(old.files) as file);
  end if;
  -- Its files stay, and still count. The row of the client is not locked: staff that removes an animal doesn't wait for its client.
  if tg_op = 'DELETE' then
    if old.status = 'processing' then
      unused := unused || old.original_name;
    end if;
    if before > 0 or unused <> '{}' then
      insert into removed_photo_bytes (client_id, bytes, files) values (old.client_id, before, unused);
    end if;
    return null;
  end if;
  after := case when new.status = 'processing' then coalesce(new.original_bytes, 0) else 0 end + coalesce(new.pictures_bytes, 0);
  if tg_op = 'UPDATE' then
    unused := array(select name from unnest(unused) as name where name not in
      (select 'photos/' || (file ->> 'hash') || '.webp' from jsonb_array_elements(new.files) as file));
    -- The worker deletes the original of a processed photo itself, so it no longer counts. It is here in case that the worker is killed.
    if old.status = 'processing' and (new.status <> 'processing' or new.original_name <> old.original_name) then
      unused := unused || old.original_name;
    end if;
    -- Pictures that the photo does not name any more stay, and still count.
    if old.pictures_bytes > 0 and new.pictures_bytes is distinct from old.pictures_bytes then
      unused_bytes := old.pictures_bytes;
      before := before - unused_bytes;
    end if;
    if unused_bytes > 0 or unused <> '{}' then
      insert into removed_photo_bytes (client_id, bytes, files) values (old.client_id, unused_bytes, unused);
    end if;
  end if;
  insert into photo_storage as stored (client_id, bytes)
    select client_id, sum(bytes) from (values (coalesce(old.client_id, new.client_id), -before), (new.client_id, after)) as part (client_id, bytes)
      group by client_id having sum(bytes) <> 0 order by client_id
    on conflict (client_id) do update set bytes = stored.bytes + excluded.bytes;
  return null;
end $$;
create trigger photo_bytes_are_counted after insert or delete or update of client_id, status, original_bytes, pictures_bytes on photos
  for each row execute function count_photo_bytes();

create function remove_photos_of_pet() returns trigger language plpgsql as $$
begin
  delete from photos where pet_id = new.id;
  return null;
end $$;
create trigger removed_pet_has_no_photos after update of removed_at, undoable_until on pets
  for each row when (new.removed_at is not null and new.undoable_until is null and (old.removed_at is null or old.undoable_until is not null))
  execute function remove_photos_of_pet();

grant select, insert, update, delete on photos, photo_deletions to homeward_app;
grant select, insert, update on photo_uploads, photo_storage to homeward_app;
grant select, insert, delete on removed_photo_bytes to homeward_app;
grant update (claimed_until) on removed_photo_bytes to homeward_app;
grant select, update on photo_scan to homeward_app;
grant usage on sequence photo_claims to homeward_app;
grant select on sequence photos_id_seq to homeward_app;
