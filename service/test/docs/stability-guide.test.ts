// docs/guides/stability.md has the stability of each operation and the deprecations. They must match openapi.json and the program.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createTestStore } from '../test-store.ts';
import { fencedBlocks } from './fenced-blocks.ts';

const guide = readFileSync(new URL('../../../docs/guides/stability.md', import.meta.url), 'utf8');

interface Operation {
  readonly deprecated?: boolean;
  readonly 'x-stability'?: string;
  readonly 'x-sunset'?: string;
}
const { paths } = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
};
const operations = Object.entries(paths).flatMap(([url, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} /v1${url}`, url: `/v1${url}`, operation })),
);

describe('docs/guides/stability.md', () => {
  test('has the level of each operation', () => {
    const rows = [...guide.matchAll(/^\| (`.*) \| (stable|beta|experimental)\b.* \|$/gm)].map(([, cell = '', level]) => ({
      names: [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
      reaches: cell.includes('and everything below it'),
      level,
    }));
    const levelOf = ({ name, url }: { name: string; url: string }) =>
      rows.filter(
        ({ names, reaches }) => names.includes(name) || names.includes(url) || (reaches && names.some((one) => url.startsWith(`${one}/`))),
      );
    const documented = operations.map((one) => [one.name, levelOf(one).map(({ level }) => level)]);
    expect(documented).toEqual(operations.map(({ name, operation }) => [name, [operation['x-stability'] ?? 'stable']]));
  });

  test('names the only deprecated operation, and its date', () => {
    const deprecated = operations.filter(({ operation }) => operation.deprecated);
    expect(deprecated.map(({ name, operation }) => [name, operation['x-sunset']])).toEqual([['GET /v1/pets/{petId}', '2030-12-05']]);
    expect(guide).toContain('**`GET /v1/pets/{petId}`, since 15 November 2026. It is removed on 5 December 2030**');
  });

  test('shows what the operation returns from that date on', async () => {
    await using store = await createTestStore({ clock: { now: () => Date.parse('2030-12-05T00:00:00Z') } });
    const { key } = await store.createKey();
    const [shown] = fencedBlocks(guide).filter(({ text }) => text.includes('operation_removed'));
    expect((await store.call('GET', '/v1/pets/1', { key })).text).toBe(shown?.text.trim());
  });
});
