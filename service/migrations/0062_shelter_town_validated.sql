-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Reading the table excludes nobody. All in one statement, which reads it once.
alter table shelters validate constraint shelters_town_check, validate constraint shelters_postcode_check,
  validate constraint shelters_country_check;
