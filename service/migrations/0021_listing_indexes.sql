-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Finds animals without a profile by the words of their names.
create index concurrently if not exists pets_by_word_of_name on pets using gin (to_tsvector('listings', name)) where removed_at is null;
create index concurrently if not exists shelters_by_position on shelters (latitude, longitude) where latitude is not null;
