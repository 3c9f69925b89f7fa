-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Becomes the primary key of the first partition. A key of a partitioned table contains what it is partitioned by.
create unique index concurrently if not exists history_by_id_and_time on history (id, at);
