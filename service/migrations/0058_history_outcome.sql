-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- For kind pet_outcome: its type. Only staff read it.
alter table history add column outcome text;
