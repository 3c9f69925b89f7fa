-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Sign-ins that failed have no author, so the audit can't have them: they are counted. At most 200 networks of an hour have a row, and what
-- comes from others is counted together.
create table failed_sign_ins (
  hour timestamptz not null,
  kind text not null constraint failed_sign_ins_kind_length check (char_length(kind) between 1 and 40),
  -- IPv4 by /24, IPv6 by /48, or 'others'.
  network text not null constraint failed_sign_ins_network_length check (char_length(network) between 1 and 50),
  count bigint not null,
  primary key (hour, kind, network)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on);
grant select, insert, update, delete on failed_sign_ins to homeward_app;

-- Each sign-in leaves a row in the audit, which nobody can delete: how many a person has had since when.
alter table people add column sign_ins_since timestamptz;
alter table people add column sign_ins bigint not null default 0;
