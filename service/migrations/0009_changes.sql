-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- The last transaction that changed a client or one of its keys: a process looks here for what it must not use from its cache
-- any more. By triggers, so that changes by processes of the release before, and by hand, are found too.
alter table clients add column changed_in xid8 not null default '0';

create function note_client_change() returns trigger language plpgsql as $$
begin
  new.changed_in := pg_current_xact_id();
  return new;
end
$$;
create trigger note_change before update on clients for each row execute function note_client_change();

create function note_key_change() returns trigger language plpgsql as $$
begin
  -- Once for each transaction, however many keys it changes.
  update clients set changed_in = pg_current_xact_id() where id = old.client_id and changed_in <> pg_current_xact_id();
  return null;
end
$$;
create trigger note_change after update or delete on api_keys for each row execute function note_key_change();

-- Increased after each change of an animal whose process could not tell Redis. A sequence and not a row: no write waits for another.
create sequence unannounced_changes;
-- The first value is 1 both before and after it is taken.
select nextval('unannounced_changes');
grant select, usage on sequence unannounced_changes to homeward_app;
