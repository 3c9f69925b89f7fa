// The table of outcomes in the guide is that of the program.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { outcomes, outcomeUndoing } from '../../src/domain/outcomes.ts';

const [section = ''] =
  /(?<=\n## Record an outcome\n).*?(?=\n## )/s.exec(readFileSync(new URL('../../../docs/guides/shelters.md', import.meta.url), 'utf8')) ??
  [];

test('docs/guides/shelters.md has every outcome with its meaning', () => {
  const rows = [...section.matchAll(/^\| `(\w+)` \| (.+\.) \|$/gm)].map(([, type, meaning]) => [type, { meaning }]);
  expect(Object.fromEntries(rows)).toEqual(outcomes);
});

test('it says for how long an outcome can be undone, and what the animal is then', () => {
  expect(section).toContain(`For ${outcomeUndoing.days} days an outcome can be undone.`);
  expect(section).toContain(`as \`${outcomeUndoing.to}\``);
});
