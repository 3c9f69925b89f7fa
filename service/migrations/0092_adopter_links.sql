-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- The number that links to the adopter's page have. It grows when staff end them.
alter table applications add column link_number bigint not null default 0;
-- Until then staff may reopen what its adopter has withdrawn on the page.
alter table applications add column reopen_until timestamptz;

-- What adopters asked for on their page, to withdraw or erase by a link that is mailed: those of the last day on which one was asked for.
create table adopter_links (
  application_id bigint not null references applications,
  -- In the link. Random, so that none is given twice after a restore.
  number bigint not null constraint adopter_links_number check (number > 0),
  act text not null constraint adopter_links_act check (act in ('withdraw', 'erase')),
  asked_at timestamptz not null default now(),
  -- Null: it was not mailed yet.
  ends_at timestamptz,
  used_at timestamptz,
  primary key (application_id, number)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on);

grant select, insert, update, delete on adopter_links to homeward_app;
