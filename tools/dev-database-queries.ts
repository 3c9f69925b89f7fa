import pg from 'pg';

const connectTimeoutMs = 2_000;
const versionMin = 150_000;
const duplicateDatabase = '42P04';

/** The URL for the first of these users who needs no password and may create roles and databases; undefined if none may. */
export async function findAdministrator(port: number, names: readonly string[]): Promise<string | undefined> {
  for (const name of names) {
    const url = `postgres://${encodeURIComponent(name)}@127.0.0.1:${port}/postgres`;
    const may = await withClient(url, async (client) => {
      const { rows } = await client.query<{ may: boolean }>({
        text: `select (rolsuper or (rolcreaterole and rolcreatedb)) and current_setting('server_version_num')::int >= $1 as may
          from pg_roles where rolname = current_user`,
        values: [versionMin],
      });
      return rows[0]?.may ?? false;
    }).catch(() => false);
    if (may) return url;
  }
  return undefined;
}

/** Creates the database unless it exists; returns its URL. */
export async function ensureDatabase(administratorUrl: string, name: string): Promise<string> {
  if (!(await databaseExists(administratorUrl, name))) {
    await withClient(administratorUrl, (client) => client.query(`create database ${pg.escapeIdentifier(name)}`)).catch((error) => {
      if (error.code !== duplicateDatabase) throw error;
    });
  }
  const url = new URL(administratorUrl);
  url.pathname = `/${name}`;
  return url.href;
}

export async function databaseExists(administratorUrl: string, name: string): Promise<boolean> {
  const found = await withClient(administratorUrl, (client) => client.query('select from pg_database where datname = $1', [name]));
  return found.rowCount === 1;
}

/** Also ends all connections to it. */
export async function dropDatabase(administratorUrl: string, name: string): Promise<void> {
  await withClient(administratorUrl, (client) => client.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`));
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectTimeoutMs, application_name: 'homeward dev' });
  client.on('error', () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end();
  }
}
