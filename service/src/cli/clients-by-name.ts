import { type Client, findClientByName, findClientNames } from '../partners/clients/client-queries.ts';
import type { Db } from '../platform/db/handles.ts';
import { UsageError } from './output.ts';

export async function getClientByName(db: Db, name: string): Promise<Client> {
  const client = await findClientByName(db, name);
  if (!client) throw new UsageError(`There is no client "${name}". 'homeward clients list' lists all.`);
  return client;
}

/** The names of the clients of these rows, by id. */
export const clientNamesOf = (db: Db, rows: ReadonlyArray<{ readonly clientId: bigint }>): Promise<Map<bigint, string>> =>
  findClientNames(
    db,
    rows.map(({ clientId }) => clientId),
  );
