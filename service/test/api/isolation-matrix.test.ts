// The proof `isolation` calls every operation of its matrix with every kind of key. This test compares the matrix with the routes.
import { describe, expect, test } from 'vitest';
import { type ApiPaths, differencesFrom, matrix } from '../../../testkit/isolation-matrix.ts';
import { createApp } from '../../src/app.ts';
import { openTestStore } from '../test-store.ts';

const store = await openTestStore();
const document = (await store.call<ApiPaths>('GET', '/openapi.json')).json;

describe('the matrix of scopes', () => {
  test('has every documented operation, with its scope, and no other', () => {
    expect(differencesFrom(document)).toEqual([]);
  });

  test('reports what is missing, what was removed, and what needs another scope', () => {
    const { '/pets': pets, ...others } = document.paths;
    const { get, ...rest } = pets ?? {};
    const altered = { ...others, '/pets': rest, '/secrets': { get: {} }, '/categories': { get: { 'x-scope': 'pets:write' } } };
    expect(get).toBeDefined();
    expect(differencesFrom({ paths: altered })).toEqual([
      'get /secrets is not in the matrix',
      'get /pets does not exist',
      'get /categories needs pets:write, not pets:read',
    ]);
  });

  test('has every path that is routed below /v1, whether or not it is documented', async () => {
    const { server } = await createApp(store.dependencies);
    await server.ready();
    const routed = pathsIn(server.printRoutes({ commonPrefix: false })).filter((path) => path.startsWith('/v1/'));
    await server.close();
    const listed = Object.keys(matrix).map((operation) => `/v1${operation.split(' ')[1]}`);
    expect(routed.sort()).toEqual([...new Set(listed)].sort());
  });

  test('has every method of every path: with a key without scopes these are 403, unless any key may call them, and all others 405', async () => {
    const { key } = await store.createKey({ scopes: [] });
    const outcomes: Record<string, number> = {};
    const expected: Record<string, number> = {};
    for (const path of Object.keys(document.paths)) {
      for (const method of ['get', 'post', 'put', 'patch', 'delete']) {
        const operation = `${method} ${path}`;
        const { status } = await store.call(method.toUpperCase(), `/v1${path.replaceAll(/\{\w+\}/g, '1')}`, { key });
        outcomes[operation] = status;
        const row = matrix[operation];
        expected[operation] = row ? (row.scope === 'no scope' ? row.allowed : 403) : 405;
      }
    }
    expect(outcomes).toEqual(expected);
  });
});

/** Converts the tree that Fastify prints to full paths with {name} for :name. Each level is four characters deep. */
function pathsIn(tree: string): string[] {
  const above: string[] = [];
  return tree.split('\n').flatMap((line) => {
    const [, branch = '', part = ''] = /^(.*[├└]── )(\S+)/.exec(line) ?? [];
    if (!branch) return [];
    const depth = branch.length / 4 - 1;
    above.splice(depth, Number.POSITIVE_INFINITY, part);
    return line.includes('(') ? [above.join('').replaceAll(/:(\w+)/g, '{$1}')] : [];
  });
}
