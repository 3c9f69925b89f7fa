import { beforeAll, describe, expect, test } from 'vitest';
import { addPet, type PetBody } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { nextPage, walk } from '../../page-walk.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const key = await store.createKey();

const list = (query: string) => store.call<PetBody[]>('GET', `/v1/pets${query}`, { key: key.key });

/** Animals in a category that no other test uses. */
async function addPets(categoryId: number, count: number): Promise<PetBody[]> {
  const pets: PetBody[] = [];
  for (let i = 0; i < count; i += 1) pets.push(await addPet(store, key, { name: `Animal ${i}`, categoryId }));
  return pets;
}

describe('GET /v1/pets', () => {
  test('of a store without animals is an empty array', async () => {
    expect(await list('')).toMatchObject({ status: 200, text: '[]' });
  });

  test('without a filter returns every status, in ascending order of id', async () => {
    const added: PetBody[] = [];
    for (const status of ['sold', 'available', 'pending'] as const) added.push(await addPet(store, key, { status }));
    expect((await list('')).json).toEqual(added);
  });

  test('filtered by status returns only that status', async () => {
    const [pending] = [await addPet(store, key, { status: 'pending', categoryId: 100 }), await addPet(store, key, { categoryId: 100 })];
    expect((await list('?categoryId=100&status=pending')).json).toEqual([pending]);
  });

  test('filtered by category returns only that category', async () => {
    const [one] = await addPets(101, 1);
    await addPets(102, 1);
    expect((await list('?categoryId=101')).json).toEqual([one]);
  });

  test('filtered by a category beyond 2^53 finds its animals exactly', async () => {
    const raw = '{"name":"Wide","categoryId":9223372036854775807}';
    await store.call('POST', '/v1/pets', { key: key.key, raw });
    const responses = [await list('?categoryId=9223372036854775807'), await list('?categoryId=9223372036854775806')];
    expect(responses.map(({ json }) => json.length)).toEqual([1, 0]);
  });

  test('is a bare array of animals with exactly the documented fields', async () => {
    await addPets(103, 1);
    const { headers, json } = await list('?categoryId=103');
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(json.map((pet) => Object.keys(pet).sort())).toEqual([['categoryId', 'id', 'name', 'status']]);
  });

  test('shows an animal as soon as its creation was acknowledged', async () => {
    for (let i = 0; i < 10; i += 1) {
      const pet = await addPet(store, key);
      expect((await list(`?id=${pet.id}`)).json).toEqual([pet]);
    }
  });

  test('by HEAD has the headers of GET and no body', async () => {
    const [get, head] = [await list('?limit=1'), await store.call('HEAD', '/v1/pets?limit=1', { key: key.key })];
    expect(head).toMatchObject({ status: 200, text: '' });
    for (const name of ['etag', 'link', 'content-type', 'content-length']) expect(head.headers[name]).toBe(get.headers[name]);
  });
});

describe('GET /v1/pets in pages', () => {
  const category = 200;
  let pets: PetBody[];
  beforeAll(async () => {
    pets = await addPets(category, 25);
  });

  test('returns 20 animals without a limit', async () => {
    expect((await list(`?categoryId=${category}`)).json).toEqual(pets.slice(0, 20));
  });

  test.each([1, 24, 100])('returns at most %i animals with that limit', async (limit) => {
    expect((await list(`?categoryId=${category}&limit=${limit}`)).json).toEqual(pets.slice(0, limit));
  });

  test('read page by page shows every animal once, in order', async () => {
    expect(await walk(store, key, `/v1/pets?categoryId=${category}&limit=7`)).toEqual([
      pets.slice(0, 7),
      pets.slice(7, 14),
      pets.slice(14, 21),
      pets.slice(21),
    ]);
  });

  test('has no next link if the last page is exactly full', async () => {
    const { headers, json } = await list(`?categoryId=${category}&limit=25`);
    expect(json).toHaveLength(25);
    expect(headers.link).toBeUndefined();
  });

  test('has a relative link, whatever the request headers say', async () => {
    const { headers } = await store.call('GET', `/v1/pets?categoryId=${category}&limit=1`, {
      key: key.key,
      headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https', forwarded: 'host=evil.example' },
    });
    expect(headers.link).toMatch(/^<\/v1\/pets\?limit=1&categoryId=200&cursor=[\w-]+>; rel="next"$/);
  });

  test('read page by page while animals are added and changed shows each of the others once', async () => {
    const before = await addPets(201, 6);
    const seen: number[] = [];
    let path: string | undefined = '/v1/pets?categoryId=201&limit=2';
    while (path) {
      const page: Awaited<ReturnType<typeof list>> = await store.call('GET', path, { key: key.key });
      seen.push(...page.json.map(({ id }) => id));
      path = nextPage(page);
      if (seen.length < 10) await addPets(201, 1);
    }
    expect(seen.slice(0, before.length)).toEqual(before.map(({ id }) => id));
    expect(new Set(seen).size).toBe(seen.length);
  });

  test('accepts another limit with the same cursor', async () => {
    const path = nextPage(await list(`?categoryId=${category}&limit=5`));
    const { json } = await store.call('GET', path?.replace('limit=5', 'limit=3') ?? '', { key: key.key });
    expect(json).toEqual(pets.slice(5, 8));
  });

  test('has its filters in the link, including several ids', async () => {
    const ids = pets.slice(0, 3).map(({ id }) => id);
    const page = `/v1/pets?limit=1&${ids.map((id) => `id=${id}`).join('&')}`;
    expect(await walk(store, key, page)).toEqual(pets.slice(0, 3).map((pet) => [pet]));
  });

  test.each([
    ['another status', 'categoryId=200&status=sold'],
    ['another category', 'categoryId=1'],
    ['no filter at all', ''],
  ])('with a cursor but %s is 400', async (_, filters) => {
    const cursor = new URLSearchParams(nextPage(await list(`?categoryId=${category}&limit=1`))?.split('?')[1]).get('cursor');
    expect(await list(`?${filters}&cursor=${cursor}`.replace('?&', '?'))).toMatchObject(
      errorResponse(400, 'invalid_cursor', 'for other filters. Start again without a cursor'),
    );
  });

  test.each([
    ['nonsense', 'nonsense'],
    ['an empty one', ''],
    ['one without an id', Buffer.from('abc.12345678').toString('base64url')],
    ['one with a wrong filter hash', Buffer.from('5.12').toString('base64url')],
  ])('with %s as the cursor is 400', async (_, cursor) => {
    expect(await list(`?cursor=${cursor}`)).toMatchObject(errorResponse(400, 'invalid_cursor', 'Follow the Link header'));
  });

  test('with another encoding of a cursor is 400', async () => {
    const path = nextPage(await list(`?categoryId=${category}&limit=1`)) ?? '';
    expect(await store.call('GET', `${path}=`, { key: key.key })).toMatchObject(errorResponse(400, 'invalid_cursor', 'Link header'));
  });
});

describe('GET /v1/pets by ids', () => {
  test('returns those animals in order of id, whatever the order in the query', async () => {
    const [a, b] = await addPets(300, 2);
    expect((await list(`?id=${b?.id}&id=${a?.id}`)).json).toEqual([a, b]);
  });

  test('omits ids that do not exist', async () => {
    const [pet] = await addPets(301, 1);
    expect((await list(`?id=${pet?.id}&id=9007199254740991&id=-1`)).json).toEqual([pet]);
  });

  test('with the same id twice returns the animal once', async () => {
    const [pet] = await addPets(302, 1);
    expect((await list(`?id=${pet?.id}&id=${pet?.id}`)).json).toEqual([pet]);
  });

  test('together with a status returns only animals that match both', async () => {
    const [pet] = await addPets(303, 1);
    expect((await list(`?id=${pet?.id}&status=sold`)).json).toEqual([]);
  });

  test('still has pages of 20 without a limit', async () => {
    const ids = (await addPets(304, 21)).map(({ id }) => id);
    const query = `?${ids.map((id) => `id=${id}`).join('&')}`;
    expect((await list(query)).json.map(({ id }) => id)).toEqual(ids.slice(0, 20));
    expect(nextPage(await list(query))).toContain(`&id=${ids.at(-1)}&`);
  });

  test('accepts 100 ids', async () => {
    expect((await list(`?${Array.from({ length: 100 }, (_, i) => `id=${i}`).join('&')}`)).status).toBe(200);
  });

  test('rejects 101 ids', async () => {
    const query = `?${Array.from({ length: 101 }, (_, i) => `id=${i}`).join('&')}`;
    expect(await list(query)).toMatchObject(errorResponse(400, 'invalid_query', 'id must be given at most 100 times'));
  });

  test.each(['abc', '', '1.5', '01', '9223372036854775808'])('with "%s" as an id is 400 and shows it', async (id) => {
    expect(await list(`?id=1&id=${id}`)).toMatchObject(errorResponse(400, 'invalid_query', `id must be an integer (int64); got "${id}".`));
  });
});

describe('GET /v1/pets with an invalid parameter', () => {
  test.each(['0', '101', '-1'])('limit=%s is 400 and names the range', async (limit) => {
    expect(await list(`?limit=${limit}`)).toMatchObject(
      errorResponse(400, 'invalid_query', `limit must be an integer from 1 to 100; got ${limit}.`),
    );
  });

  test.each(['abc', '', '1.5', '1e1', '%205', '%2B5', '007', '99999999999999999999'])(
    'limit=%s is 400 and shows what was sent',
    async (limit) => {
      expect(await list(`?limit=${limit}`)).toMatchObject(errorResponse(400, 'invalid_query', `got "${decodeURIComponent(limit)}".`));
    },
  );

  test('limit=9223372036854775807 is 400 and shows every digit', async () => {
    expect(await list('?limit=9223372036854775807')).toMatchObject(errorResponse(400, 'invalid_query', '9223372036854775807'));
  });

  test.each(['adopted', '', 'Available', 'available,sold'])('status=%s is 400 and names the values', async (status) => {
    expect(await list(`?status=${status}`)).toMatchObject(
      errorResponse(400, 'invalid_query', `status must be one of available, pending, sold; got "${status}".`),
    );
  });

  test.each(['categoryId=dogs', 'categoryId=', 'categoryId=1.0'])('%s is 400', async (query) => {
    expect(await list(`?${query}`)).toMatchObject(errorResponse(400, 'invalid_query', 'categoryId must be an integer (int64)'));
  });

  test.each(['limit=5&limit=5', 'status=sold&status=sold', 'categoryId=1&categoryId=1', 'cursor=a&cursor=a'])(
    '%s is 400: given twice',
    async (query) => {
      expect(await list(`?${query}`)).toMatchObject(
        errorResponse(400, 'invalid_query', `${query.split('=')[0]} is given 2 times; give it once.`),
      );
    },
  );

  test.each(['flavour', '__proto__', 'constructor', 'toString', ''])(
    'the unknown parameter "%s" is 400, named beside those that it takes',
    async (name) => {
      expect(await list(`?${name}=1`)).toMatchObject(
        errorResponse(
          400,
          'invalid_query',
          `Unknown query parameter "${name}". This operation takes limit, cursor, status, categoryId, id.`,
        ),
      );
    },
  );

  test('an unknown parameter of any length is shown truncated', async () => {
    const { json } = await store.call<{ message: string }>('GET', `/v1/pets?${'x'.repeat(5_000)}=1`, { key: key.key });
    expect(json.message.length).toBeLessThan(200);
  });
});
