// docs/operations/partners.md has the scopes as the program does.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { scopes, scopeTable } from '../../src/domain/scopes.ts';

test('the table of scopes has a row for each scope: who gets it, and what it permits', () => {
  const document = readFileSync(new URL('../../../docs/operations/partners.md', import.meta.url), 'utf8');
  const [, table = ''] = /^\| Scope \| Given to \| What it permits \|\n.*\n((?:\|.*\n)+)/m.exec(document) ?? [];
  const rows = scopes.map((scope) => `| \`${scope}\` | ${scopeTable[scope].givenTo} | ${scopeTable[scope].meaning} |`);
  expect(table.trimEnd().split('\n')).toEqual(rows);
});
