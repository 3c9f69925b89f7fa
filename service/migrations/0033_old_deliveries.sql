-- Up Migration
-- release: 1.2.0
-- change: contract
-- online: yes
-- runs with: 1.1.0, 1.0.0 reads and writes deliveries

-- What only processes of release 1.0.0 use. Everything that was queued or failed is in delivery_exceptions since 0008, and the attempts of
-- 30 days in webhook_attempts; the worker makes the words of searches since 0024. Its triggers go with the tables.
-- squawk-ignore-file ban-drop-table
drop table if exists delivery_attempts, deliveries, listing_words;
drop function if exists freeze_old_delivery(), forward_old_delivery(), forward_old_attempt();
