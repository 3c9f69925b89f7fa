import type { Db, Writer } from './handles.ts';

/** Where this database is. The migration 0014_restores says what that is made of. */
export async function readServer(db: Db): Promise<string> {
  const { rows } = await db.query<{ server: string }>({ text: 'select current_server() as server' });
  return rows[0]?.server ?? '';
}

/** An expression: null where PostgreSQL doesn't tell, on a standby, or since a provider doesn't allow it. */
export const knownServer = `case when not pg_is_in_recovery() and has_function_privilege('pg_control_system()', 'execute') then current_server() end`;

/** The server that the store is known to be on; null: not known. */
export async function readStoredServer(db: Db): Promise<string | null> {
  const { rows } = await db.query<{ server: string | null }>({ text: 'select server from deployment' });
  return rows[0]?.server ?? null;
}

export interface Servers {
  /** Null: PostgreSQL doesn't tell. */
  readonly here: string | null;
  /** The server that the store is known to be on; null: not known. */
  readonly recorded: string | null;
}

export async function readServers(db: Db): Promise<Servers> {
  const { rows } = await db.query<Servers>({
    name: 'servers',
    text: `select ${knownServer} as here, server as recorded from deployment`,
  });
  const [servers] = rows;
  if (!servers) throw new Error('the table deployment is empty');
  return servers;
}

/** The store is known to be on another server from now on. False if another process has recorded it. */
export async function recordFailover(db: Writer, { from, to }: { readonly from: string; readonly to: string }): Promise<boolean> {
  const { rowCount } = await db.write({
    name: 'record-failover',
    text: 'update deployment set server = $2 where server = $1',
    values: [from, to],
  });
  return rowCount === 1;
}

/** Whether the store was restored, or a standby was promoted. False also if that can't be known: on a standby, or where a provider doesn't allow it. */
export async function isOnAnotherServer(db: Db): Promise<boolean> {
  const { here, recorded } = await readServers(db);
  return here !== null && recorded !== null && here !== recorded;
}

/**
 * Ids that were assigned on another server, and may be lost with it, are not assigned again. Does nothing the next time. It does not wait for
 * a standby, which may be away: one that has a later commit has this one too.
 */
export const skipLostIds = 'begin; set local synchronous_commit = local; select skip_lost_ids() as "hasSkipped"; commit';
