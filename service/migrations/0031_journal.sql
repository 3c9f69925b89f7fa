-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Where the journal is, as the workers have it in HOMEWARD_JOURNAL: a command without that variable is rejected. Null: no worker has
-- recorded one.
alter table deployment
  add column journal text,
  -- Since when: what was revoked since then is in it.
  add column journal_since timestamptz;
grant update (journal, journal_since) on deployment to homeward_app;
