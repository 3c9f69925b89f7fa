-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- A queue: what photos no longer refer to, and a worker deletes a day later.
alter table removed_photo_bytes
  -- originals/NAME and photos/HASH.webp. Null: not known, of a row from before this column. The next scan of all files deletes those.
  add column files text[],
  -- Until then, the row belongs to the worker that deletes its files.
  add column claimed_until timestamptz;
grant update (claimed_until) on removed_photo_bytes to homeward_app;

-- The weekly scan of all files, for those that no row names. One worker has it at a time.
create table photo_scan (
  is_only_row boolean primary key default true check (is_only_row),
  -- When the next scan begins, or the current one began to be due. The first comes after every row without names is a day old.
  due_at timestamptz not null default now() + interval '1 day',
  -- Null: no scan is under way.
  started_at timestamptz,
  -- The last file that was looked at, where another worker goes on. Null: none yet.
  scanned_to text,
  -- A worker's writes name the number of its claim, so that one whose claim has ended writes nothing.
  claims bigint not null default 0,
  claimed_until timestamptz
);
insert into photo_scan default values;
grant select, update on photo_scan to homeward_app;

-- Every look for a file would read the entries that are not in the index yet. A photo is added less often than a scan looks for one.
alter index photos_by_file set (fastupdate = off);

-- As before, and it names the files. Also for processes of the release before: their removals are in the queue too.
create or replace function count_photo_bytes() returns trigger language plpgsql as $$
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
