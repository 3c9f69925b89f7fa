-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- When the last partition ends.
create function history_end() returns timestamptz stable language sql as $$
  select max(to_date(right(relname, 6), 'YYYYMM') + case when relname like 'history\_until\_%' then interval '0' else interval '1 month' end) at time zone 'utc'
    from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = 'history'::regclass
$$;

-- The partitions of this month and the next three, without a gap after those that there are: if no worker runs, rows can still be written
-- for three months. A partition refers to animals and orders, so that writers of these wait while one is attached.
create function make_history_partitions() returns bigint language plpgsql security definer as $$
declare
  month date;
  name text;
  made bigint := 0;
begin
  -- Several workers may be at it.
  perform pg_advisory_xact_lock(hashtextextended('make_history_partitions', 0));
  month := history_end() at time zone 'utc';
  while month <= date_trunc('month', now() at time zone 'utc') + interval '3 months' loop
    name := 'history_' || to_char(month, 'YYYYMM');
    -- Rows are only added, so that nothing else makes autovacuum mark pages as visible and gather statistics.
    execute format('create table %I (like history including all excluding identity)
      with (autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05)', name);
    execute format('alter table history attach partition %I for values from (%L) to (%L)',
      name, month::timestamp at time zone 'utc', (month + interval '1 month') at time zone 'utc');
    month := month + interval '1 month';
    made := made + 1;
  end loop;
  return made;
end
$$;

-- Of this schema and no other: nobody can put a table of the same name before it.
do $$
begin
  execute format('alter function history_end() set search_path = %I, pg_temp', current_schema());
  execute format('alter function make_history_partitions() set search_path = %I, pg_temp', current_schema());
end
$$;
revoke execute on function history_end(), make_history_partitions() from public;
grant execute on function history_end(), make_history_partitions() to homeward_app;
select make_history_partitions();
