// The roles that docs/operations/database.md tells operators to create, by the document's own SQL.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { connectTo } from './postgres.ts';

const document = fileURLToPath(new URL('../docs/operations/database.md', import.meta.url));

/** The statements, in order, with this password for both logins. */
export function documentedRoles(password: string): readonly string[] {
  const [, sql = ''] = /To separate the owner from the processes:\n\n```sql\n(.*?)```/s.exec(readFileSync(document, 'utf8')) ?? [];
  const statements = sql
    .replace(/^--.*$/gm, '')
    .replaceAll("'…'", pg.escapeLiteral(password))
    .split(';')
    .map((statement) => statement.trim())
    .filter(Boolean);
  if (statements.length < 5) throw new Error(`${document} has no SQL for roles any more`);
  return statements;
}

/** Runs them as the login of the URL, one by one: a database can't be created within a transaction. */
export async function createDocumentedRoles(url: string, password: string): Promise<void> {
  await using client = await connectTo(url);
  for (const statement of documentedRoles(password)) await client.query(statement);
}
