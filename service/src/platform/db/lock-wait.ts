import type pg from 'pg';

/** A process of PostgreSQL that a migration waits for. */
export interface Blocker {
  readonly pid: number;
  readonly application: string;
  readonly isAutovacuum: boolean;
  /** Null if the user who migrates may not see it. */
  readonly seconds: number | null;
  /** The table whose lock it has; null for what is not a table, such as another transaction. */
  readonly table: string | null;
}

/** Finds the processes that the process `pid` waits for now, the oldest transaction first. */
export async function findBlockers(client: pg.Client, pid: number): Promise<Blocker[]> {
  const { rows } = await client.query<Blocker>(
    `select blocker.pid, blocker.application_name as application, blocker.backend_type = 'autovacuum worker' as "isAutovacuum",
        extract(epoch from clock_timestamp() - blocker.xact_start)::float8 as seconds,
        (select relation::regclass::text from pg_locks where pid = $1 and not granted and locktype = 'relation') as table
      from pg_stat_activity as waiting
        cross join lateral (select distinct unnest(pg_blocking_pids(waiting.pid)) as pid) as blocking
        join pg_stat_activity as blocker on blocker.pid = blocking.pid
      where waiting.pid = $1 and waiting.wait_event_type = 'Lock'
      order by blocker.xact_start nulls last`,
    [pid],
  );
  return rows;
}

/** Whether the process `pid` has committed, and a synchronous standby has not confirmed it yet. */
export async function isAwaitingStandby(client: pg.Client, pid: number): Promise<boolean> {
  const { rows } = await client.query(`select from pg_stat_activity where pid = $1 and wait_event = 'SyncRep'`, [pid]);
  return rows.length > 0;
}

/** Names them so that an operator knows whom to ask, without the text of a query, which may contain an adopter's data. */
export function describeBlockers(blockers: readonly Blocker[]): string {
  if (blockers.length === 0) return 'a lock that is released again and again, or a prepared transaction';
  const named = blockers.slice(0, blockersNamedMax).map(({ pid, application, isAutovacuum, seconds }) => {
    const who = isAutovacuum ? 'autovacuum' : application || 'no application name';
    return `process ${pid} of PostgreSQL (${who}${seconds === null ? '' : `, in a transaction for ${Math.round(seconds)} s`})`;
  });
  const more = blockers.length - named.length;
  return named.join(', ') + (more > 0 ? `, and ${more} more` : '');
}

const blockersNamedMax = 3;
