import pg from 'pg';
import { readPid } from './doctor-queries.ts';
import { broken, type Judgement } from './finding.ts';

/**
 * Whether statements of one connection go to different connections of PostgreSQL, as behind a pooler in transaction mode: a second
 * connection takes the one that the first has used. Changes nothing, since what it set would stay there for others. Undefined: they don't.
 */
export async function checkPooling(first: pg.Client, options: pg.ClientConfig): Promise<Judgement | undefined> {
  const second = new pg.Client(options);
  second.on('error', () => {});
  try {
    await second.connect();
  } catch {
    // There may be no connection left, which another check says.
    return undefined;
  }
  try {
    const before = await readPid(first);
    await second.query('begin');
    await readPid(second);
    const while_ = await readPid(first);
    await second.query('commit');
    await first.query('begin');
    const after = await readPid(first);
    await first.query('commit');
    if (before === while_ && before === after) return undefined;
  } finally {
    await second.end().catch(() => {});
  }
  const found =
    'DATABASE_URL leads to a pooler in transaction mode: the role, the timeouts and the prepared statements of a connection are lost.';
  return broken(found, 'Let the pooler use session mode (pool_mode = session for PgBouncer), or connect to PostgreSQL directly.');
}
