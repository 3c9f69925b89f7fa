-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Each was checked for each row that is written, and locked the row of the client and of the key. No process deletes a client or a key:
-- 'homeward verify' finds rows that name one that does not exist.
alter table history drop constraint history_client_id_fkey, drop constraint history_key_id_fkey;
