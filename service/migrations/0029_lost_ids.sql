-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Where ids were last assigned. On another server the last of them may be lost, and are skipped: otherwise an order or an animal would get
-- an id that a partner knows as that of another. Null: not known.
alter table deployment add column ids_server text;
update deployment set ids_server = server;

-- For the owner, after a restore. Also by the time: what is restored or promoted twice must not assign the same ids twice. Nobody assigns
-- ten a second for long.
create function skip_ids() returns void language plpgsql as $$
declare
  skipped bigint := 1000000 + 10 * extract(epoch from now() - timestamptz '2026-11-01 00:00Z')::bigint;
  ids text;
begin
  foreach ids in array '{clients,api_keys,pets,orders,webhooks,shelters,photos}'::text[] loop
    perform setval(pg_get_serial_sequence(ids, 'id'), nextval(pg_get_serial_sequence(ids, 'id')) + skipped);
  end loop;
end;
$$;

-- For every process before it writes to a server for the first time: the first one skips them. Returns whether it has.
create function skip_lost_ids() returns boolean language plpgsql security definer as $$
declare
  here text := current_server();
  before text;
begin
  -- Others wait here, and then find nothing to do.
  select coalesce(ids_server, '') into before from deployment where ids_server is distinct from here for update;
  if not found then return false; end if;
  if before <> '' then perform skip_ids(); end if;
  update deployment set ids_server = here;
  return before <> '';
end;
$$;
do $$
begin
  execute format('alter function skip_lost_ids() set search_path = %I, pg_temp', current_schema());
end;
$$;
revoke execute on function skip_ids(), skip_lost_ids() from public;
grant execute on function skip_lost_ids() to homeward_app;

-- Doctor compares them with the ids of their tables.
grant select on sequence clients_id_seq, api_keys_id_seq, pets_id_seq, orders_id_seq, history_id_seq, webhooks_id_seq, shelters_id_seq,
  photos_id_seq to homeward_app;
