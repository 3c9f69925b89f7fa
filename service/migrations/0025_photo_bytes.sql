-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- What the files of a photo take. Null: not known, of a photo from before; a worker fills it in.
alter table photos
  -- Of the original, which is there while the photo is processed.
  add column original_bytes bigint,
  -- Of all its pictures. Set before they are written.
  add column pictures_bytes bigint,
  -- Sent by the store's own staff, whose photos are counted and not limited.
  add column is_unlimited boolean not null default false;

-- The bytes of removed photos, whose files are still there. A sweep deletes both, after a day.
create table removed_photo_bytes (
  id bigint generated always as identity primary key,
  client_id bigint not null,
  bytes bigint not null,
  removed_at timestamptz not null default now()
);

-- The bytes of all files of a client: the sum over its photos, and over removed ones until their files are deleted. Written by the
-- trigger below and by the sweep, in the transactions that change those rows, so it can't differ from them.
-- Neither table refers to clients: these are never deleted, and the constraint would lock them here.
create table photo_storage (
  client_id bigint primary key,
  bytes bigint not null
);

-- Also for processes of the release before, which don't set the columns, and for removed animals.
create function count_photo_bytes() returns trigger language plpgsql as $$
declare
  before bigint := 0;
  after bigint := 0;
begin
  if tg_op <> 'INSERT' then
    before := case when old.status = 'processing' then coalesce(old.original_bytes, 0) else 0 end + coalesce(old.pictures_bytes, 0);
  end if;
  -- Its files stay, and still count. The row of the client is not locked: staff that removes an animal doesn't wait for its client.
  if tg_op = 'DELETE' then
    if before > 0 then
      insert into removed_photo_bytes (client_id, bytes) values (old.client_id, before);
    end if;
    return null;
  end if;
  after := case when new.status = 'processing' then coalesce(new.original_bytes, 0) else 0 end + coalesce(new.pictures_bytes, 0);
  -- Pictures that the photo does not name any more stay in the same way.
  if tg_op = 'UPDATE' and old.pictures_bytes > 0 and new.pictures_bytes is distinct from old.pictures_bytes then
    insert into removed_photo_bytes (client_id, bytes) values (old.client_id, old.pictures_bytes);
    before := before - old.pictures_bytes;
  end if;
  insert into photo_storage as stored (client_id, bytes)
    select client_id, sum(bytes) from (values (coalesce(old.client_id, new.client_id), -before), (new.client_id, after)) as part (client_id, bytes)
      group by client_id having sum(bytes) <> 0 order by client_id
    on conflict (client_id) do update set bytes = stored.bytes + excluded.bytes;
  return null;
end $$;
create trigger photo_bytes_are_counted after insert or delete or update of client_id, status, original_bytes, pictures_bytes on photos
  for each row execute function count_photo_bytes();

grant select, insert, delete on removed_photo_bytes to homeward_app;
grant select, insert, update on photo_storage to homeward_app;
