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

-- Doctor compares it with the ids of its table: with an id that is assigned again, an old link would lead to somebody else's application.
grant select on sequence applications_id_seq to homeward_app;
