import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** Migrated once per run and never connected to afterwards: PostgreSQL clones only a database without connections. */
export const templateDatabase = 'homeward_template';

/** Creates an empty database and returns its URL. */
export async function createDatabase(postgresUrl: string, options: { name: string; template?: string }): Promise<string> {
  const from = options.template ? ` template ${options.template}` : '';
  await executeAsOwner(postgresUrl, `create database ${options.name}${from}`);
  const url = new URL(postgresUrl);
  url.pathname = `/${options.name}`;
  return url.href;
}

/** Creates a migrated database with a new deployment id, since the tests share one Redis. */
export async function cloneTemplate(postgresUrl: string): Promise<string> {
  const id = randomBytes(6).toString('hex');
  const url = await createDatabase(postgresUrl, { name: `test_${id}`, template: templateDatabase });
  await executeAsOwner(url, 'update deployment set id = $1, server = current_server(), ids_server = current_server()', [id]);
  return url;
}

/** Runs one statement as the owner of all tables, for changes that the service's role may not make. */
export async function executeAsOwner(url: string, text: string, values: unknown[] = []): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text, values);
  } finally {
    await client.end();
  }
}
