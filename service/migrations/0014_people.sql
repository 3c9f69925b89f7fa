-- release: 1.0.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Who works for the store or for one of its shelters, and signs in to the console.
-- Owner: access. Rows stay: the history names them. With the name the address is erased once no row of the audit is about the person.
create table people (
  id bigint generated always as identity primary key,
  -- As canonicalAddress in platform/email-addresses.ts spells it.
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
  -- Who has invited this person. Null: a command.
  invited_by bigint,
  -- More rights, which a person has from when it follows a link on. Without a role, nothing waits; without a shelter, they are for the store.
  raised_role text constraint people_raised_role check (raised_role in ('volunteer', 'staff', 'admin')),
  raised_shelter_id bigint,
  raised_until timestamptz,
  -- Who has decided so. Null: a command.
  raised_by bigint,
  -- Each sign-in leaves a row in the audit, which nobody can delete: how many a person has had since when.
  sign_ins_since timestamptz,
  sign_ins bigint not null default 0,
  -- When a person's role or shelter was last changed: the journal, applied after a failover, does not undo what was changed later. Null: as
  -- it was when the person was invited.
  post_changed_at timestamptz,
  constraint people_volunteers_have_a_shelter check (role <> 'volunteer' or shelter_id is not null),
  constraint people_are_known check (removed_at is not null or (email is not null and name is not null))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create unique index people_by_email on people (email) where removed_at is null;
create index people_by_shelter on people (shelter_id, id) where removed_at is null;
create index people_store_admins on people (id) where role = 'admin' and shelter_id is null and removed_at is null;
-- Whose name is still to be erased.
create index people_removed on people (removed_at) where removed_at is not null and email is not null;
-- Whom somebody has invited who is being removed.
create index people_by_inviter on people (invited_by, id) where removed_at is null and invited_by is not null;

-- The client that the people of a shelter place orders and send photos for; 0: the people of the store.
-- Owner: access. Rows stay.
create table staff_clients (
  shelter_id bigint primary key,
  client_id bigint not null unique references clients
) with (autovacuum_vacuum_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05);

-- Who is signed in. Only the hash of the token is stored: a dump has no session that could be used.
-- Owner: access. A row goes when the person signs out, when it ends, or with the person.
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

-- Read by each transaction that acts for a session: null while its authority holds, else a word that says why not. With the role and in
-- the shelter (0: the store) that the person had when its request began. A suspension of the store's own client does not lock out those
-- who can end it.
create function ended_session(session bigint, held_role text, held_shelter bigint) returns text language plpgsql stable as $$
begin
  return nullif(coalesce((select case when role <> held_role or coalesce(people.shelter_id, 0) <> held_shelter then 'changed'
      when suspended_at is not null and people.shelter_id is not null then 'suspended' else '' end
    from sessions join people on people.id = person_id join staff_clients on staff_clients.shelter_id = coalesce(people.shelter_id, 0)
      join clients on clients.id = client_id
    where sessions.id = session and removed_at is null and sessions.expires_at > now()), 'ended'), '');
end $$;

-- Invitations, links to sign in and links that raise rights. They are used once.
-- Owner: access. Rows go when they end, or with the person.
create table person_links (
  hash bytea primary key constraint person_links_hash check (octet_length(hash) = 32),
  person_id bigint not null references people,
  kind text not null constraint person_links_kind check (kind in ('invitation', 'sign_in', 'raise')),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on);
create index person_links_by_person on person_links (person_id, kind);
create index person_links_by_end on person_links (expires_at);

-- Owner: access. A row goes when the passkey is removed, or with the person.
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
-- Owner: access. A row goes when the account is removed, or with the person.
create table identities (
  issuer text not null constraint identities_issuer_length check (char_length(issuer) between 1 and 2000),
  subject text not null constraint identities_subject_length check (char_length(subject) between 1 and 255),
  person_id bigint not null references people,
  created_at timestamptz not null default now(),
  primary key (issuer, subject)
) with (autovacuum_vacuum_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05);
create index identities_by_person on identities (person_id);

-- Challenges and states that were used. Those that were never used are stored nowhere.
-- Owner: access. Rows go when they would have ended anyway.
create table used_values (
  purpose text not null,
  hash bytea not null constraint used_values_hash check (octet_length(hash) = 32),
  expires_at timestamptz not null,
  primary key (purpose, hash)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on);
create index used_values_by_end on used_values (expires_at);

-- Sign-ins that failed have no author, so the audit can't have them: they are counted. At most 200 networks of an hour have a row, and what
-- comes from others is counted together.
-- Owner: access. Rows go after 90 days.
create table failed_sign_ins (
  hour timestamptz not null,
  kind text not null constraint failed_sign_ins_kind_length check (char_length(kind) between 1 and 40),
  -- IPv4 by /24, IPv6 by /48, or 'others'.
  network text not null constraint failed_sign_ins_network_length check (char_length(network) between 1 and 50),
  count bigint not null,
  primary key (hour, kind, network)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on);

-- Where a form of the console led to, and what it said: a form that is sent again with the same content shows that, and does nothing. No
-- foreign key: people are never deleted, and each form would lock its person's row.
-- Owner: console. Rows go after a day, or when the person has 200 newer ones.
create table form_results (
  person_id bigint not null,
  -- Minted with the form.
  form_id bytea not null constraint form_results_form_id check (octet_length(form_id) = 16),
  -- SHA-256 of the path and the values.
  content bytea not null constraint form_results_content check (octet_length(content) = 32),
  -- Empty until the form has been carried out, which is in the same transaction.
  location text not null default '' constraint form_results_location check (char_length(location) <= 2000),
  message text constraint form_results_message check (char_length(message) <= 1000),
  created_at timestamptz not null default now(),
  primary key (person_id, form_id, content)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on);
create index form_results_by_person on form_results (person_id, created_at);
create index form_results_by_time on form_results (created_at);

-- Acts that change who may do what, limits, shelters and personal data: who, from where, what. Acts on animals, orders and applications
-- are in their history. No adopters' data.
-- Owner: access. Rows are only added. A partition a month, which is dropped after HOMEWARD_AUDIT_RETENTION, a year at least.
create table audit (
  id bigint generated always as identity,
  at timestamptz not null default clock_timestamp(),
  act text not null,
  target text not null,
  target_id bigint,
  -- Whose it is about, for that shelter's admins. Null: the store.
  shelter_id bigint,
  person_id bigint,
  client_id bigint,
  key_id bigint,
  -- Of a command.
  login text,
  host text,
  -- Of a request: IPv4 by /24, IPv6 by /48.
  network text,
  -- The listed fields of the target.
  before jsonb,
  after jsonb,
  constraint audit_has_author check (person_id is not null or key_id is not null or login is not null),
  constraint audit_has_origin check (network is not null or host is not null),
  constraint audit_values_are_few check (octet_length(before::text) <= 20000 and octet_length(after::text) <= 20000),
  constraint audit_pkey primary key (id, at)
) partition by range (at);
create index audit_by_target on audit (target, target_id, at, id);
create index audit_by_act on audit (act, at, id);
create index audit_by_shelter on audit (shelter_id, at, id);
create index audit_by_person on audit (person_id, at, id) where person_id is not null;
create index audit_by_time on audit (at, id);

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of the audit are only added' using errcode = 'insufficient_privilege';
end
$$;

-- When the last partition ends, and when the first begins.
create function audit_end() returns timestamptz stable language sql as $$
  select (max(to_date(right(relname, 6), 'YYYYMM')) + interval '1 month') at time zone 'utc'
    from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = 'audit'::regclass
$$;
create function audit_start() returns timestamptz stable language sql as $$
  select min(to_date(right(relname, 6), 'YYYYMM'))::timestamp at time zone 'utc'
    from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = 'audit'::regclass
$$;

-- The partitions of this month and the next three, as for the history.
create function make_audit_partitions() returns bigint language plpgsql security definer as $$
declare
  month date;
  name text;
  made bigint := 0;
begin
  -- Several workers may be at it.
  perform pg_advisory_xact_lock(hashtextextended('make_audit_partitions', 0));
  month := coalesce(audit_end() at time zone 'utc', date_trunc('month', now() at time zone 'utc'));
  while month <= date_trunc('month', now() at time zone 'utc') + interval '3 months' loop
    name := 'audit_' || to_char(month, 'YYYYMM');
    execute format('create table %I (like audit including all excluding identity)
      with (autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05)', name);
    -- Of each partition, too: that of the table does not run for a statement that names its partition.
    execute format('create trigger rows_are_only_added before update or delete or truncate on %I
      for each statement execute function refuse_audit_change()', name);
    execute format('alter table audit attach partition %I for values from (%L) to (%L)',
      name, month::timestamp at time zone 'utc', (month + interval '1 month') at time zone 'utc');
    month := month + interval '1 month';
    made := made + 1;
  end loop;
  return made;
end
$$;

-- Whole months that ended longer ago than this. Not less than a year: a process that was taken over can't remove what it has just done.
create function drop_audit_partitions(days integer) returns bigint language plpgsql security definer as $$
declare
  name text;
  dropped bigint := 0;
begin
  if days < 365 then raise exception 'the audit is kept for a year at least' using errcode = 'insufficient_privilege'; end if;
  perform pg_advisory_xact_lock(hashtextextended('make_audit_partitions', 0));
  for name in
    select relname from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = 'audit'::regclass
      and (to_date(right(relname, 6), 'YYYYMM') + interval '1 month') at time zone 'utc' < now() - make_interval(days => days)
  loop
    execute format('drop table %I', name);
    dropped := dropped + 1;
  end loop;
  return dropped;
end
$$;

-- Of this schema and no other: nobody can put a table of the same name before it.
do $$
declare
  name text;
begin
  foreach name in array array['audit_end()', 'audit_start()', 'make_audit_partitions()', 'drop_audit_partitions(integer)'] loop
    execute format('alter function %s set search_path = %I, pg_temp', name, current_schema());
    execute format('revoke execute on function %s from public', name);
    execute format('grant execute on function %s to homeward_app', name);
  end loop;
end
$$;
select make_audit_partitions();
create trigger rows_are_only_added before update or delete or truncate on audit
  for each statement execute function refuse_audit_change();

-- How many rows a person or a key has added to the audit on its last day (UTC): nobody can delete them, so they are limited. One row for
-- each author, which its next act locks until it ends. No foreign key: authors are never deleted, and each act would lock its author's row.
-- Owner: access. Rows stay.
create table audit_counts (
  -- Such as p7, a person, or k12, a key.
  author text primary key constraint audit_counts_author check (author ~ '^[pk][0-9]+$'),
  day date not null,
  count bigint not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

grant select, insert, update on people, audit_counts to homeward_app;
grant select, insert on staff_clients, audit to homeward_app;
grant select, insert, update, delete on sessions, person_links, passkeys, used_values, failed_sign_ins, form_results to homeward_app;
grant select, insert, delete on identities to homeward_app;
grant select on sequence people_id_seq, passkeys_id_seq to homeward_app;
