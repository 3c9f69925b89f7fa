import pg from 'pg';

const connectTimeoutMs = 10_000;

/**
 * Connects with the rights of the login in DATABASE_URL, for the few commands that need those of the tables' owner. Everything else
 * acts as the application role (pool.ts).
 */
export async function connectAsOwner(databaseUrl: string, applicationName: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: connectTimeoutMs,
    application_name: applicationName,
  });
  // A broken connection is reported by the next query.
  client.on('error', () => {});
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}
