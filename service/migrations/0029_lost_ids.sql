-- Up Migration

-- Where ids were last assigned. On another server the last of them may be lost, and are skipped: otherwise an order or an animal would get
-- an id that a partner knows as that of another. Null: not known.
alter table deployment add column ids_server text;
update deployment set ids_server = server;

-- For the owner, after a restore. `skipped` is more than can be lost.
create function skip_ids(skipped bigint) returns void language plpgsql as $$
declare
  ids text;
begin
  foreach ids in array '{clients,api_keys,pets,orders,webhooks,shelters,photos}'::text[] loop
    perform setval(pg_get_serial_sequence(ids, 'id'), nextval(pg_get_serial_sequence(ids, 'id')) + skipped);
  end loop;
end;
$$;

-- For every process before it writes to a server for the first time: whoever is first skips them. Returns whether it has.
create function skip_lost_ids(skipped bigint) returns boolean language plpgsql security definer as $$
declare
  here text := current_server();
  before text;
begin
  -- Others wait here, and then find nothing to do.
  select coalesce(ids_server, '') into before from deployment where ids_server is distinct from here for update;
  if not found then return false; end if;
  if before <> '' then perform skip_ids(skipped); end if;
  update deployment set ids_server = here;
  return before <> '';
end;
$$;
do $$
begin
  execute format('alter function skip_lost_ids(bigint) set search_path = %I, pg_temp', current_schema());
end;
$$;
revoke execute on function skip_ids(bigint), skip_lost_ids(bigint) from public;
grant execute on function skip_lost_ids(bigint) to homeward_app;
