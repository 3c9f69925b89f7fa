import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../testkit/temporary-folder.ts';
import { findDoubledNames, findLongLines, findStrayBinaries } from '../../../tools/placement.ts';

const inPlace = [
  'docs-site/assets/favicon.ico',
  'docs-site/assets/biscuit.webp',
  'docs-site/assets/fonts/figtree.woff2',
  'docs/guides/assets/hold.webp',
];

/** What is found where git tracks these files. */
function findIn(files: Readonly<Record<string, string>>): string[] {
  using folder = temporaryFolder('placement');
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder.path, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  execFileSync('git', ['init', '--quiet'], { cwd: folder.path });
  execFileSync('git', ['add', '--all'], { cwd: folder.path });
  return findStrayBinaries(folder.path);
}

const binary = '\0\x01\x02';
const binaries = Object.fromEntries(inPlace.map((file) => [file, binary]));

test('binary files are found where they do not belong, whatever their name, and texts are not', () => {
  expect(findIn({ ...binaries, 'README.md': '# Text\n' })).toEqual([]);
  const found = findIn({ ...binaries, 'compiled/00045b6b': binary, 'docs/figures/notes.txt': binary, 'docs/guides/hold.webp': binary });
  expect(found.map((line) => line.split(':')[0])).toEqual(['compiled/00045b6b', 'docs/figures/notes.txt', 'docs/guides/hold.webp']);
});

test('a place without a binary file is an error, so that a search that finds none is noticed', () => {
  expect(findIn({ 'README.md': '# Text\n' })).toEqual([
    expect.stringContaining('no binary file found'),
    expect.anything(),
    expect.anything(),
  ]);
});

test('a name that two files export is found, and one that is exported once, or only used, is not', () => {
  using folder = temporaryFolder('placement');
  const write = (name: string, text: string) => writeFileSync(path.join(folder.path, name), text);
  write('pages.ts', 'export interface Page {}\nexport function readPage(): void {}\n');
  write('screens.ts', "import type { Page } from './pages.ts';\ninterface Own {}\nexport const show = (page: Page & Own) => page;\n");
  expect(findDoubledNames(folder.path)).toEqual([]);
  write('books.ts', 'export type Page = string;\n');
  expect(findDoubledNames(folder.path)).toEqual([expect.stringContaining('each exports Page')]);
});

const words = 'So many words that no line of a screen has room for them. '.repeat(4).trim();
const element = '<p class="soft">A word</p>'.repeat(8);
const name = 'aLongNameOfSomething';
const code = Array.from({ length: 8 }, (_, i) => `${name}${i}`).join(' + ');

test.each([
  ['one that is short', 'const a = 1;', 0],
  ['a text', `const text = '${words}';`, 0],
  ['a text with values', `const text = \`${words} \${${name}} \${${name}.join(', ')}\`;`, 0],
  ['a link in a comment', `// https://example.org/${'path/'.repeat(40)}`, 0],
  ['HTML', `const page = html\`${element}\`;`, 1],
  ['HTML in a string', `const page = '${element}';`, 1],
  ['words in HTML', `const page = html\`${words}\`;`, 1],
  ['a text with much code', `const text = \`${words} \${${code}}\`;`, 1],
  ['several texts', `const texts = [${`'${words.slice(0, 90)}', `.repeat(3)}];`, 1],
  ['a sum', `const sum = ${code};`, 1],
  ['a pattern', `const pattern = /${words}/;`, 1],
  ['a comment', `// ${words}`, 1],
])('a long line is found if it is no text, and no SQL: %s', (_, line, found) => {
  using folder = temporaryFolder('placement');
  writeFileSync(path.join(folder.path, 'page.ts'), `\n${line}\n`);
  writeFileSync(path.join(folder.path, 'page-queries.ts'), `const text = \`select ${code}\`;\n`);
  const lines = findLongLines(folder.path);
  expect(lines).toHaveLength(found);
  for (const one of lines) expect(one).toMatch(/page\.ts:2: \d+ columns/);
});
