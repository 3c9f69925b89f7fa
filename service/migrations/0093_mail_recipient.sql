-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- The address of a message that tells that it was erased everywhere else. Null: it is read when the message is sent.
alter table mail add column recipient text;

-- Also in statements of the release before: no row that has ended has an address.
create function forget_recipient() returns trigger language plpgsql as $$
begin
  new.recipient := null;
  return new;
end
$$;
create trigger mail_forgets_recipient before update of state on mail
  for each row when (new.state <> 'queued' and new.recipient is not null) execute function forget_recipient();
