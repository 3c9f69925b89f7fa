// References in documents to files, sections, scripts and operations.
import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { matrix } from '../../../testkit/isolation-matrix.ts';
import { scopes, scopesThat } from '../../src/domain/scopes.ts';
import { readMigrations } from '../../src/platform/db/migration-files.ts';
import { operationsPages } from './operations-pages.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const exists = (file: string) => existsSync(path.join(root, file));

const wings = readdirSync(path.join(root, 'service/src'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'ARCHITECTURE.md',
  'docs/flows.md',
  ...wings.map((wing) => `service/src/${wing}/README.md`),
  'docs/adr/README.md',
  ...operationsPages,
  'docs/deploy.md',
  'docs/backup.md',
  'docs/security.md',
];

describe.each(documents)('%s', (file) => {
  const text = read(file);

  test('links to files that exist, and to sections that they have', () => {
    const targets = [...text.matchAll(/\]\((?!https?:)([^)]+)\)/g)].map(([, target = '']) => target);
    expect(targets.length).toBeGreaterThan(1);
    expect(targets.filter((target) => !leadsSomewhere(file, target) && !isWorkflow(target))).toEqual([]);
  });

  test('names paths that exist, or that git ignores', () => {
    const top = /^(service|proofs|testkit|bench|tools|deploy|docs|sdk|[A-Za-z]+\.(md|json))\b[\w./-]*$/;
    const paths = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code).filter((code) => top.test(code));
    // ARCHITECTURE.md and docs/security.md omit the prefix service/src or service/test.
    const isThere = (one: string) => ['', 'service/src/', 'service/test/'].some((folder) => exists(folder + one));
    expect(paths.filter((one) => !isThere(one))).toEqual([]);
    const made = [...text.matchAll(/`(\.homeward)[^`]*`/g)];
    for (const [, folder = ''] of made) expect(read('.gitignore')).toContain(folder);
  });

  test('names source files that exist', () => {
    const named = [...text.matchAll(/`([\w-][\w./-]*\.(?:ts|lua|mjs|json|css))`/g)].map(([, file = '']) => file);
    const folders = ['', 'service/src/', 'service/src/**/', 'service/test/', 'sdk/src/', 'docs-site/'];
    expect(
      named.filter(
        (one) =>
          globSync(
            folders.map((folder) => folder + one),
            { cwd: root },
          ).length === 0,
      ),
    ).toEqual([]);
  });

  test('names functions and tables that are in the file that it says', () => {
    const named = [...text.matchAll(/`(\w+)` (?:in |\()`([\w./-]+\.(?:ts|lua))`/g)];
    const isInFile = (name: string, source: string) =>
      globSync([`service/src/**/${source}`, `sdk/src/${source}`, source], { cwd: root }).some((found) => read(found).includes(name));
    expect(named.filter(([, name = '', source = '']) => !isInFile(name, source)).map(([phrase]) => phrase)).toEqual([]);
  });

  test('names scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = [...text.matchAll(/npm run ([a-z]+)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !scripts[name])).toEqual([]);
  });
});

const migrations = readMigrations(path.join(root, 'service/migrations')).map(({ name }) => name);

test.each([...documents, 'CHANGELOG.md'])('%s names migrations that exist', (file) => {
  const named = [...read(file).matchAll(/\b\d{4}_[a-z_]+/g)].map(([name]) => name);
  expect(named.filter((name) => !migrations.includes(name))).toEqual([]);
});

test('ARCHITECTURE.md has every wing of the service with its folders, and says how many there are', () => {
  const foldersOf = (wing: string) =>
    readdirSync(path.join(root, 'service/src', wing), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? entry.name : []));
  const rows = [...read('ARCHITECTURE.md').matchAll(/^\| \[`([a-z]+)`\]\(service\/src\/\1\/README\.md\) \|[^|]*\|(.*)\|$/gm)];
  const listed = rows.map(([, wing = '', folders = '']) => [wing, [...folders.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name).sort()]);
  expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(wings.map((wing) => [wing, foldersOf(wing).sort()])));
  expect(wings).toHaveLength(11);
  for (const file of ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/adr/0055-import-directions.md'])
    expect(read(file)).toMatch(/\beleven wings\b/);
});

test.each(wings)('The README.md of service/src/%s has at most 30 lines', (wing) => {
  expect(read(`service/src/${wing}/README.md`).trimEnd().split('\n').length).toBeLessThanOrEqual(30);
});

test('docs/operations/database.md says how many migrations there are', () => {
  expect(read('docs/operations/database.md')).toContain(`of ${migrations.length} migrations`);
});

const decisions = readdirSync(path.join(root, 'docs/adr')).filter((file) => file !== 'README.md');

test('docs/adr/README.md has every decision once, by its number and title', () => {
  const rows = decisions.map((file) => `- [${read(`docs/adr/${file}`).split('\n')[0]?.slice(2)}](${file})`);
  expect([...read('docs/adr/README.md').matchAll(/^- .*/gm)].map(([row]) => row).sort()).toEqual(rows.sort());
});

test.each(decisions)('docs/adr/%s links to files and sections that exist', (file) => {
  const targets = [...read(`docs/adr/${file}`).matchAll(/\]\((?!https?:)([^)]+)\)/g)].map(([, target = '']) => target);
  expect(targets.filter((target) => !leadsSomewhere(`docs/adr/${file}`, target))).toEqual([]);
});

test('Decisions have at most 700 words, and half of them at most 350', () => {
  const words = (file: string) => read(`docs/adr/${file}`).split(/\s+/).filter(Boolean).length;
  expect(decisions.filter((file) => words(file) > 700)).toEqual([]);
  expect(decisions.filter((file) => words(file) <= 350).length).toBeGreaterThanOrEqual(decisions.length / 2);
});

test('docs/adr/0001-stack-and-dependencies.md names every package that the service depends on', () => {
  const { dependencies } = JSON.parse(read('service/package.json')) as { dependencies: Record<string, string> };
  const decision = read('docs/adr/0001-stack-and-dependencies.md').toLowerCase();
  const names = Object.keys(dependencies).map((name) => name.replace(/^@opentelemetry\/.*/, '@opentelemetry'));
  expect(names.filter((name) => !decision.includes(`**${name}**`))).toEqual([]);
});

test('docs/adr/0020-adopters-data.md names every scope whose keys see orders, with their adopters', () => {
  const seeing = scopesThat('seeOrders');
  expect(seeing.length).toBeGreaterThan(1);
  expect(seeing.filter((scope) => !read('docs/adr/0020-adopters-data.md').includes(`\`${scope}\``))).toEqual([]);
});

test('docs/promises.md counts the operations and the kinds of callers that there are', () => {
  const [, kinds, operations] = /Every operation by (\d+) kinds of caller.*none of (\d+) \|/.exec(read('docs/promises.md')) ?? [];
  expect(Number(operations)).toBe(Object.keys(matrix).length);
  // Each scope alone, the default, none, all, another client, revoked, expired, suspended, no key.
  expect(Number(kinds)).toBe(scopes.length + 8);
});

const guides = readdirSync(path.join(root, 'docs/guides')).filter((name) => name.endsWith('.md'));

test.each(guides)('docs/guides/%s links to guides and pictures that exist', (guide) => {
  const targets = [...read(`docs/guides/${guide}`).matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)].map(([, target = '']) => target);
  expect(targets.filter((target) => !exists(`docs/guides/${target}`))).toEqual([]);
});

test('README.md shows pictures that exist, in light and dark, and are small enough for a slow line', () => {
  const pictures = [...read('README.md').matchAll(/(?:src|srcset)="([^"]+)"/g)].map(([, file = '']) => file);
  const byTheme = (theme: string) => pictures.filter((file) => file.includes(theme)).map((file) => file.replace(theme, ''));
  expect(byTheme('-light.').length).toBe(3);
  expect(byTheme('-dark.')).toEqual(byTheme('-light.'));
  for (const file of pictures) expect([file, statSync(path.join(root, file)).size < 600_000]).toEqual([file, true]);
});

test('The badge of README.md shows the version of OpenAPI', () => {
  const { openapi } = JSON.parse(read('openapi.json')) as { openapi: string };
  expect(read('docs/badges/openapi.svg')).toContain(`OpenAPI ${openapi.slice(0, 3)}`);
});

/** A workflow of this repository, as the repository's page on a code host links to it. */
function isWorkflow(target: string): boolean {
  const [, name] = /^\.\.\/\.\.\/actions\/workflows\/([a-z]+\.yml)(\/badge\.svg)?$/.exec(target) ?? [];
  return name !== undefined && exists(`.github/workflows/${name}`);
}

/** Resolves a link like a code host: relative to the document's folder, and to a heading by its slug. */
function leadsSomewhere(from: string, target: string): boolean {
  // A badge and its page, which the code host has for each workflow.
  const workflow = /^\.\.\/\.\.\/actions\/workflows\/([\w-]+\.yml)(?:\/badge\.svg)?$/.exec(target)?.[1];
  if (workflow) return exists(`.github/workflows/${workflow}`);
  const [file = '', section] = target.split('#');
  const found = file === '' ? from : path.join(path.dirname(from), file);
  if (!exists(found)) return false;
  return section === undefined || headingsOf(read(found)).includes(section);
}

function headingsOf(markdown: string): string[] {
  const headings = [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading.toLowerCase());
  return headings.map((heading) => heading.replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-'));
}
