-- Up Migration

-- The server on which the feed's positions were assigned: PostgreSQL's system identifier and its timeline. It is another one after a
-- restore, so 'homeward restore-check' knows what is left to do. Null: not known.
alter table deployment add column server text;

-- Only if no position was assigned yet. A store with positions may have been restored just before.
do $$
begin
  update deployment set server = (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
    where (select last_position from feed) = 0;
exception when insufficient_privilege or feature_not_supported then null; -- a provider may not allow it
end
$$;
