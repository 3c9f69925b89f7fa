-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Where a form of the console led to, and what it said: a form that is sent again with the same content shows that, and does nothing. Of
-- each person the newest 200, for a day. No foreign key: people are never deleted, and each form would lock its person's row.
create table form_results (
  person_id bigint not null,
  -- Minted with the form.
  form_id bytea not null constraint form_results_form_id check (octet_length(form_id) = 16),
  -- SHA-256 of the path and the values.
  content bytea not null constraint form_results_content check (octet_length(content) = 32),
  -- Empty until the form has been carried out, which is in the same transaction.
  location text not null default '' constraint form_results_location check (char_length(location) <= 2000),
  message text constraint form_results_message check (char_length(message) <= 1000),
  created_at timestamptz not null default now(),
  primary key (person_id, form_id, content)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on);
create index form_results_by_person on form_results (person_id, created_at);
create index form_results_by_time on form_results (created_at);
grant select, insert, update, delete on form_results to homeward_app;
