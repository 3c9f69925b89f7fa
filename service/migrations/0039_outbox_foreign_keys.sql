-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- As in 0038. The animals first, as processes lock them: once they have ended with these, nobody writes events.
lock table pets, outbox, clients in access exclusive mode;
alter table outbox drop constraint outbox_pet_id_fkey, drop constraint outbox_client_id_fkey;
