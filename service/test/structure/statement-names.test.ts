import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('no two statements have the same name: PostgreSQL would reject the second on a connection that has prepared the first', () => {
  const files = globSync('service/src/**/*-queries.ts');
  const names = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/\bname: '([^']+)'/g)].map(([, name]) => name));
  expect(names.length).toBeGreaterThan(100);
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
});
