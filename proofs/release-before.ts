import { execFileSync } from 'node:child_process';
import { ownRoot } from '../testkit/revision-checkout.ts';

/**
 * The release that a store is upgraded from, and rolled back to. There is none before 1.0.0, so it is the last commit that has changed the
 * schema of 1.0.0. From the release of 1.0.0 on, this has its tag.
 */
export const releaseBefore = () => ({ version: '1.0.0', commit: lastSchema() });

function lastSchema(): string {
  const commit = execFileSync('git', ['-C', ownRoot, 'log', '-1', '--format=%h', '--', 'service/migrations'], { encoding: 'utf8' }).trim();
  if (commit === '') throw new Error('This clone has no commit of service/migrations: run `git fetch --unshallow`.');
  return commit;
}
