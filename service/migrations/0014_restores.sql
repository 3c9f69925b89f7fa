-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Where this database is: PostgreSQL's system identifier, which a new cluster has; its timeline, which a recovery from an archive and the
-- promotion of a standby begin; and the ids of the database and of a table, which a dump that is loaded gets anew.
create function current_server() returns text language sql stable as $$
  select (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
    || '/' || (select oid from pg_database where datname = current_database()) || '/' || 'feed'::regclass::oid
$$;

-- Where the feed's positions were assigned. It is another server after a restore, so 'homeward restore-check' knows what is left to do.
-- Null: not known.
alter table deployment add column server text;

-- Only if no position was assigned yet. A store with positions may have been restored just before.
do $$
begin
  update deployment set server = current_server() where (select last_position from feed) = 0;
exception when others then null; -- a provider may not allow it
end
$$;
