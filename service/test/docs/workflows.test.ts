// The workflows, the dev container and the dependency updates name things that exist, and run what `.ci/run` runs.
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseDocument } from 'yaml';

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

interface Job {
  readonly uses?: string;
  readonly steps?: readonly Step[];
  readonly 'timeout-minutes'?: number;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly strategy?: { readonly matrix: { readonly step: readonly string[] } };
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly concurrency: { readonly group: string };
  readonly jobs: Readonly<Record<string, Job>>;
}

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const parse = <T>(file: string) => parseDocument(read(file)).toJS() as T;
const yamlFiles = globSync('.github/**/*.yml', { cwd: root });
const workflowFiles = globSync('.github/workflows/*.yml', { cwd: root });
const stepsOf = (file: string) => Object.values(parse<Workflow>(file).jobs).flatMap(({ steps = [] }) => steps);
const commandsOf = (file: string) => stepsOf(file).flatMap(({ run = '' }) => run.trim().split('\n').filter(Boolean));

describe.each(yamlFiles)('%s', (file) => {
  test('is YAML without errors or warnings', () => {
    const { errors, warnings } = parseDocument(read(file));
    expect([...errors, ...warnings]).toEqual([]);
  });
});

describe.each(workflowFiles)('%s', (file) => {
  const { permissions, concurrency, jobs } = parse<Workflow>(file);

  test('may read the repository and nothing else, but for jobs that say so', () => {
    expect(permissions).toEqual({ contents: 'read' });
    const writes = Object.entries(jobs).filter(([, job]) => Object.values(job.permissions ?? {}).includes('write'));
    expect(writes.map(([name]) => name)).toEqual(file.endsWith('release.yml') ? ['sdk', 'notes'] : []);
  });

  test('ends in time, and does not run beside itself', () => {
    expect(concurrency.group).not.toBe('');
    expect(Object.values(jobs).filter((job) => !job.uses && !job['timeout-minutes'])).toEqual([]);
  });

  test('uses actions by their commit, with the version beside it', () => {
    const used = [...read(file).matchAll(/uses: (\S+)(?: # (\S+))?/g)].map(([, action = '', version = '']) => ({ action, version }));
    const isPinned = ({ action, version }: { action: string; version: string }) =>
      action.startsWith('./') ? existsSync(path.join(root, action)) : /@[0-9a-f]{40}$/.test(action) && /^v\d+\.\d+\.\d+$/.test(version);
    expect(used.filter((one) => !isPinned(one))).toEqual([]);
  });

  test('names scripts, workspaces and files that exist', () => {
    const { scripts, workspaces } = JSON.parse(read('package.json')) as { scripts: Record<string, string>; workspaces: string[] };
    const text = commandsOf(file).join('\n');
    const named = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name);
    expect(named(/npm run (\S+)/g).filter((name) => !scripts[name])).toEqual([]);
    expect(named(/--workspace (\S+)/g).filter((name) => !workspaces.includes(name))).toEqual([]);
    const files = named(/(?:^|\s)(?:\.\/)?((?:\.ci|sdk|tools|proofs|deploy)\/[\w./-]+)/gm);
    // The build makes this one.
    expect(files.filter((name) => name !== 'sdk/sdk.tgz' && !existsSync(path.join(root, name)))).toEqual([]);
  });
});

describe('What is run', () => {
  const checkSteps = [...read('tools/check.ts').matchAll(/^ {2}\{ name: '([\w-]+)'/gm)].map(([, name = '']) => name);

  test('on a push and a pull request is .ci/run, and nothing else', () => {
    const { on } = parse<Workflow>('.github/workflows/check.yml');
    expect(Object.keys(on)).toEqual(expect.arrayContaining(['push', 'pull_request']));
    expect(commandsOf('.github/workflows/check.yml')).toEqual(['sudo -E env "PATH=$PATH" .ci/run']);
  });

  test('every night is .ci/run with the steps that it leaves out otherwise', () => {
    const file = '.github/workflows/nightly.yml';
    const { on, jobs } = parse<Workflow>(file);
    expect(on['schedule']).toHaveLength(1);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of the workflow
    expect(commandsOf(file)).toEqual(['sudo -E env "PATH=$PATH" .ci/run --only ${{ matrix.step }}']);
    const nightly = jobs['nightly']?.strategy?.matrix.step ?? [];
    expect(nightly).toEqual(['long-proofs', 'all-mutants', 'shown-commands', 'long-tests']);
    expect(checkSteps).toEqual(expect.arrayContaining([...nightly]));
    expect(read('docs/promises.md')).toContain(`npm run check -- ${nightly.map((step) => `--only ${step}`).join(' ')}`);
  });

  test('by .ci/run is npm ci and npm run check, with the arguments that it is given', () => {
    const main = /^main\(\) \{\n(.*?)^\}/ms.exec(read('.ci/run'))?.[1] ?? '';
    expect(main).toContain("step 'npm ci' npm ci");
    expect(main).toContain('npm run check -- "$@"');
  });

  test('before a release is the whole check', () => {
    const { jobs } = parse<Workflow>('.github/workflows/release.yml');
    expect(jobs['check']?.uses).toBe('./.github/workflows/check.yml');
  });

  test('in a release are the scripts that the proof `deploy` runs', () => {
    const built = ['deploy/image/build', 'deploy/systemd/build-deb'];
    for (const script of built) {
      expect(commandsOf('.github/workflows/release.yml').join('\n')).toContain(script);
      expect(read('proofs/deploy/images.ts')).toContain(`'${script}'`);
    }
  });

  test('of mutants on every change is what docs/promises.md lists', () => {
    const mutants = [...(/mutants: readonly string\[\] = \[(.*)\]/.exec(read('tools/check.ts'))?.[1] ?? '').matchAll(/'([\w-]+)'/g)];
    const sentence = /the mutants of (.*?)\. /.exec(read('docs/promises.md'))?.[1] ?? '';
    expect([...sentence.matchAll(/`([\w-]+)`/g)].map(([, name]) => name)).toEqual(mutants.map(([, name]) => name));
    expect(mutants.length).toBeGreaterThan(0);
  });
});

describe('The pinned Node.js', () => {
  const { version, optionalDependencies } = JSON.parse(read('tools/node-runtime/package.json')) as {
    version: string;
    optionalDependencies: Record<string, string>;
  };

  test('is the same for every platform, in .nvmrc and in the dev container', () => {
    expect(new Set(Object.values(optionalDependencies))).toEqual(new Set([version]));
    expect(read('.nvmrc')).toBe(`${version}\n`);
    expect(/^FROM node:([\d.]+)-/m.exec(read('.devcontainer/Dockerfile'))?.[1]).toBe(version);
  });

  test('is the one that the workflows start from', () => {
    const setups = workflowFiles.flatMap((file) => [...read(file).matchAll(/actions\/setup-node@.*\n\s+with:\n\s+(.*)/g)]);
    expect(setups.length).toBeGreaterThan(2);
    expect(setups.filter(([, input]) => input !== 'node-version-file: .nvmrc')).toEqual([]);
  });
});

test('The dev container has every package that .ci/run installs', () => {
  const packages = [...read('.ci/run').matchAll(/missing\+=\((\S+)\)/g)].map(([, name = '']) => name);
  expect(packages.length).toBeGreaterThan(3);
  const installed = (/apt-get install .*? --no-install-recommends (.*) \\/.exec(read('.devcontainer/Dockerfile'))?.[1] ?? '').split(' ');
  expect(packages.sort()).toEqual(installed.sort());
});

test('Dependencies are updated in every folder that has a lockfile', () => {
  const { updates } = parse<{ updates: Array<{ 'package-ecosystem': string; directory?: string; directories?: string[] }> }>(
    '.github/dependabot.yml',
  );
  const watched = updates
    .filter((one) => one['package-ecosystem'] === 'npm')
    .flatMap(({ directory, directories = [] }) => (directory ? [directory] : directories));
  const lockfiles = execFileSync('git', ['ls-files', '*package-lock.json'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
  expect(watched.sort()).toEqual(lockfiles.map((file) => path.join('/', path.dirname(file))).sort());
});

test('Editors recommend the same extensions inside and outside of the dev container', () => {
  const { recommendations } = JSON.parse(read('.vscode/extensions.json')) as { recommendations: string[] };
  const { customizations } = JSON.parse(read('.devcontainer/devcontainer.json')) as {
    customizations: { vscode: { extensions: string[] } };
  };
  expect(customizations.vscode.extensions).toEqual(recommendations);
});

test('Dependabot ignores the packages of the pinned Node.js and no other, and of images only what is built or chosen by hand', () => {
  const { optionalDependencies } = JSON.parse(read('tools/node-runtime/package.json')) as { optionalDependencies: Record<string, string> };
  interface Update {
    readonly 'package-ecosystem': string;
    readonly ignore?: ReadonlyArray<{ readonly 'dependency-name': string }>;
  }
  const { updates } = parse<{ updates: readonly Update[] }>('.github/dependabot.yml');
  const ignoredOf = (pattern: RegExp) =>
    updates
      .filter((update) => pattern.test(update['package-ecosystem']))
      .flatMap(({ ignore = [] }) => ignore.map((one) => one['dependency-name']))
      .toSorted();
  expect(ignoredOf(/^npm$/)).toEqual(Object.keys(optionalDependencies).toSorted());
  expect(ignoredOf(/^docker(-compose)?$/)).toEqual(['homeward', 'node', 'postgres']);
});
