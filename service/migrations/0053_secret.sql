-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- What the links to adopters' pages are signed with: 256 bits from the server's own source of randomness, of which a uuid has 122. A
-- restored store keeps it, and with it the links that were mailed. `update deployment set secret = default` ends all of them. The table
-- has one row, so that writing it again takes no time.
alter table deployment add column secret bytea not null
  -- squawk-ignore adding-field-with-default
  default sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
  constraint deployment_secret_is_whole check (octet_length(secret) = 32);

-- As in 0034, and for applications and the numbers of claims on mail: on another server the last ids may be lost. Assigned again, the link to a lost application would lead
-- to the one of somebody else.
create or replace function skip_ids() returns void language plpgsql as $$
declare
  skipped bigint := 1000000 + 10 * extract(epoch from now() - timestamptz '2026-11-01 00:00Z')::bigint;
  ids text;
begin
  foreach ids in array '{clients,api_keys,pets,orders,applications,webhooks,shelters,photos,webhook_workers}'::text[] loop
    perform setval(pg_get_serial_sequence(ids, 'id'), nextval(pg_get_serial_sequence(ids, 'id')) + skipped);
  end loop;
  perform setval('photo_claims', nextval('photo_claims') + skipped);
  perform setval('mail_claims', nextval('mail_claims') + skipped);
end;
$$;
grant select on sequence applications_id_seq to homeward_app;
