-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- How a shelter's animals are adopted. Processes of the release before add shelters without these columns, and take orders everywhere.
alter table shelters add column adoption text not null default 'order';
-- squawk-ignore prefer-bigint-over-int
alter table shelters add column applications_max integer not null default 100;
alter table shelters add column application_note text;
alter table shelters add constraint shelters_adoption_check check (adoption in ('order', 'application')) not valid;
alter table shelters add constraint shelters_applications_max_check check (applications_max between 1 and 500) not valid;
alter table shelters add constraint shelters_application_note_check check (char_length(application_note) <= 2000) not valid;

-- What a shelter asks applicants; one without a row asks nothing. Not in `shelters`: a change of that row invalidates cached listings.
create table shelter_questions (
  shelter_id bigint primary key references shelters,
  questions jsonb not null check (jsonb_array_length(questions) <= 40),
  updated_at timestamptz not null default now()
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

grant select, insert, update on shelter_questions to homeward_app;
