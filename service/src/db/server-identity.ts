import pg from 'pg';
import type { Db } from './handles.ts';

/** Where this database is. The migration 0014_restores says what that is made of. */
export async function readServer(db: Db): Promise<string> {
  const { rows } = await db.query<{ server: string }>({ text: 'select current_server() as server' });
  return rows[0]?.server ?? '';
}

/** The server on which the feed's positions were assigned; null: not known. */
export async function readStoredServer(db: Db): Promise<string | null> {
  const { rows } = await db.query<{ server: string | null }>({ text: 'select server from deployment' });
  return rows[0]?.server ?? null;
}

/** Whether the store was restored, or a standby was promoted. False also if that can't be known: on a standby, or where a provider doesn't allow it. */
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
