import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../..');
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'homeward-directions-'));
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Checks a service that consists of only these files, with the rules of this repository. */
function check(files: Record<string, string>) {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, 'service/src', name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  writeFileSync(path.join(folder, 'tsconfig.json'), '{}');
  const config = path.join(root, '.dependency-cruiser.mjs');
  const depcruise = path.join(root, 'node_modules/.bin/depcruise');
  const { status, stdout } = spawnSync(depcruise, ['--config', config, 'service'], { cwd: folder, encoding: 'utf8', timeout: 30_000 });
  return { status, output: stdout };
}

const orders = { 'orders/orders.ts': "import { pet } from '../pets/pets.ts';\nexport const order = { pet };\n" };

describe('The check of import directions', () => {
  test('accepts imports that point down', () => {
    const { status, output } = check({ ...orders, 'pets/pets.ts': 'export const pet = 1;\n' });
    expect(output).toContain('no dependency violations');
    expect(status).toBe(0);
  });

  test.each([
    ['a cycle between two folders', "import { order } from '../orders/other.ts';\nexport const pet = order;\n", 'up-from-pets'],
    ['a cycle of type imports', "import type { Order } from '../orders/other.ts';\nexport const pet: Order = 1;\n", 'up-from-pets'],
  ])('fails on %s', (_, pets, rule) => {
    const other = { 'orders/other.ts': 'export type Order = number;\nexport const order = 1;\n' };
    const { status, output } = check({ ...orders, ...other, 'pets/pets.ts': pets });
    expect(output).toContain(rule);
    expect(status).not.toBe(0);
  });

  test('fails on a folder that is not in the rules', () => {
    const { status, output } = check({
      'pets/pets.ts': 'export const pet = 1;\n',
      'vets/vets.ts': "import { pet } from '../pets/pets.ts';\nexport const vet = pet;\n",
    });
    expect(output).toContain('folder-without-floor');
    expect(status).not.toBe(0);
  });
});
