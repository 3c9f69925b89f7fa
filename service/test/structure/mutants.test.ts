// Most mutants run at night only. That each still finds the lines that it changes is checked here.
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const literal = String.raw`('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|${'`'}[^${'`'}$]*${'`'})`;
const edit = new RegExp(String.raw`file:\s*${literal},\s*from:\s*${literal},`, 'g');
const unquoted = (text: string) => text.slice(1, -1).replace(/\\(.)/gs, (_, character) => (character === 'n' ? '\n' : character));

const edits = globSync('{proofs,testkit}/**/*.ts', { cwd: root }).flatMap((proof) =>
  [...read(proof).matchAll(edit)].map(([, file = "''", from = "''"]) => [proof, unquoted(file), unquoted(from)] as const),
);

test('there are mutants', () => {
  expect(edits.length).toBeGreaterThan(40);
});

const folders = ['service/src', 'service', 'deploy', '.'];

test.each(edits.filter(([, file]) => !file.startsWith('docs-site/')))('of %s, in %s: %j is there once', (_, file, from) => {
  const folder = folders.find((one) => existsSync(path.join(root, one, file))) ?? '';
  expect(read(path.join(folder, file)).split(from)).toHaveLength(2);
});
