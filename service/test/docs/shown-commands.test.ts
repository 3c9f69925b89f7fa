// Each npm command that a document shows is run at night in a small form, or there is a reason why not: npm run check -- --only shown-commands

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { formOf, forms, shownCommands, smallForms } from '../../../tools/shown-commands.ts';

const keysOf = (file: string, start: RegExp) => {
  const table = start.exec(readFileSync(file, 'utf8'))?.[0] ?? '';
  return [...table.matchAll(/^ {2}'?([\w-]+)'?: (?:async )?\(\) =>/gm)].map(([, name = '']) => name);
};

test('each has a small form, or a reason', () => {
  expect(shownCommands().length).toBeGreaterThan(60);
  expect(shownCommands().filter((shown) => !formOf(shown))).toEqual([]);
});

test('each form is that of a command: of one that is shown, or of a scenario of the bench', () => {
  const scenarios = keysOf('bench/bench.ts', /^const parts.*?^};/ms).map((name) => `npm run bench -- ${name}`);
  expect(scenarios.length).toBeGreaterThan(10);
  expect(scenarios.filter((start) => !(start in forms))).toEqual([]);
  const used = new Set([...shownCommands(), ...scenarios].map(formOf));
  expect(Object.entries(forms).flatMap(([start, form]) => (used.has(form) ? [] : [start]))).toEqual([]);
});

test('options come after those that are shown, and a scenario that no document shows is run too', () => {
  const lines = [...smallForms().keys()];
  expect(lines).toContain('npm run bench -- cost --base HEAD~1 --bar 1.05 --base HEAD --rounds 1 --lists 10 --orders 2 --json');
  expect(lines).toContain('npm run bench -- --seconds 1 --rounds 1 --json');
  expect(lines).toContain('npm run bench -- telemetry --base HEAD --rounds 1 --lists 10 --json');
  expect(lines).toContain('npm run prove');
  expect(lines.filter((line) => line.startsWith('npm run dev') || line.startsWith('npm run prove -- '))).toEqual([]);
});

test('a command without a form is found', () => {
  expect(formOf('npm run invented -- --fast')).toBeUndefined();
  expect(formOf('npm run benches')).toBeUndefined();
});

test('each proof that a document names exists', () => {
  const proofs = keysOf('proofs/prove.ts', /^const loaders.*?^};/ms);
  const named = shownCommands().flatMap((shown) => /^npm run prove -- ([a-z][\w-]*)/.exec(shown)?.[1] ?? []);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !proofs.includes(name))).toEqual([]);
});
