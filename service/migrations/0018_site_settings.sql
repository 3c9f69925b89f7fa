-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- What the store wants the sites of its adopters to look like and to say: one row.
-- Owner: adoption. The row stays.
create table site_settings (
  id boolean primary key default true check (id),
  accent_light text check (accent_light ~ '^#[0-9a-fA-F]{6}$'),
  accent_dark text check (accent_dark ~ '^#[0-9a-fA-F]{6}$'),
  imprint text check (char_length(imprint) <= 20000),
  privacy text check (char_length(privacy) <= 20000),
  updated_at timestamptz not null default now()
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100);
insert into site_settings default values;
grant select, insert, update on site_settings to homeward_app;
