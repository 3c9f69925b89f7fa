// The proof runs at night. That the table has every row and column that it tries, and no failure, is checked here.
import { expect, test } from 'vitest';
import { environments } from './environments.ts';
import { readTable, tableOf, works } from './matrix-document.ts';
import { postgresVersions, releaseOf } from './postgres-versions.ts';

const titles = environments.map(({ title }) => title);
const columnsWith = (outcome: (row: number) => string | undefined) =>
  postgresVersions.map((version) => ({ release: releaseOf(version), outcomes: titles.map((_, row) => outcome(row)) }));

test('the table in docs/compatibility.md has each environment and each release, and all work', () => {
  expect(readTable()).toBe(
    tableOf(
      titles,
      columnsWith(() => works),
      '',
    ),
  );
});

test('what could not be tried stays as it was, and is not tried on another release', () => {
  const before = readTable();
  const last = titles.length - 1;
  const without = columnsWith((row) => (row === last ? undefined : works));
  expect(tableOf(titles, without, before)).toBe(before);
  const newer = without.map((column) => ({ ...column, release: `${column.release}1` }));
  expect(tableOf(titles, newer, before)).toContain(`| ${titles[last]} | not tried |`);
});

test('what fails is said', () => {
  expect(
    tableOf(
      titles,
      columnsWith((row) => (row === 0 ? 'doctor: broken' : works)),
      readTable(),
    ),
  ).toContain(`| ${titles[0]} | fails |`);
});
