// A copy of the service with a deliberate fault. A proof that runs on it must fail.
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ownRoot = fileURLToPath(new URL('..', import.meta.url));
const exampleSite = 'examples/adoption-site';

export interface Edit {
  /** The path below service/src, a migration: migrations/…, a page of the built site: docs-site/dist/…, or an example: examples/… */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

export interface Mutant extends Disposable {
  readonly root: string;
}

/** The copy is removed at the end of a `using` block. */
export function plantMutant(edits: readonly Edit[]): Mutant {
  const root = mkdtempSync(path.join(tmpdir(), 'homeward-mutant-'));
  const parts = [
    'package.json',
    'service/package.json',
    'service/src',
    'service/migrations',
    'docs-site/assets',
    'testkit/serve-on-clock.ts',
  ];
  for (const part of parts) {
    cpSync(path.join(ownRoot, part), path.join(root, part), { recursive: true });
  }
  const site = 'docs-site/dist';
  if (existsSync(path.join(ownRoot, site))) cpSync(path.join(ownRoot, site), path.join(root, site), { recursive: true });
  if (edits.some(({ file }) => file.startsWith(exampleSite))) {
    cpSync(path.join(ownRoot, exampleSite), path.join(root, exampleSite), { recursive: true });
  }
  // Folders that nothing writes to are linked, not copied.
  for (const part of ['node_modules', 'service/node_modules', 'sdk']) {
    symlinkSync(path.join(ownRoot, part), path.join(root, part));
  }
  for (const { file, from, to } of edits) replaceOnce(path.join(root, folderOf(file), file), from, to);
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) };
}

function folderOf(file: string): string {
  if (file.startsWith('docs-site/') || file.startsWith(exampleSite)) return '';
  return file.startsWith('migrations/') ? 'service' : 'service/src';
}

/** Throws unless the file has the text exactly once. */
export function replaceOnce(file: string, from: string, to: string): void {
  const parts = readFileSync(file, 'utf8').split(from);
  if (parts.length !== 2) throw new Error(`the mutant must find "${from}" once in ${file}, but it is there ${parts.length - 1} times`);
  writeFileSync(file, parts.join(to));
}
