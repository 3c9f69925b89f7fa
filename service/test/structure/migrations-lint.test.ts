// The linter of migrations, on migrations that would block the service.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lintMigrations } from '../../../tools/migrations-lint.ts';

const header = ['-- Up Migration', '-- release: 1.1.0', '-- change: expand', '-- online: yes', '-- runs with: 1.0.0'].join('\n');
/** Of the first release. */
const firstFile = `${header.replace('1.1.0', '1.0.0')}\n\ncreate table old_names (id bigint generated always as identity primary key);\n`;
const own = fileURLToPath(new URL('../../migrations', import.meta.url));
let dir: string;

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'homeward-migrations-'));
  writeFileSync(path.join(dir, '0001_first.sql'), firstFile);
});

afterEach(() => rmSync(dir, { recursive: true }));

test('the migrations of this release pass', async () => {
  cpSync(own, dir, { recursive: true });
  expect(await lintMigrations(dir)).toBe('');
});

test.each([
  ['builds an index while writers wait', 'create index by_name on pets (name, id);', 'require-concurrent-index-creation'],
  [
    'ignores that',
    '-- squawk-ignore require-concurrent-index-creation\ncreate index by_name on pets (name, id);',
    'require-concurrent-index-creation must not be ignored',
  ],
  ['drops an index while readers wait', 'drop index if exists pets_by_status;', 'require-concurrent-index-deletion'],
  ['checks every row under a lock', 'alter table pets add constraint named check (id > 0);', 'constraint-missing-not-valid'],
  [
    'validates in the transaction that locks the table',
    'alter table pets add constraint named check (id > 0) not valid;\nalter table pets validate constraint named;',
    'constraint-missing-not-valid',
  ],
  ['rewrites a table', 'alter table pets alter column category_id type integer;', 'changing-column-type'],
  ['drops what the release before uses', 'alter table pets drop column name;', 'ban-drop-column'],
  [
    'chooses how long it waits for locks',
    "set local lock_timeout = '1min';\nalter table pets add column colour text;",
    'timeouts are set by',
  ],
  [
    'can not be repeated when it stopped in the middle',
    'create unique index concurrently if not exists one on pets (id);\ndrop index concurrently two;',
    'Move this',
  ],
])('a migration that %s fails', async (_, sql, problem) => {
  writeFileSync(path.join(dir, '0009_planted.sql'), `${header}\n\n${sql}\n`);
  const found = await lintMigrations(dir).catch((error: Error) => error.message);
  expect(found).toContain(problem);
});

test.each([
  ['does not say its release', header.replace(/\n-- release.*/, ''), "it has no 'release'"],
  ['does not say whether it takes something away', header.replace(/\n-- change.*/, ''), "it has no 'change'"],
  ['does not say what waits', header.replace('online: yes', 'online: no'), '"no" is not a valid \'online\''],
  ['does not say which releases run on it', header.replace(/\n-- runs with.*/, ''), "it has no 'runs with'"],
  ['can not be rolled back', header.replace('with: 1.0.0', 'with: 1.1.0, 1.0.0 writes it'), 'could not be rolled back'],
  ['gives no reason', header.replace('1.1.0', '1.2.0').replace('with: 1.0.0', 'with: 1.1.0'), 'needs a reason'],
  ['is of an earlier release', header.replace('1.1.0', '0.9.0'), 'an earlier file is of a later release'],
  [
    'takes away what an earlier release made, and does not say so',
    `${header}\n-- squawk-ignore ban-drop-table\ndrop table old_names;`,
    "it takes away old_names, which an earlier release made. Write '-- change: contract'",
  ],
  ['renames it', `${header}\n-- squawk-ignore renaming-table\nalter table old_names rename to names;`, 'it takes away'],
  [
    'takes it away one release too early',
    `${header.replace('expand', 'contract').replace('with: 1.0.0', 'with: 1.1.0, 1.0.0 reads old_names')}\n-- squawk-ignore ban-drop-table\ndrop table old_names;`,
    'could not be rolled back',
  ],
])('a migration whose first lines make it one that %s fails', async (_, sql, problem) => {
  writeFileSync(path.join(dir, '0009_planted.sql'), `${sql}\n`);
  expect(await lintMigrations(dir)).toContain(problem);
});

test('a migration that takes away what the release before does not use any more passes', async () => {
  const contract = header
    .replace('1.1.0', '1.2.0')
    .replace('expand', 'contract')
    .replace('with: 1.0.0', 'with: 1.1.0, 1.0.0 reads old_names');
  writeFileSync(
    path.join(dir, '0002_second.sql'),
    `${header}\n\ncreate table names (id bigint generated always as identity primary key);\n`,
  );
  writeFileSync(path.join(dir, '0009_planted.sql'), `${contract}\n\n-- squawk-ignore ban-drop-table\ndrop table old_names;\n`);
  expect(await lintMigrations(dir)).toBe('');
});

test.each([
  [
    'builds and drops indexes concurrently',
    'create index concurrently if not exists by_name on pets (name, id);\ndrop index concurrently if exists pets_by_status;',
  ],
  ['adds a column that the release before does not know', 'alter table pets add column colour text;'],
  ['adds a constraint for new rows', 'alter table pets add constraint named check (id > 0) not valid;'],
  ['drops a foreign key, which no query needs', 'alter table pets drop constraint pets_category_id_fkey;'],
  ['validates it in the next file', 'alter table pets validate constraint named;'],
])('a migration that %s passes', async (_, sql) => {
  writeFileSync(path.join(dir, '0009_planted.sql'), `${header}\n\n${sql}\n`);
  expect(await lintMigrations(dir)).toBe('');
});
