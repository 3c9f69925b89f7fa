// The linter of migrations, on migrations that would block the service.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lintMigrations } from '../../../tools/migrations-lint.ts';

const own = fileURLToPath(new URL('../../migrations', import.meta.url));
let dir: string;

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'homeward-migrations-'));
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
  writeFileSync(path.join(dir, '0009_planted.sql'), `-- Up Migration\n\n${sql}\n`);
  const found = await lintMigrations(dir).catch((error: Error) => error.message);
  expect(found).toContain(problem);
});

test.each([
  [
    'builds and drops indexes concurrently',
    'create index concurrently if not exists by_name on pets (name, id);\ndrop index concurrently if exists pets_by_status;',
  ],
  ['adds a column that the release before does not know', 'alter table pets add column colour text;'],
  ['adds a constraint for new rows', 'alter table pets add constraint named check (id > 0) not valid;'],
  ['validates it in the next file', 'alter table pets validate constraint named;'],
])('a migration that %s passes', async (_, sql) => {
  writeFileSync(path.join(dir, '0009_planted.sql'), `-- Up Migration\n\n${sql}\n`);
  expect(await lintMigrations(dir)).toBe('');
});
