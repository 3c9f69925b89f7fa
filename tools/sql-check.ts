// Checks every SQL statement of the service with a PostgreSQL that has its schema: npm run check -- --only sql
import { globSync } from 'node:fs';
import path from 'node:path';
import type pg from 'pg';
import { migrate } from '../service/src/platform/db/migrate.ts';
import { connectTo } from '../testkit/postgres.ts';
import { startPostgres } from '../testkit/servers.ts';
import { type Column, columnReader } from './sql-columns.ts';
import { neverNull, unchecked } from './sql-exceptions.ts';
import { findStatements, type Row, type Statement } from './sql-statements.ts';

/** If fewer are checked, the search no longer finds them. */
const checkedMin = 500;
const uncheckedMax = 40;
const exceptionsFile = 'tools/sql-exceptions.ts';

const textUnknown = 'has a text that is known only when it runs: put it together from constants';
const rejection = ({ message }: Error) => `is rejected by PostgreSQL (${message}): mend it`;

if (import.meta.main) {
  await using server = await startPostgres();
  await migrate(server.url);
  const files = globSync('service/src/**/*.ts').map((file) => path.resolve(file));
  const statements = await findStatements(files, path.resolve('tsconfig.json'));
  await using client = await connectTo(server.url);
  const { checked, problems } = await checkStatements(statements, client, { ...unchecked, ...neverNull });
  if (checked < checkedMin) problems.push(`only ${checked} statements were checked: does the search still find them?`);
  if (Object.keys(unchecked).length > uncheckedMax) problems.push(`${exceptionsFile}: more than ${uncheckedMax} statements are unchecked`);
  console.log([...problems, `${checked} of ${statements.length} statements were checked`].join('\n'));
  process.exitCode = problems.length === 0 ? 0 : 1;
}

/** `exceptions` are names of statements that can't be checked, and names with columns that may seem to be null. Problems are a line each. */
export async function checkStatements(
  statements: readonly Statement[],
  client: pg.Client,
  exceptions: Readonly<Record<string, string>>,
): Promise<{ checked: number; problems: string[] }> {
  const columnsOf = await columnReader(client);
  const problems = new Set<string>();
  const used = new Set<string>();
  let checked = 0;
  for (const { at, name, texts, row } of statements) {
    const tables = texts ? await eachOf(texts, columnsOf).catch(rejection) : textUnknown;
    if (typeof tables === 'string') {
      // Of two with a name, one is new.
      if (!(name in exceptions) || used.has(name)) problems.add(`${at}: ${name} ${tables}, or say in ${exceptionsFile} why not`);
      used.add(name);
      continue;
    }
    checked += 1;
    if (!row) continue;
    for (const columns of tables) {
      for (const { column, what } of differences(columns, row)) problems.add(`${at}: "${column}" of ${name} ${what}`);
      for (const { name: column, nullable } of columns.filter((one) => mayBeNullUnseen(one, row))) {
        const key = `${name}.${column}`;
        used.add(key);
        const what = `is ${nullable}, which may be null here, and is declared as ${kindsIn(row, column)}`;
        if (key in exceptions) continue;
        problems.add(`${at}: "${column}" of ${name} ${what}: declare null, or say in ${exceptionsFile} why it never is`);
      }
    }
  }
  const unused = Object.keys(exceptions).filter((key) => !used.has(key));
  return { checked, problems: [...problems, ...unused.map((key) => `${exceptionsFile}: "${key}" needs no exception: remove it`)] };
}

async function eachOf(texts: readonly string[], columnsOf: (text: string) => Promise<Column[]>): Promise<Column[][]> {
  const tables: Column[][] = [];
  for (const text of texts) tables.push(await columnsOf(text));
  return tables;
}

function kindsIn(row: Row, column: string): string {
  return [...(row.get(column) ?? [])].join(' | ');
}

function differences(columns: readonly Column[], row: Row): Array<{ column: string; what: string }> {
  const missing = [...row].filter(([name, kinds]) => !kinds.has('undefined') && !columns.some((column) => column.name === name));
  return [
    ...missing.map(([column]) => ({
      column,
      what: `is declared as ${kindsIn(row, column)}, and the statement does not return it: return it, or do not declare it`,
    })),
    ...columns.flatMap(({ name: column, kind }) => {
      const kinds = row.get(column);
      if (!kinds) return [{ column, what: `is ${kind}, and is not declared: declare it, or do not return it` }];
      const isSame = kind === 'any' || [...kinds].every((one) => ['any', 'null', 'undefined', kind].includes(one));
      return isSame ? [] : [{ column, what: `is ${kind}, and is declared as ${kindsIn(row, column)}: declare that, or cast it` }];
    }),
  ];
}

function mayBeNullUnseen({ name, nullable }: Column, row: Row): boolean {
  const kinds = row.get(name);
  return nullable !== undefined && kinds !== undefined && !kinds.has('null') && !kinds.has('any');
}
