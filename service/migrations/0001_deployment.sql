-- release: 1.0.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- The first 14 files are the schema of 1.0.0, one for each subject. A table says what it is, its owner (the folder of service/src that
-- writes it) and when its rows go. Later files change these tables. Everything belongs to the role that migrates; the processes act as
-- homeward_app.
--
-- All ids are int64. Tables that are written have settings of autovacuum: by default it waits for a fifth of a table, and by then the
-- dead entries at the front of an index, where a queue or the first page of a list is read, make that slow.

-- The processes that serve requests act as this role: no DDL, no TRUNCATE. An operator may create it beforehand.
do $$
begin
  if not exists (select from pg_roles where rolname = 'homeward_app') then
    create role homeward_app nologin;
  end if;
exception when duplicate_object or unique_violation then null; -- another database of this server was faster
end
$$;
do $$
begin
  -- Tried first and asked later: since PostgreSQL 16 the maker of a role is its member, and yet may not act as it.
  execute format('grant homeward_app to %I', current_user);
exception
  when unique_violation then null; -- likewise
  when insufficient_privilege then
    if not pg_has_role(current_user, 'homeward_app', 'member') then raise; end if;
end
$$;
do $$
begin
  execute format('grant usage on schema %I to homeward_app', current_schema());
exception when unique_violation then null; -- likewise
end
$$;

-- Both are trusted extensions: the owner of a database may create them.
create extension if not exists unaccent;
create extension if not exists pg_trgm;

-- One row: what this deployment is, and where.
-- Owner: platform. The row stays.
create table deployment (
  one boolean primary key default true check (one),
  -- Names everything that this deployment keeps in Redis.
  id text not null default substr(replace(gen_random_uuid()::text, '-', ''), 1, 12),
  -- Where the feed's positions were assigned. It is another server after a restore, so 'homeward restore-check' knows what is left to do.
  -- Null: not known.
  server text,
  -- Where ids were last assigned. On another server the last of them may be lost, and are skipped: otherwise an order or an animal would
  -- get an id that a partner knows as that of another. Null: not known.
  ids_server text,
  -- By which the store recognises its own photos: the same text is in a file beside them. A disk that is not mounted has no such file,
  -- and the directory or bucket of another store has another.
  photos_id text not null default gen_random_uuid()::text,
  -- When a worker has written that file. Null: not yet.
  photos_marked_at timestamptz,
  -- Where the journal is, as the workers have it in HOMEWARD_JOURNAL: a command without that variable is rejected. Null: no worker has
  -- recorded one.
  journal text,
  -- Since when: what was revoked since then is in it.
  journal_since timestamptz,
  -- What the links to adopters' pages are signed with: 256 bits from the server's own source of randomness, of which a uuid has 122. A
  -- restored store keeps it, and with it the links that were mailed. `update deployment set secret = default` ends all of them.
  secret bytea not null
    default sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
    constraint deployment_secret_is_whole check (octet_length(secret) = 32)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
insert into deployment default values;

grant select on deployment to homeward_app;
-- A worker that sees a standby take over records it. It does not hide a restore: see 'A failover' in docs/operations.md.
grant update (server, photos_id, photos_marked_at, journal, journal_since) on deployment to homeward_app;
