-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- How many rows a person or a key has added to the audit on its last day (UTC): nobody can delete them, so they are limited. One row for
-- each author, which its next act locks until it ends. No foreign key: authors are never deleted, and each act would lock its author's row.
create table audit_counts (
  -- Such as p7, a person, or k12, a key.
  author text primary key constraint audit_counts_author check (author ~ '^[pk][0-9]+$'),
  day date not null,
  count bigint not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
grant select, insert, update on audit_counts to homeward_app;
