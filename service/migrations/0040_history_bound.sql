-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- The table becomes the first partition of the history (0043), and takes rows until the end of next month. This shows without reading it
-- under a strong lock that it has no others. 0043 drops it: between the two there must not be a month.
do $$
begin
  execute format('alter table history add constraint history_until check (at < %L) not valid',
    (date_trunc('month', now() at time zone 'utc') + interval '2 months') at time zone 'utc');
end
$$;
