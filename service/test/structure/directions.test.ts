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
  const { status, stdout } = spawnSync(depcruise, ['--config', config, 'service'], { cwd: folder, encoding: 'utf8', timeout: 120_000 });
  return { status, output: stdout };
}

const imports = (what: string, from: string) => `import ${what} from '${from}';\nexport const own = 1;\nexport type Own = 1;\n`;
const leaf = 'export const own = 1;\nexport type Own = 1;\n';

describe('The check of import directions', () => {
  test('accepts imports that point down, within a wing and between wings', () => {
    const { status, output } = check({
      'adoption/orders/orders.ts': imports('{ own as pet }', '../../animals/pets/pets.ts'),
      'animals/pets/pets.ts': imports('{ own as event }', '../../changes/events/events.ts'),
      'changes/events/events.ts': leaf,
    });
    expect(output).toContain('no dependency violations');
    expect(status).toBe(0);
  });

  test('fails on each arrow back, of a value and of a type, and on a folder that is in no wing', () => {
    const arrows = {
      'up-from-changes': ['changes/events/events.ts', '../../animals/pets/pets.ts'],
      'up-from-platform': ['platform/http/paging.ts', '../../access/clients/clients.ts'],
      'up-from-domain': ['domain/scopes.ts', '../platform/errors.ts'],
      'up-from-animals-pets': ['animals/pets/pets.ts', '../profiles/profiles.ts'],
      'up-from-animals': ['animals/categories/categories.ts', '../../adoption/orders/orders.ts'],
      'images-know-no-store': ['images/image-types.ts', '../access/clients/clients.ts'],
      'folder-without-floor': ['vets/vets.ts', '../domain/leaf.ts'],
    } as const;
    const leaves = [
      'adoption/orders/orders.ts',
      'animals/profiles/profiles.ts',
      'access/clients/clients.ts',
      'platform/errors.ts',
      'domain/leaf.ts',
    ];
    const byValue = Object.values(arrows).map(([from, to]) => [from, imports('{ own as other }', to)] as const);
    const byType = Object.values(arrows).map(([from, to]) => [typesOf(from), imports('type { Own as Other }', to)] as const);
    const { status, output } = check(Object.fromEntries([...leaves.map((file) => [file, leaf] as const), ...byValue, ...byType]));
    for (const [rule, [from]] of Object.entries(arrows))
      for (const file of [from, typesOf(from)]) expect(output).toContain(`${rule}: service/src/${file} `);
    expect(status).not.toBe(0);
  });
});

/** A file beside it, for the arrow of types. */
const typesOf = (file: string) => file.replace('.ts', '-types.ts');
