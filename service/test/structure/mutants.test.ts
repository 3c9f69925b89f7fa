// Most mutants run at night only, and most proofs there or where their files changed. That these files, and the lines that mutants change, are there.
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

const proofs = globSync('proofs/**/*.ts', { cwd: root }).flatMap((file) => {
  const [, name, rest = ''] = /: Proof = \{\n {2}name: '([^']+)',(.*?)\n\};/s.exec(read(file)) ?? [];
  const [, about = ''] = /\n {2}about: \[(.*?)\]/s.exec(rest) ?? [];
  const paths = [...about.matchAll(/'([^']+)'/g)].map(([, path_ = '']) => path_);
  return name ? [{ name, isNightly: rest.includes('isNightly: true'), hasAbout: rest.includes('\n  about: '), paths }] : [];
});

test('what a proof is about is there', () => {
  expect(proofs.flatMap(({ paths }) => paths).filter((one) => !existsSync(path.join(root, one)))).toEqual([]);
});

test('docs/promises.md says when each proof runs', () => {
  const [, always = '', changed = '', nightly = ''] = read('docs/promises.md').split(
    /^- \*\*(?:On every push|There too|Only at night|Every night)/m,
  );
  const named = (text: string) => [...(text.split('`npm run')[0] ?? '').matchAll(/`([a-z-]+)`/g)].map(([, name]) => name);
  const names = (...chosen: typeof proofs) => chosen.map(({ name }) => name).sort();
  expect({
    always: [...new Set(named(always))].sort(),
    changed: named(changed).sort(),
    nightly: named(nightly).sort(),
  }).toEqual({
    always: names(...proofs.filter(({ isNightly }) => !isNightly)),
    changed: names(...proofs.filter(({ isNightly, hasAbout }) => isNightly && hasAbout)),
    nightly: names(...proofs.filter(({ isNightly, hasAbout }) => isNightly && !hasAbout)),
  });
});
