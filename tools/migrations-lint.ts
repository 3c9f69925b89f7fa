import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  compareReleases,
  type MigrationFacts,
  type MigrationFile,
  readFacts,
  readMigrations,
} from '../service/src/platform/db/migration-files.ts';
import { runCommand } from './command.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const timeoutMs = 60_000;

/** Without these, a migration would lock a table for as long as it takes to read it. */
const neverIgnored = ['require-concurrent-index-creation', 'require-concurrent-index-deletion', 'constraint-missing-not-valid'];

/** Returns what is wrong with the migrations in this folder, as lines; empty if nothing is. */
export async function lintMigrations(dir: string): Promise<string> {
  const files = readMigrations(dir);
  const transactions = files.filter(({ concurrent }) => !concurrent);
  const concurrent = files.filter((file) => file.concurrent);
  const outputs = [
    files.flatMap(findForbidden).join('\n'),
    findFalseFacts(files).join('\n'),
    await squawk(transactions, '--assume-in-transaction'),
    await squawk(concurrent, '--no-assume-in-transaction'),
  ];
  return outputs.filter((output) => output !== '').join('\n');
}

const functions = /\bcreate (?:or replace )?function\b[\s\S]*?\$\$[\s\S]*?\$\$/gi;

function findForbidden({ name, sql }: MigrationFile): string[] {
  const ignored = sql.match(/squawk-ignore.*/g)?.join('\n') ?? '';
  return [
    ...neverIgnored.filter((rule) => ignored.includes(rule)).map((rule) => `${name}: ${rule} must not be ignored`),
    ...(/\b(lock|statement)_timeout\b/i.test(sql.replace(functions, ''))
      ? [`${name}: timeouts are set by 'homeward migrate', not by a migration`]
      : []),
  ];
}

/** The first lines of each file, by which `migrate --plan` says whether you can go back. */
function findFalseFacts(files: readonly MigrationFile[]): string[] {
  const read = files.map((file) => ({ file, facts: readFacts(file.name, file.sql) }));
  const incomplete = read.flatMap(({ facts }) => ('length' in facts ? facts : []));
  if (incomplete.length > 0) return incomplete;
  const known = read as Array<{ file: MigrationFile; facts: MigrationFacts }>;
  return known.flatMap(({ file: { name, sql }, facts: { release, change, runsWith, reason } }, i) => {
    const first = known[0]?.facts.release ?? release;
    const before = known.slice(0, i);
    const taken = droppedBy(sql).filter((dropped) => {
      const maker = known.slice(0, i + 1).findLast(({ file }) => makes(file.sql, dropped));
      return !maker || compareReleases(maker.facts.release, release) < 0;
    });
    const checks: Array<[boolean, string]> = [
      [before.some(({ facts }) => compareReleases(facts.release, release) > 0), `an earlier file is of a later release than ${release}`],
      [
        compareReleases(runsWith, release) >= 0 && release !== first,
        `release ${release} could not be rolled back: an earlier release must run on its schema, but '-- runs with:' says ${runsWith}. What it takes away must wait for the next release`,
      ],
      [
        runsWith !== first && reason === undefined,
        `'-- runs with: ${runsWith}' needs a reason, such as '-- runs with: ${runsWith}, ${first} still writes the table'`,
      ],
      [
        change === 'expand' && taken.length > 0,
        `it takes away ${taken.join(', ')}, which an earlier release made. Write '-- change: contract', and with '-- runs with:' the oldest release that does not use it`,
      ],
      [
        change === 'contract' && runsWith === first && release !== first,
        `a release before ${release} must be the first that does not use what it takes away: '-- runs with: ${first}' says that none ever did`,
      ],
    ];
    return checks.filter(([isWrong]) => isWrong).map(([, what]) => `${name}: ${what}.`);
  });
}

/** Not indexes: queries work without them, and ADR 0036 has the rule for these. Nor foreign keys: what they reject is rejected by nothing else, and no query needs one. */
function droppedBy(sql: string): string[] {
  const text = sql.replace(/--.*$/gm, '').replace(/\$\$[\s\S]*?\$\$/g, '');
  const drops = /\bdrop\s+(?:table|view|function|trigger|type|column|constraint|sequence)\s+(?:if\s+exists\s+)?(\w+)/gi;
  const renames = /\brename\s+(?:column\s+|constraint\s+)?(\w+)?\s*to\b/gi;
  return [drops, renames]
    .flatMap((pattern) => [...text.matchAll(pattern)].map(([whole, name]) => name ?? whole))
    .filter((name) => !name.endsWith('_fkey'));
}

const makes = (sql: string, name: string) =>
  new RegExp(`\\b(?:create|add)\\s+(?:or\\s+replace\\s+)?\\w+\\s+(?:if\\s+not\\s+exists\\s+)?${name}\\b`, 'i').test(sql);

async function squawk(files: readonly MigrationFile[], ...args: string[]): Promise<string> {
  if (files.length === 0) return '';
  const program = path.join(root, 'node_modules/.bin/squawk');
  const paths = files.map((file) => file.path);
  const { status, output } = await runCommand(program, ['--config', path.join(root, '.squawk.toml'), ...args, ...paths], { timeoutMs });
  return status === 0 ? '' : `${output}\nsquawk ended with status ${status}`;
}
