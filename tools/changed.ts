// What a change can break: the files that differ from main, the tests that have to do with them, and the proofs.
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Modules that assemble everything: nearly every test reaches nearly every module through them. So a test has to do with a module that it
 * reaches without them, or whose feature it is named after.
 */
const hubs = ['app.ts', 'dependencies.ts', 'test-store.ts', 'program.ts', 'store.ts', 'worker.ts', 'serve.ts'];
/** What they assemble is tested by all tests, and so is what runs all tests. */
const concernsAll =
  /^(vitest\.config\.ts|package(-lock)?\.json|service\/test\/(global-setup|databases|test-store)\.ts|service\/src\/app\.ts)$/;
const testFiles = ['{service,sdk,docs-site}/test/**/*.test.ts', '{proofs,testkit,bench}/**/*.test.ts'];
const modules = '{service,sdk,docs-site,proofs,testkit,bench,tools}/**/*.ts';
const exclude = ['**/node_modules/**', '**/dist/**'];

/** The files that differ from the last commit that this branch shares with main, also those that are not committed. On main: from the commit before. */
export function changedFiles(): string[] {
  const base = mergeBase();
  const listed = [...git('diff', '--name-only', '--no-renames', base), ...git('ls-files', '--others', '--exclude-standard')];
  return [...new Set(listed)].sort();
}

function mergeBase(): string {
  const [head = ''] = git('rev-parse', 'HEAD');
  const branch = ['main', 'origin/main'].find((name) => git('branch', '--all', '--list', name, `remotes/${name}`).length > 0);
  const [base = head] = branch ? git('merge-base', 'HEAD', branch) : [];
  const isUnchanged = base === head && git('status', '--porcelain').length === 0;
  // A shallow clone does not have the commit before: there nothing counts as changed.
  return isUnchanged && git('rev-list', '--max-count=2', 'HEAD').length > 1 ? `${head}~1` : base;
}

const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean);

/** Undefined: all of them. */
export function relatedTests(changed: readonly string[]): string[] | undefined {
  if (changed.some((file) => concernsAll.test(file))) return undefined;
  const tests = globSync(testFiles, { exclude });
  const reached = modulesThatReach(changed);
  const features = changed.flatMap((file) => /^service\/src\/(?:.*\/)?([\w-]+)\/[^/]+$/.exec(file)?.[1]?.replace(/s$/, '') ?? []);
  const isNamedAfter = features.length > 0 ? new RegExp(`/(${features.join('|')})s?[/.-]`) : /^$/;
  // A document, a migration or a settings file is read by its name.
  const named = changed.filter((file) => !file.endsWith('.ts')).map((file) => path.basename(file));
  const isRelated = (test: string): boolean => {
    if (reached.has(test)) return true;
    if (isNamedAfter.test(test)) return true;
    return named.length > 0 && mentions(readFileSync(test, 'utf8'), named);
  };
  return tests.filter(isRelated);
}

const mentions = (text: string, names: readonly string[]) => names.some((name) => text.includes(name));

/** The changed modules, and those that import them, directly or not, without passing a hub. */
function modulesThatReach(changed: readonly string[]): ReadonlySet<string> {
  const importers = new Map<string, string[]>();
  for (const module of globSync(modules, { exclude })) {
    for (const [, from = ''] of readFileSync(module, 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)) {
      const imported = path.join(path.dirname(module), from);
      importers.set(imported, [...(importers.get(imported) ?? []), module]);
    }
  }
  const reached = new Set(changed);
  for (const module of reached) {
    if (hubs.includes(path.basename(module)) && !changed.includes(module)) continue;
    for (const importer of importers.get(module) ?? []) reached.add(importer);
  }
  return reached;
}

export interface ListedProof {
  readonly name: string;
  readonly isNightly: boolean;
  readonly about: readonly string[];
}

const isAbout = (about: readonly string[], file: string) => about.some((one) => file === one || file.startsWith(`${one}/`));

/** Whether one of these files, or one in these folders, has changed. False where there is no repository. */
export function hasChanged(about: readonly string[]): boolean {
  return existsSync('.git') && changedFiles().some((file) => isAbout(about, file));
}

/**
 * The names of the proofs whose own files changed, or what they are about: a folder with a file that their mutants edit, or what they name.
 * Those of the night only if they are named, or their own files changed.
 */
export function relatedProofs(changed: readonly string[], proofs: readonly ListedProof[]): string[] {
  const folders = new Set(changed.map((file) => path.dirname(file)));
  const roots = ['service/src', 'service', 'deploy', '.'];
  const isEdited = (edit: string) => roots.some((root) => folders.has(path.join(root, path.dirname(edit))));
  const sources = globSync('proofs/**/*.ts', { exclude });
  return proofs.flatMap(({ name, isNightly, about }) => {
    const source = sources.find((file) => readFileSync(file, 'utf8').includes(`name: '${name}',\n  promise:`)) ?? '';
    const folder = path.dirname(source);
    const own = folder === 'proofs' ? [source] : sources.filter((file) => file.startsWith(`${folder}/`));
    const edited = own.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/file: '([^']+)'/g)].map(([, edit = '']) => edit));
    const isRelated = changed.some((file) => own.includes(file) || isAbout(about, file)) || (!isNightly && edited.some(isEdited));
    return isRelated ? [name] : [];
  });
}
