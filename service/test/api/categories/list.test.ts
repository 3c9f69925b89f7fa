import { describe, expect, test } from 'vitest';
import { addPet, createManager } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { nextPage, walk } from '../../page-walk.ts';
import { createTestStore, openTestStore, type TestResponse } from '../../test-store.ts';

interface Category {
  readonly id: number;
  readonly name?: string;
}

const seeded = ['Dogs', 'Cats', 'Rabbits', 'Birds', 'Small animals', 'Reptiles', 'Fish', 'Horses', 'Farm animals', 'Other'].map(
  (name, i): Category => ({ id: i + 1, name }),
);

const store = await openTestStore();
const key = await store.createKey();

const list = (query: string) => store.call<unknown[]>('GET', `/v1/categories${query}`, { key: key.key });

describe('GET /v1/categories', () => {
  test('of a new store returns the default categories', async () => {
    expect(await list('')).toMatchObject({ status: 200, json: seeded });
  });

  test('read page by page shows every category once, in order', async () => {
    expect(await walk(store, key, '/v1/categories?limit=4')).toEqual([seeded.slice(0, 4), seeded.slice(4, 8), seeded.slice(8)]);
  });

  test('shows a category registered by an animal after those with a name, whatever its id', async () => {
    await addPet(store, key, { categoryId: -5 });
    await addPet(store, key, { categoryId: 5_000 });
    expect((await list('')).json).toEqual([...seeded, { id: -5 }, { id: 5_000 }]);
  });

  test('read from the smallest id on misses none', async () => {
    await store.call('POST', '/v1/pets', { key: key.key, raw: '{"name":"A","categoryId":-9223372036854775808}' });
    const pages = await walk(store, key, '/v1/categories?limit=1');
    expect(pages.flat()).toEqual([...seeded, { id: Number('-9223372036854775808') }, { id: -5 }, { id: 5_000 }]);
  });

  test.each(['limit=0', 'limit=101', 'name=Dogs', 'limit=1&limit=1'])('with %s is 400', async (query) => {
    expect(await list(`?${query}`)).toMatchObject(errorResponse(400, 'invalid_query', query.split('=')[0]));
  });

  test('with a cursor from elsewhere is 400', async () => {
    expect(await list('?cursor=abc')).toMatchObject(errorResponse(400, 'invalid_cursor', 'Follow the Link header'));
  });

  test('with a cursor of 1.0.0, which contains only an id, continues without losing any category', async () => {
    const made = Buffer.from('8.T1PNoYwr').toString('base64url');
    const next = await list(`?cursor=${made}`);
    expect(next).toMatchObject({ status: 200 });
    expect(next.json).toEqual([seeded[8], seeded[9], { id: Number('-9223372036854775808') }, { id: -5 }, { id: 5_000 }]);
  });

  test('returns a cursor for the categories without a name that no other list accepts', async () => {
    const cursor = new URLSearchParams(nextPage(await list('?limit=11'))?.split('?')[1]).get('cursor');
    expect((await list(`?cursor=${cursor}`)).json).toEqual([{ id: -5 }, { id: 5_000 }]);
    for (const path of ['/v1/pets', '/v1/store/orders', '/v1/webhooks', '/v1/events']) {
      expect(await store.call('GET', `${path}?cursor=${cursor}`, { key: key.key })).toMatchObject(errorResponse(400, 'invalid_cursor'));
    }
  });

  test('without the scope pets:read is 403', async () => {
    const other = await store.createKey({ scopes: ['orders:read'] });
    expect(await store.call('GET', '/v1/categories', { key: other.key })).toMatchObject(
      errorResponse(403, 'insufficient_scope', 'needs the scope pets:read; this key has orders:read.'),
    );
  });
});

describe('GET /v1/categories while others add categories', () => {
  test('100 animals with negative categories do not push named categories off the first page', async () => {
    await using shared = await createTestStore();
    const partner = await shared.createKey();
    for (let i = 1; i <= 100; i += 1) await addPet(shared, partner, { categoryId: -i });
    const first = await shared.call<unknown[]>('GET', '/v1/categories', { key: partner.key });
    expect(first.json.slice(0, seeded.length)).toEqual(seeded);
    expect((await walk(shared, partner, '/v1/categories?limit=7')).flat()).toHaveLength(110);
  });

  test('shows every unchanged category once, even if others are named, removed and registered between the pages', async () => {
    await using shared = await createTestStore();
    const [partner, manager] = [await shared.createKey(), await createManager(shared)];
    await shared.write('insert into categories (id) select generate_series(-14, 0)');
    const staying = [-12, -9, -6, -3, 0];
    const changing = [-14, -13, -11, -10, -8, -7, -5, -4, -2, -1];
    const changes: number[] = [];
    /** Names or removes the last category of the page, or the next one. */
    const changeNear = async (id: number) => {
      const due = changing.find((one) => one >= id);
      if (due === undefined || id > 0) return;
      changing.splice(changing.indexOf(due), 1);
      const [method, body] = due % 2 === 0 ? (['PUT', { name: `Named ${due}` }] as const) : (['DELETE', undefined] as const);
      changes.push((await shared.call(method, `/v1/categories/${due}`, { key: manager.key, body })).status);
    };
    const seen: number[] = [];
    for (let path: string | undefined = '/v1/categories?limit=1'; path; ) {
      const page: TestResponse<Category[]> = await shared.call('GET', path, { key: partner.key });
      const id = page.json[0]?.id ?? Number.NaN;
      seen.push(id);
      await changeNear(id);
      if (id === -9) await addPet(shared, partner, { categoryId: 777 });
      path = nextPage(page);
    }
    expect({ changing, changes: changes.sort() }).toEqual({ changing: [], changes: [...Array(5).fill(200), ...Array(5).fill(204)] });
    expect(seen.filter((id) => staying.includes(id))).toEqual(staying);
    expect(seen.slice(0, seeded.length)).toEqual(seeded.map(({ id }) => id));
    expect(seen.at(-1)).toBe(777);
    expect(new Set(seen).size).toBe(seen.length);
  });
});
