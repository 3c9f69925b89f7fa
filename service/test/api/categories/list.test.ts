import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addPet } from '../../adoption-steps.ts';
import { walk } from '../../page-walk.ts';
import { refusal } from '../../refusal.ts';
import { createTestStore, type TestKey, type TestStore } from '../../test-store.ts';

const seeded = ['Dogs', 'Cats', 'Rabbits', 'Birds', 'Small animals', 'Reptiles', 'Fish', 'Horses', 'Farm animals', 'Other'].map(
  (name, i) => ({ id: i + 1, name }),
);

let store: TestStore;
let key: TestKey;
beforeAll(async () => {
  store = await createTestStore();
  key = await store.createKey();
});
afterAll(() => store[Symbol.asyncDispose]());

const list = (query: string) => store.call<unknown[]>('GET', `/v1/categories${query}`, { key: key.key });

describe('GET /v1/categories', () => {
  test('of a new store has the common categories', async () => {
    expect(await list('')).toMatchObject({ status: 200, json: seeded });
  });

  test('walked by its links shows every category once, in order', async () => {
    expect(await walk(store, key, '/v1/categories?limit=4')).toEqual([seeded.slice(0, 4), seeded.slice(4, 8), seeded.slice(8)]);
  });

  test('shows a category that an animal registered, without a name and in order of id', async () => {
    await addPet(store, key, { categoryId: -5 });
    expect((await list('')).json).toEqual([{ id: -5 }, ...seeded]);
  });

  test('walked from the smallest id on misses none', async () => {
    await store.call('POST', '/v1/pets', { key: key.key, raw: '{"name":"A","categoryId":-9223372036854775808}' });
    const pages = await walk(store, key, '/v1/categories?limit=1');
    expect(pages.flat()).toEqual([{ id: Number('-9223372036854775808') }, { id: -5 }, ...seeded]);
  });

  test.each(['limit=0', 'limit=101', 'name=Dogs', 'limit=1&limit=1'])('with %s is 400', async (query) => {
    expect(await list(`?${query}`)).toMatchObject(refusal(400, 'invalid_query', query.split('=')[0]));
  });

  test('with a cursor that it did not make is 400', async () => {
    expect(await list('?cursor=abc')).toMatchObject(refusal(400, 'invalid_cursor', 'Follow the Link header'));
  });

  test('without the scope pets:read is 403', async () => {
    const other = await store.createKey({ scopes: ['orders:read'] });
    expect(await store.call('GET', '/v1/categories', { key: other.key })).toMatchObject(
      refusal(403, 'insufficient_scope', 'needs the scope pets:read; this key has orders:read.'),
    );
  });
});
