// What a scope permits and who may read an event are in the tables of service/src/domain, and nowhere else.
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const src = fileURLToPath(new URL('../../src', import.meta.url));
const byHand = /includes\('\w+:\w+'\)|'\w+:manage' = any|\{\w+:\w+(,\w+:\w+)*\}'|startsWith\('(order|pet)\./;

test('no file compares a scope or the name of an event type by hand', () => {
  const found = globSync('**/*.ts', { cwd: src }).filter((file) => byHand.test(readFileSync(`${src}/${file}`, 'utf8')));
  expect(found).toEqual([]);
});
