// A copy of the program in which one thing is broken: what a proof serves to show that it would notice.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ownRoot = fileURLToPath(new URL('..', import.meta.url));

export interface Edit {
  /** Below service/src. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

export interface Mutant extends Disposable {
  readonly root: string;
}

/** Goes away with `using`. */
export function plantMutant(edits: readonly Edit[]): Mutant {
  const root = mkdtempSync(path.join(tmpdir(), 'homeward-mutant-'));
  for (const part of ['package.json', 'service/package.json', 'service/src', 'service/migrations', 'testkit/serve-on-clock.ts']) {
    cpSync(path.join(ownRoot, part), path.join(root, part), { recursive: true });
  }
  // What is only read: packages, and what the documentation is made from.
  for (const part of ['node_modules', 'service/node_modules', 'docs', 'CHANGELOG.md', 'sdk']) {
    symlinkSync(path.join(ownRoot, part), path.join(root, part));
  }
  for (const edit of edits) apply(edit, path.join(root, 'service/src', edit.file));
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) };
}

function apply({ file, from, to }: Edit, target: string): void {
  const parts = readFileSync(target, 'utf8').split(from);
  if (parts.length !== 2) throw new Error(`the mutant looks for "${from}" once in ${file}, and it is there ${parts.length - 1} times`);
  writeFileSync(target, parts.join(to));
}
