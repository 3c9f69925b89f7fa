// docs/operations/database.md says of each release whether the one before runs on its schema, as its migrations do.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compareReleases, migrationsDir, readMigrations } from '../../src/platform/db/migration-files.ts';
import { planFrom } from '../../src/platform/db/migration-plan.ts';

const files = readMigrations(migrationsDir);
const releases = [...new Set(planFrom(files, []).pending.map(({ release }) => release))].toSorted(compareReleases);

test('the table of releases has a row for each release that has migrations', () => {
  const document = readFileSync(new URL('../../../docs/operations/database.md', import.meta.url), 'utf8');
  const [, table = ''] = /^\| Schema of \|.*\n.*\n((?:\|.*\n)+)/m.exec(document) ?? [];
  expect(table.trimEnd().split('\n')).toEqual(releases.map(rowOf));
});

function rowOf(release: string, i: number): string {
  const before = releases[i - 1];
  if (before === undefined) return `| ${release} | | |`;
  const { oldestRelease, obstacles } = planFrom(
    files.filter(({ name }) => !planFrom(files, []).pending.some((one) => one.name === name && compareReleases(one.release, release) > 0)),
    [],
  );
  const why = obstacles.map(({ name, reason }) => `\`${name}\`, ${reason}`).join('; ');
  return `| ${release} | ${before} | ${compareReleases(before, oldestRelease) < 0 ? `no: ${why}` : 'yes'} |`;
}
