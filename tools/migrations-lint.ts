import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type MigrationFile, readMigrations } from '../service/src/db/migration-files.ts';
import { runCommand } from './command.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const timeoutMs = 60_000;

/** Those up to here are released, and were written before `migrate` could build an index concurrently. */
const lastExempt = '0008';

/** Without these, a migration would lock a table for as long as it takes to read it. */
const neverIgnored = ['require-concurrent-index-creation', 'require-concurrent-index-deletion', 'constraint-missing-not-valid'];

/** Returns what is wrong with the migrations in this folder, as lines; empty if nothing is. */
export async function lintMigrations(dir: string): Promise<string> {
  const files = readMigrations(dir);
  const transactions = files.filter(({ concurrent }) => !concurrent);
  const concurrent = files.filter((file) => file.concurrent);
  const outputs = [
    files.flatMap(findForbidden).join('\n'),
    await squawk(transactions, '--assume-in-transaction'),
    await squawk(concurrent, '--no-assume-in-transaction'),
  ];
  return outputs.filter((output) => output !== '').join('\n');
}

function findForbidden({ name, sql }: MigrationFile): string[] {
  if (name.slice(0, lastExempt.length) <= lastExempt) return [];
  const ignored = sql.match(/squawk-ignore.*/g)?.join('\n') ?? '';
  return [
    ...neverIgnored.filter((rule) => ignored.includes(rule)).map((rule) => `${name}: ${rule} must not be ignored`),
    ...(/\b(lock|statement)_timeout\b/i.test(sql) ? [`${name}: timeouts are set by 'homeward migrate', not by a migration`] : []),
  ];
}

async function squawk(files: readonly MigrationFile[], ...args: string[]): Promise<string> {
  if (files.length === 0) return '';
  const program = path.join(root, 'node_modules/.bin/squawk');
  const paths = files.map((file) => file.path);
  const { status, output } = await runCommand(program, ['--config', path.join(root, '.squawk.toml'), ...args, ...paths], { timeoutMs });
  return status === 0 ? '' : `${output}\nsquawk ended with status ${status}`;
}
