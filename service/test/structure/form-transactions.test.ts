import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('what a form does reads in the transaction of the form: another connection sees other rows, and may have to be waited for', () => {
  const acts = globSync('service/src/console/**/*.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/^( *)act: async .*?^\1\}/gms)].map(([act]) => ({ file, act })),
  );
  expect(acts.length).toBeGreaterThan(20);
  // `{ db: tx }` names a parameter.
  expect(acts.filter(({ act }) => /\bdb\b(?!: tx\b)/.test(act))).toEqual([]);
});
