import pg from 'pg';
import type { Db } from './handles.ts';

/**
 * This server: PostgreSQL's system identifier, which a new cluster has, and its timeline, which a recovery from an archive and the
 * promotion of a standby begin. The migration 0014_restores has the same text.
 */
export async function readServer(db: Db): Promise<string> {
  const { rows } = await db.query<{ server: string }>({
    text: `select (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) as server`,
  });
  return rows[0]?.server ?? '';
}

/** The server on which the feed's positions were assigned; null: not known. */
export async function readStoredServer(db: Db): Promise<string | null> {
  const { rows } = await db.query<{ server: string | null }>({ text: 'select server from deployment' });
  return rows[0]?.server ?? null;
}

/** Whether the store was restored, or a standby was promoted. False also if that can't be told: on a standby, or where a provider doesn't allow it. */
export async function isOnAnotherServer(db: Db): Promise<boolean> {
  const stored = await readStoredServer(db);
  if (stored === null) return false;
  try {
    return stored !== (await readServer(db));
  } catch (error) {
    if (error instanceof pg.DatabaseError) return false;
    throw error;
  }
}
