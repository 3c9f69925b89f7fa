-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- The shelter that the key of the request is bound to, 0 if it is bound to none: the same request with a key of another shelter has
-- another effect. Null in rows of the release before, whose retries get the stored response as before.
alter table idempotent_answers add column shelter_id bigint;
