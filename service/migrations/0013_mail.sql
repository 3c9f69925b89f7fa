-- release: 1.0.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Messages to people, to be sent by the worker. Neither names nor texts: those are read when a message is sent, and so is the address.
-- Owner: changes. A row goes 3 days after its message was sent or dropped, 90 days after it failed, and with the adopter.
create table mail (
  id bigint generated always as identity primary key,
  kind text not null,
  -- What it is about, such as an application.
  subject_id bigint not null,
  -- At most one waits for its kind and subject, and at most one an hour is sent.
  is_single boolean not null,
  state text not null default 'queued' constraint mail_state check (state in ('queued', 'sent', 'failed', 'dropped')),
  created_at timestamptz not null default now(),
  -- When it is sent next. While a worker has it: when the claim ends.
  due_at timestamptz not null,
  -- Since when it waits for the worker or for the server. Later than due_at was at first if the server has put off this message alone.
  waiting_since timestamptz not null,
  attempts bigint not null default 0,
  -- The number of the last claim, which only grows. Null: nobody's.
  claim bigint,
  claimed_at timestamptz,
  -- When the worker that has it began to send its text. Null: not yet.
  begun_at timestamptz,
  -- Whether it was counted for its address.
  is_counted boolean not null default false,
  -- What the server replied: the SMTP code alone, such as 550 5.1.1.
  failure text,
  ended_at timestamptz,
  -- The address of a message that tells that it was erased everywhere else. Null: it is read when the message is sent.
  recipient text,
  constraint mail_has_ended check ((state = 'queued') = (ended_at is null))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on);
create index mail_due on mail (due_at) where state = 'queued';
create index mail_waiting on mail (waiting_since) where state = 'queued';
create index mail_by_subject on mail (subject_id, kind);
create unique index mail_single on mail (kind, subject_id) where is_single and state = 'queued' and attempts = 0;
create index mail_ended on mail (state, ended_at) where ended_at is not null;

-- Whatever ends a message: no row that has ended has an address.
create function forget_recipient() returns trigger language plpgsql as $$
begin
  new.recipient := null;
  return new;
end
$$;
create trigger mail_forgets_recipient before update of state on mail
  for each row when (new.state <> 'queued' and new.recipient is not null) execute function forget_recipient();

create sequence mail_claims;

-- How many messages went to an address on a day (UTC). The address is hashed with a secret: a dump has no trace of it.
-- Owner: changes. Rows go when the day has ended.
create table mail_counts (
  day date not null,
  address bytea not null,
  confirmations bigint not null,
  messages bigint not null,
  primary key (day, address)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on);

grant select, insert, update, delete on mail, mail_counts to homeward_app;
grant usage on sequence mail_claims to homeward_app;
