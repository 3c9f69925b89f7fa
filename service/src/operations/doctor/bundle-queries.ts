import { type Db, rowOf, rowsOf } from '../../platform/db/handles.ts';
import type { SessionSetting } from './doctor-queries.ts';

/** Settings that matter for help, and that hold no secret, unlike primary_conninfo. */
const shownSettings = [
  'autovacuum',
  'autovacuum_max_workers',
  'autovacuum_naptime',
  'autovacuum_vacuum_cost_delay',
  'checkpoint_timeout',
  'data_checksums',
  'deadlock_timeout',
  'default_transaction_isolation',
  'effective_cache_size',
  'fsync',
  'full_page_writes',
  'hot_standby_feedback',
  'idle_in_transaction_session_timeout',
  'jit',
  'lc_collate',
  'lock_timeout',
  'log_min_duration_statement',
  'maintenance_work_mem',
  'max_connections',
  'max_wal_size',
  'max_worker_processes',
  'password_encryption',
  'plan_cache_mode',
  'random_page_cost',
  'server_encoding',
  'shared_buffers',
  'shared_preload_libraries',
  'statement_timeout',
  'synchronous_commit',
  'TimeZone',
  'track_io_timing',
  'wal_level',
  'work_mem',
];

export const readVersion = async (db: Db): Promise<string> => (await rowOf<{ version: string }>(db)`select version()`).version;

export const selectShownSettings = (db: Db) =>
  rowsOf<SessionSetting>(db)`
      select name, current_setting(name) as value, source from pg_settings where name = any(${shownSettings}) order by name`;

interface TableSize {
  readonly table: string;
  readonly total: string;
  readonly indexes: string;
  readonly rows: number;
  readonly dead: number | null;
  readonly vacuumed: Date | null;
  readonly analysed: Date | null;
}

export const selectTableSizes = (db: Db, limit: number) =>
  rowsOf<TableSize>(db)`select pg_class.relname as table, pg_size_pretty(pg_total_relation_size(pg_class.oid)) as total,
        pg_size_pretty(pg_indexes_size(pg_class.oid)) as indexes, reltuples::float8 as rows, n_dead_tup::float8 as dead,
        greatest(last_vacuum, last_autovacuum) as vacuumed, greatest(last_analyze, last_autoanalyze) as analysed
      from pg_class left join pg_stat_user_tables on relid = pg_class.oid
      where relkind = 'r' and relnamespace = (select relnamespace from pg_class where oid = to_regclass('schema_migrations'))
      order by pg_total_relation_size(pg_class.oid) desc limit ${limit}`;

interface FailedAttempt {
  readonly at: Date;
  readonly webhook: bigint;
  readonly status: number | null;
  readonly error: string | null;
}

/** Without what the receiver responded, which may contain anything. */
export const selectFailedAttempts = (db: Db, limit: number) =>
  rowsOf<FailedAttempt>(db)`select at, webhook_id as webhook, status, error from webhook_attempts
      where at > now() - interval '1 day' and (status is null or status not between 200 and 299) order by at desc limit ${limit}`;

/** The schema of the extension pg_stat_statements; undefined: it is not installed in this database. */
export const findStatementsSchema = async (db: Db): Promise<string | undefined> =>
  (
    await rowsOf<{ schema: string }>(db)`select extnamespace::regnamespace::text as schema from pg_extension
    where extname = 'pg_stat_statements'`
  )[0]?.schema;

export interface SlowStatement {
  readonly text: string;
  readonly calls: number;
  readonly meanMs: number;
  readonly maxMs: number;
  readonly totalMs: number;
  readonly rows: number;
}

/**
 * The slowest statements of the store's role in this database, by their mean. Only what reads or changes rows: others are recorded
 * with their constants, which may be passwords. `schema` is quoted already.
 */
export async function selectSlowest(db: Db, schema: string, role: string, limit: number): Promise<SlowStatement[]> {
  const { rows } = await db.query<SlowStatement>({
    text: `select query as text, calls::float8 as calls, mean_exec_time as "meanMs", max_exec_time as "maxMs", total_exec_time as "totalMs",
        rows::float8 as rows
      from ${schema}.pg_stat_statements where dbid = (select oid from pg_database where datname = current_database())
        and userid = (select oid from pg_roles where rolname = $1) and query ~* '^\\s*(select|insert|update|delete|with)\\s'
      order by mean_exec_time desc limit $2`,
    values: [role, limit],
  });
  return rows;
}

/**
 * The plan that PostgreSQL makes without knowing the values, as of a prepared statement. It is not run. The extended protocol accepts
 * no second statement in the text.
 */
export async function explain(db: Db, role: string, statement: string): Promise<string[]> {
  const parameters = Math.max(0, ...[...statement.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
  const run = (text: string) => db.query<{ 'QUERY PLAN': string }>({ text, queryMode: 'extended' } as { text: string });
  await run('begin read only');
  try {
    await run(`set local role ${role}`);
    await run('set local plan_cache_mode = force_generic_plan');
    await run(`prepare homeward_support as ${statement}`);
    const values = Array.from({ length: parameters }, () => 'null').join(', ');
    const { rows } = await run(`explain execute homeward_support${parameters > 0 ? `(${values})` : ''}`);
    return rows.map((row) => row['QUERY PLAN']);
  } finally {
    await run('rollback');
    await run('deallocate all');
  }
}
