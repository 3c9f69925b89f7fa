// A single statement that writes is given to `write`, also where no test runs it on a connection that only reads.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const source = fileURLToPath(new URL('../../src', import.meta.url));
const writes =
  /\b(insert into|delete from|update \w+( as)?( \w+)?\s+set|for (no key )?update|for (key )?share|nextval|setval|(make|drop)_\w+_partitions)\b/;

/** What follows each `db.query`, to the end of its function, and the text after each `rowsOf(db)` and `rowOf(db)`. */
function readsOf(file: string): string[] {
  const code = readFileSync(path.join(source, file), 'utf8');
  const queries = code.split(/^}$/m).flatMap((text) => text.split(/\bdb\.(?=query|write)/).slice(1));
  const tagged = [...code.matchAll(/\brows?Of<[^`]*\(db\)(`[^`]*`)/g)].map(([, text = '']) => text);
  return [...queries.filter((text) => text.startsWith('query')), ...tagged];
}

const files = globSync('**/*.ts', { cwd: source });

test('the pattern finds a write', () => {
  expect(writes.test('update webhooks set status')).toBe(true);
  expect(files.flatMap(readsOf).length).toBeGreaterThan(50);
});

test.each(files.filter((file) => readsOf(file).length > 0))('%s', (file) => {
  expect(readsOf(file).filter((text) => writes.test(text))).toEqual([]);
});
