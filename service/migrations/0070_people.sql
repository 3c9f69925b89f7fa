-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Who works for the store or for one of its shelters. Processes of the release before know no people.
create table people (
  id bigint generated always as identity primary key,
  -- As canonicalAddress in platform/email-addresses.ts spells it. With the name it is erased once no row of the audit is about the person.
  email text constraint people_email_length check (char_length(email) between 3 and 254),
  name text constraint people_name_length check (char_length(name) between 1 and 200),
  role text not null constraint people_role check (role in ('volunteer', 'staff', 'admin')),
  -- Null: the store itself.
  shelter_id bigint references shelters,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz,
  -- When the invitation ends. Null: it was accepted.
  invited_until timestamptz,
  removed_at timestamptz,
  -- How many links to sign in this person has asked for on this day (UTC), and how many people it has invited.
  asked_on date,
  asked bigint not null default 0,
  invites_on date,
  invites bigint not null default 0,
  constraint people_volunteers_have_a_shelter check (role <> 'volunteer' or shelter_id is not null),
  constraint people_are_known check (removed_at is not null or (email is not null and name is not null))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create unique index people_by_email on people (email) where removed_at is null;
create index people_by_shelter on people (shelter_id, id) where removed_at is null;
create index people_store_admins on people (id) where role = 'admin' and shelter_id is null and removed_at is null;
-- Whose name is still to be erased.
create index people_removed on people (removed_at) where removed_at is not null and email is not null;

-- The client that the people of a shelter place orders and send photos for; 0: the people of the store.
create table staff_clients (
  shelter_id bigint primary key,
  client_id bigint not null unique references clients
) with (autovacuum_vacuum_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05);

-- Only the hash of the token is stored: a dump has no session that could be used.
create table sessions (
  id bigint generated always as identity primary key,
  person_id bigint not null references people,
  hash bytea not null constraint sessions_hash check (octet_length(hash) = 32),
  method text not null constraint sessions_method check (method in ('passkey', 'oidc', 'link')),
  -- The network that the person signed in from, such as 192.0.2.0/24.
  network text not null,
  signed_in_at timestamptz not null default now(),
  -- Written at most once a minute.
  last_seen_at timestamptz not null default now(),
  expires_at timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on);
create unique index sessions_by_hash on sessions (hash);
create index sessions_by_person on sessions (person_id, id);
create index sessions_by_end on sessions (expires_at);

-- Invitations and links to sign in. They are used once.
create table person_links (
  hash bytea primary key constraint person_links_hash check (octet_length(hash) = 32),
  person_id bigint not null references people,
  kind text not null constraint person_links_kind check (kind in ('invitation', 'sign_in')),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on);
create index person_links_by_person on person_links (person_id, kind);
create index person_links_by_end on person_links (expires_at);

create table passkeys (
  id bigint generated always as identity primary key,
  person_id bigint not null references people,
  -- Both as the authenticator has made them.
  credential_id bytea not null constraint passkeys_credential_length check (octet_length(credential_id) between 1 and 1023),
  public_key bytea not null constraint passkeys_public_key_length check (octet_length(public_key) between 1 and 4096),
  -- Grows with each use, or stays 0. A copy of the authenticator is found by it.
  counter bigint not null,
  transports text[] not null default '{}',
  name text not null constraint passkeys_name_length check (char_length(name) between 1 and 100),
  created_at timestamptz not null default now(),
  last_used_at timestamptz
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create unique index passkeys_by_credential on passkeys (credential_id);
create index passkeys_by_person on passkeys (person_id, id);

-- Accounts at providers of OpenID Connect.
create table identities (
  issuer text not null constraint identities_issuer_length check (char_length(issuer) between 1 and 2000),
  subject text not null constraint identities_subject_length check (char_length(subject) between 1 and 255),
  person_id bigint not null references people,
  created_at timestamptz not null default now(),
  primary key (issuer, subject)
) with (autovacuum_vacuum_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05);
create index identities_by_person on identities (person_id);

-- Challenges and states that were used, until they end anyway. Those that were never used are stored nowhere.
create table used_values (
  purpose text not null,
  hash bytea not null constraint used_values_hash check (octet_length(hash) = 32),
  expires_at timestamptz not null,
  primary key (purpose, hash)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on);
create index used_values_by_end on used_values (expires_at);

grant select, insert, update on people to homeward_app;
grant select, insert on staff_clients to homeward_app;
grant select, insert, update, delete on sessions, person_links, passkeys, used_values to homeward_app;
grant select, insert, delete on identities to homeward_app;
-- Doctor compares them with the ids of their tables.
grant select on sequence people_id_seq, passkeys_id_seq to homeward_app;

-- As in 0050, and for people: an id that is assigned again would lend one person's acts to another.
create or replace function skip_ids() returns void language plpgsql as $$
declare
  skipped bigint := 1000000 + 10 * extract(epoch from now() - timestamptz '2026-11-01 00:00Z')::bigint;
  ids text;
begin
  foreach ids in array '{clients,api_keys,pets,orders,webhooks,shelters,photos,webhook_workers,applications,people,passkeys}'::text[] loop
    perform setval(pg_get_serial_sequence(ids, 'id'), nextval(pg_get_serial_sequence(ids, 'id')) + skipped);
  end loop;
  perform setval('photo_claims', nextval('photo_claims') + skipped);
  perform setval('mail_claims', nextval('mail_claims') + skipped);
end;
$$;
