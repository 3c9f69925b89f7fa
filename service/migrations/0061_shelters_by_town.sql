-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- A postcode is compared without its space: many leave it out.
create index concurrently if not exists shelters_by_town on shelters (listing_place(town)) where town is not null;
create index concurrently if not exists shelters_by_postcode on shelters (replace(listing_place(postcode), ' ', '')) where postcode is not null;
