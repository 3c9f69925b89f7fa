// Whether the processes of now can come back after a migration, by what the files say.
import { describe, expect, test } from 'vitest';
import { planFrom } from '../../../src/platform/db/migration-plan.ts';

const file = (name: string, release: string, { runsWith = '1.0.0', change = 'expand', online = 'yes' } = {}) => ({
  name,
  sql: `-- Up Migration\n-- release: ${release}\n-- change: ${change}\n-- online: ${online}\n-- runs with: ${runsWith}\n\nselect 1;`,
});

const files = [
  file('0001_first', '1.0.0'),
  file('0002_more', '1.1.0'),
  file('0003_cut', '1.1.0', { runsWith: '1.1.0, 1.0.0 loses letters', online: 'no, letters wait' }),
  file('0004_more', '1.1.0'),
  file('0005_gone', '1.2.0', { change: 'contract', runsWith: '1.1.0, 1.0.0 reads it' }),
  file('0006_gone', '1.10.0', { change: 'contract', runsWith: '1.2.0, 1.1.0 reads it' }),
];
const names = files.map(({ name }) => name);
const upTo = (count: number) => names.slice(0, count);

describe('Going back', () => {
  test.each([
    ['1.0.0', upTo(1), false],
    ['1.0.0, with a migration that stopped before the cut', upTo(2), false],
    ['a commit of 1.1.0 after the cut', upTo(3), false],
    ['1.1.0', upTo(4), false],
    ['1.2.0', upTo(5), true],
    ['1.10.0', upTo(6), true],
  ])('from 1.10.0 to %s', (_, applied, canGoBack) => {
    expect(planFrom(files, applied).canGoBack).toBe(canGoBack);
  });

  test.each([
    ['1.0.0', upTo(1), false],
    ['a commit of 1.1.0 after the cut', upTo(3), true],
    ['1.1.0', upTo(4), true],
  ])('from 1.2.0 to %s', (_, applied, canGoBack) => {
    expect(planFrom(files.slice(0, 5), applied).canGoBack).toBe(canGoBack);
  });

  test('from a first migration is to nothing', () => {
    expect(planFrom(files, []).canGoBack).toBeNull();
  });
});

test('what is pending comes in order, with what waits and with what it needs', () => {
  expect(planFrom(files.slice(0, 3), upTo(1)).pending).toEqual([
    { name: '0002_more', release: '1.1.0', change: 'expand', waits: undefined, runsWith: '1.0.0', reason: undefined },
    { name: '0003_cut', release: '1.1.0', change: 'expand', waits: 'letters wait', runsWith: '1.1.0', reason: '1.0.0 loses letters' },
  ]);
});

test('the oldest release that runs on the schema is named with what keeps earlier ones from it, in the order of numbers', () => {
  const { oldestRelease, obstacles } = planFrom(files, names);
  expect([oldestRelease, obstacles.map(({ name }) => name)]).toEqual(['1.2.0', ['0006_gone']]);
});

test('a migration without its first lines is an error that says what to write', () => {
  expect(() => planFrom([{ name: '0007_bare', sql: 'select 1;' }], [])).toThrow(
    "0007_bare: it has no 'release'. Write a line such as '-- release: 1.1.0'.",
  );
});
