import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export interface MigrationFile {
  readonly name: string;
  readonly path: string;
  readonly sql: string;
  /**
   * The statements of a file that only builds and drops indexes concurrently, which PostgreSQL does outside a transaction only.
   * Undefined: the file is one transaction.
   */
  readonly concurrent: readonly ConcurrentStatement[] | undefined;
}

export interface ConcurrentStatement {
  readonly text: string;
  /** The index that it builds. Undefined: it drops one. */
  readonly builds: string | undefined;
}

export const migrationsDir = fileURLToPath(new URL('../../../migrations', import.meta.url));

/** Where something of the schema was made last, and by which statement, if it has one of its own. */
export function findDefinition(name: string): { readonly file: string; readonly statement: string } | undefined {
  const files = readMigrations(migrationsDir).filter(({ sql }) => new RegExp(`\\b${name}\\b`).test(sql));
  const makes = new RegExp(`^create (?:unique )?(?:index|trigger)(?: concurrently)?(?: if not exists)? ${name}\\b[^;]*`, 'gim');
  const [found] = files.toReversed().flatMap((file) => [...file.sql.matchAll(makes)].map(([text]) => ({ file, text })));
  if (found) return { file: found.file.name, statement: `${found.text.replace(/\s+/g, ' ')};` };
  const last = files.at(-1);
  return last && { file: last.name, statement: '' };
}

export function readMigrations(dir: string): MigrationFile[] {
  return readdirSync(dir)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => readMigration(path.join(dir, file)));
}

function readMigration(file: string): MigrationFile {
  const sql = readFileSync(file, 'utf8');
  const name = path.basename(file, '.sql');
  return { name, path: file, sql, concurrent: concurrentStatements(name, sql) };
}

const concurrently = /\bindex\s+concurrently\b/i;
const build = /^create\s+(?:unique\s+)?index\s+concurrently\s+if\s+not\s+exists\s+(\w+)\s/i;
const drop = /^drop\s+index\s+concurrently\s+if\s+exists\s+\w+$/i;

/**
 * What runs without a transaction may stop in the middle and run again. Also, it waits for locks for longer than a transaction may
 * (migrate.ts). So each statement must be one that can be repeated, and that blocks no reader or writer while it waits.
 */
function concurrentStatements(name: string, sql: string): ConcurrentStatement[] | undefined {
  const statements = sql
    .replace(/--.*$/gm, '')
    .split(';')
    .map((text) => text.trim())
    .filter((text) => text !== '');
  if (!statements.some((text) => concurrently.test(text))) return undefined;
  const other = statements.find((text) => !build.test(text) && !drop.test(text));
  if (other !== undefined) {
    throw new Error(
      `${name} builds an index concurrently, so it may only contain "create index concurrently if not exists …" and "drop index concurrently if exists …". Move this to another file: ${other}`,
    );
  }
  return statements.map((text) => ({ text, builds: build.exec(text)?.[1] }));
}
