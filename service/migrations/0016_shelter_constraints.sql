-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- In a transaction of its own: reading the tables excludes nobody.
alter table pets validate constraint pets_shelter_id_fkey;
alter table api_keys validate constraint api_keys_shelter_id_fkey;
alter table api_keys validate constraint api_keys_manage_their_shelter;

-- For readers of the feed that are far behind. PostgreSQL can't build an index of a partitioned table beside writers, so each partition
-- gets its own, and the table's adopts them. Nobody writes to the days that have ended, and those to come are empty. Today's is last:
-- only the publisher waits, for as long as it takes to read the events of one day; no request does. No event from before has a shelter,
-- so the indexes are empty.
do $$
declare
  day regclass;
begin
  for day in
    select inhrelid from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = 'events'::regclass
      order by relname = 'events_' || to_char(now() at time zone 'utc', 'YYYYMMDD'), relname
  loop
    execute format('create index on %s (shelter_id, type, position) where shelter_id is not null', day);
  end loop;
  execute 'create index events_by_shelter_and_type on events (shelter_id, type, position) where shelter_id is not null';
end
$$;
