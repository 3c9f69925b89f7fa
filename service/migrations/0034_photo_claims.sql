-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- The number of a claim on a photo. It only grows, unlike `attempts`, from which those that don't count are subtracted: a worker whose
-- claim has ended never has the number of another's.
create sequence photo_claims;
grant usage on sequence photo_claims to homeward_app;

-- Null: nobody's. Processes of release 1.1.0 claim a photo without one, so `attempts` is compared too.
alter table photos add column claim bigint;

-- As in 0029, and for the numbers of claims and leases: on another server the last of them may be lost, and a worker that still has one
-- must not find it assigned again.
create or replace function skip_ids() returns void language plpgsql as $$
declare
  skipped bigint := 1000000 + 10 * extract(epoch from now() - timestamptz '2026-11-01 00:00Z')::bigint;
  ids text;
begin
  foreach ids in array '{clients,api_keys,pets,orders,webhooks,shelters,photos,webhook_workers}'::text[] loop
    perform setval(pg_get_serial_sequence(ids, 'id'), nextval(pg_get_serial_sequence(ids, 'id')) + skipped);
  end loop;
  perform setval('photo_claims', nextval('photo_claims') + skipped);
end;
$$;
