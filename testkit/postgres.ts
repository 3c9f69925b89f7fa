// Connections to a database, beside the service.
import pg from 'pg';

export type Connection = pg.Client & AsyncDisposable;

/** It ends with the block of its `await using`. */
export async function connectTo(url: string, options: pg.ClientConfig = {}): Promise<Connection> {
  const client = new pg.Client({ connectionString: url, ...options });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

/** Runs one statement on a connection that it opens. */
export async function queryAt<Row extends pg.QueryResultRow>(url: string, text: string, values: unknown[] = []): Promise<Row[]> {
  await using client = await connectTo(url);
  return (await client.query<Row>(text, values)).rows;
}
