import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ownRoot } from '../testkit/revision-checkout.ts';

const version = '1.0.0';
const migrations = 'service/migrations';

/** The release that a store is upgraded from, and rolled back to: the last commit that has changed a migration of 1.0.0. */
export const releaseBefore = () => ({ version, commit: lastSchema() });

function lastSchema(): string {
  const log = ['log', '-1', '--format=%h', '--', ...migrationsOfRelease()];
  const commit = execFileSync('git', ['-C', ownRoot, ...log], { encoding: 'utf8' }).trim();
  if (commit === '') throw new Error(`This clone has no commit of ${migrations}: run \`git fetch --unshallow\`.`);
  return commit;
}

const migrationsOfRelease = (): string[] =>
  readdirSync(path.join(ownRoot, migrations), { withFileTypes: true })
    .filter(
      (entry) => entry.isFile() && readFileSync(path.join(ownRoot, migrations, entry.name), 'utf8').includes(`-- release: ${version}\n`),
    )
    .map(({ name }) => path.posix.join(migrations, name));
