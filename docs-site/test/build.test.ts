import { readdirSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';

const site = new URL('../', import.meta.url);

test('The built site can be read by every user, and nothing is left beside it', () => {
  const names = readdirSync(new URL('dist/', site), { recursive: true, encoding: 'utf8' });
  const unreadable = ['', ...names].filter((name) => {
    const { mode } = statSync(new URL(`dist/${name}`, site));
    return (mode & 0o004) === 0;
  });
  expect(unreadable).toEqual([]);
  expect(readdirSync(site).filter((name) => name.startsWith('dist-'))).toEqual([]);
});
