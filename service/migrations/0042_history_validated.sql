-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Reading the table excludes nobody. Both in one statement, which reads it once.
alter table history validate constraint history_until, validate constraint history_move_has_shelters;
