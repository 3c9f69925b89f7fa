// The files of another revision of this repository, to run beside those of this tree.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ownRoot = fileURLToPath(new URL('..', import.meta.url));
const commandTimeoutMs = 120_000;

export class UnknownRevision extends Error {}

/** The commit's short hash, for reports. */
export function commitOf(revision: string): string {
  try {
    return git('rev-parse', '--short', '--verify', '--end-of-options', `${revision}^{commit}`).trim();
  } catch {
    const isShallow = git('rev-parse', '--is-shallow-repository').trim() === 'true';
    const fix = isShallow ? ' This clone has only a part of the history: run `git fetch --unshallow`.' : '';
    throw new UnknownRevision(`There is no revision "${revision}".${fix}`);
  }
}

export interface RevisionCheckout extends Disposable {
  readonly root: string;
}

/** Uses the packages of this tree. The files are removed at the end of a `using` block, or when this process exits. */
export function checkOut(revision: string): RevisionCheckout {
  const commit = commitOf(revision);
  const folder = mkdtempSync(path.join(tmpdir(), 'homeward-revision-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  const root = path.join(folder, 'tree');
  const archive = path.join(folder, 'tree.tar');
  mkdirSync(root);
  git('archive', '--format=tar', `--output=${archive}`, commit);
  execFileSync('tar', ['-xf', archive, '-C', root], { timeout: commandTimeoutMs });
  for (const packages of ['node_modules', 'service/node_modules']) {
    if (existsSync(path.join(ownRoot, packages))) symlinkSync(path.join(ownRoot, packages), path.join(root, packages));
  }
  return {
    root,
    [Symbol.dispose]() {
      process.off('exit', remove);
      remove();
    },
  };
}

const git = (...args: string[]): string =>
  execFileSync('git', ['-C', ownRoot, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: commandTimeoutMs });
