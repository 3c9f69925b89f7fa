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

interface ConcurrentStatement {
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

/** What the first lines of a migration say of it. `npm run check -- --only migrations` requires them; tools/migrations-lint.ts has the rules. */
export interface MigrationFacts {
  /** The release that it came with. */
  readonly release: string;
  /** expand: it adds. contract: it takes away what the release before does not use any more. */
  readonly change: 'expand' | 'contract';
  /** What waits while it runs. Undefined: it runs beside requests, and none waits for long. */
  readonly waits: string | undefined;
  /** The oldest release whose processes run on the schema that it makes. */
  readonly runsWith: string;
  /** Why earlier ones don't. Undefined: there are none. */
  readonly reason: string | undefined;
}

const shapes = {
  release: { value: /^(\d+\.\d+\.\d+)$/, example: '1.1.0' },
  change: { value: /^(expand|contract)$/, example: 'expand' },
  online: { value: /^yes$|^no, (.+)$/, example: "yes', or 'no, orders wait while it runs" },
  'runs with': { value: /^(\d+\.\d+\.\d+)(?:, (.+))?$/, example: "1.0.0', or '1.1.0, 1.0.0 still writes the table" },
} as const;

/** Returns what is missing or wrong as sentences, if anything is. */
export function readFacts(name: string, sql: string): MigrationFacts | readonly string[] {
  const problems: string[] = [];
  const read = (key: keyof typeof shapes): readonly (string | undefined)[] => {
    const { value, example } = shapes[key];
    const text = new RegExp(`^-- ${key}: (.*)$`, 'm').exec(sql)?.[1];
    const found = text === undefined ? undefined : value.exec(text);
    if (!found)
      problems.push(
        `${name}: ${text === undefined ? 'it has no' : `"${text}" is not a valid`} '${key}'. Write a line such as '-- ${key}: ${example}'.`,
      );
    return found ?? [];
  };
  const [, release = ''] = read('release');
  const [, change] = read('change');
  const [, waits] = read('online');
  const [, runsWith = '', reason] = read('runs with');
  if (problems.length > 0) return problems;
  return { release, change: change as MigrationFacts['change'], waits, runsWith, reason };
}

/** Negative if `a` is the earlier release. */
export function compareReleases(a: string, b: string): number {
  const [partsA, partsB] = [a, b].map((release) => release.split('.').map(Number)) as [number[], number[]];
  const differing = partsA.findIndex((part, i) => part !== partsB[i]);
  return differing === -1 ? 0 : (partsA[differing] ?? 0) - (partsB[differing] ?? 0);
}

export const latestRelease = (releases: readonly string[]): string | undefined => releases.toSorted(compareReleases).at(-1);
