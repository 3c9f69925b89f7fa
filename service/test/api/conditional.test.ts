import { describe, expect, test } from 'vitest';
import { addPet, createManager, readPet } from '../adoption-steps.ts';
import { errorResponse } from '../error-response.ts';
import { openTestStore } from '../test-store.ts';

const store = await openTestStore();
const [key, manager] = [await store.createKey(), await createManager(store)];

const get = (path: string, headers: Record<string, string> = {}) => store.call('GET', path, { key: key.key, headers });
const change = (id: number, body: unknown, headers: Record<string, string> = {}) =>
  store.call('PATCH', `/v1/pets/${id}`, { key: manager.key, body, headers });
const etagOf = async (path: string) => (await get(path)).headers.etag ?? '';

describe('A read', () => {
  test.each(['/v1/pets', '/v1/categories', '/v1/store/orders'])('of %s has an ETag, and may only be cached privately', async (path) => {
    expect((await get(path)).headers).toMatchObject({
      etag: expect.stringMatching(/^"[\w-]{22}"$/),
      'cache-control': 'private, no-cache',
    });
  });

  test('with the current ETag is 304 without a body', async () => {
    await addPet(store, key);
    const etag = await etagOf('/v1/pets');
    const { status, text, headers } = await get('/v1/pets', { 'if-none-match': etag });
    expect({ status, text }).toEqual({ status: 304, text: '' });
    expect(headers).toMatchObject({ etag, 'cache-control': 'private, no-cache', 'x-ratelimit-limit': '1000000' });
    expect(headers['content-type']).toBeUndefined();
  });

  test.each([
    ['a weak form of it', (etag: string) => `W/${etag}`],
    ['it among others', (etag: string) => `"a", ${etag}, "b"`],
    ['any', () => '*'],
  ])('with %s is 304', async (_, write) => {
    expect((await get('/v1/pets', { 'if-none-match': write(await etagOf('/v1/pets')) })).status).toBe(304);
  });

  test('with another ETag is 200', async () => {
    expect((await get('/v1/pets', { 'if-none-match': '"another"' })).status).toBe(200);
  });

  test('by HEAD with the current ETag is 304', async () => {
    const etag = await etagOf('/v1/pets');
    const response = await store.call('HEAD', '/v1/pets', { key: key.key, headers: { 'if-none-match': etag } });
    expect(response).toMatchObject({ status: 304, text: '', headers: { etag } });
  });

  test('that is 304 counts as a request', async () => {
    const poor = await store.createKey({ plan: { perMinute: 100_000, perDay: 1_000 } });
    const [first, second] = [
      await store.call('GET', '/v1/pets', { key: poor.key }),
      await store.call('GET', '/v1/pets', { key: poor.key, headers: { 'if-none-match': '*' } }),
    ];
    expect(second.status).toBe(304);
    expect([first, second].map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['999', '998']);
  });

  test('that is rejected never becomes 304', async () => {
    expect((await get('/v1/pets?limit=0', { 'if-none-match': '*' })).status).toBe(400);
  });
});

describe('The ETag of a page', () => {
  test('is stable while the page is unchanged, and changes with it', async () => {
    const { id } = await addPet(store, key, { categoryId: 100 });
    const path = '/v1/pets?categoryId=100';
    const etag = await etagOf(path);
    expect(await etagOf(path)).toBe(etag);
    await change(id, { name: 'Changed' });
    expect(await etagOf(path)).not.toBe(etag);
  });

  test('changes with the links, even if the animals are the same', async () => {
    await addPet(store, key, { categoryId: 101 });
    const path = '/v1/pets?categoryId=101&limit=1';
    const before = await get(path);
    await addPet(store, key, { categoryId: 101 });
    const after = await get(path);
    expect(after.text).toBe(before.text);
    expect(after.headers.etag).not.toBe(before.headers.etag);
  });
});

describe('The ETag of one animal', () => {
  test('is the same on creation, on reading it, and on a page with only its id', async () => {
    const created = await store.call<{ id: number }>('POST', '/v1/pets', { key: key.key, body: { name: 'A', categoryId: 1 } });
    const { id } = created.json;
    const etags = [created.headers.etag, await etagOf(`/v1/pets/${id}`), await etagOf(`/v1/pets?id=${id}`)];
    expect(etags).toEqual(Array(3).fill(expect.stringMatching(/^"[\w-]{22}"$/)));
    expect(new Set(etags).size).toBe(1);
  });

  test('is returned by PATCH with its new value', async () => {
    const { id } = await addPet(store, key);
    const before = await etagOf(`/v1/pets?id=${id}`);
    const { headers } = await change(id, { name: 'New' });
    expect(headers.etag).not.toBe(before);
    expect(headers.etag).toBe(await etagOf(`/v1/pets?id=${id}`));
  });

  test('differs from the ETag of a page for two ids of which one does not exist', async () => {
    const { id } = await addPet(store, key);
    expect(await etagOf(`/v1/pets?id=${id}&id=999999`)).not.toBe(await etagOf(`/v1/pets?id=${id}`));
  });

  test('is the former one again after a change was undone', async () => {
    const { id } = await addPet(store, key);
    const before = await etagOf(`/v1/pets?id=${id}`);
    await change(id, { name: 'Other' });
    expect((await change(id, { name: 'Biscuit' })).headers.etag).toBe(before);
  });
});

describe('If-Match', () => {
  test('with the current ETag: PATCH is 200', async () => {
    const { id } = await addPet(store, key);
    expect((await change(id, { name: 'New' }, { 'if-match': await etagOf(`/v1/pets?id=${id}`) })).status).toBe(200);
  });

  test('with a stale ETag: PATCH is 412, shows the current ETag and changes nothing', async () => {
    const { id } = await addPet(store, key);
    const stale = await etagOf(`/v1/pets?id=${id}`);
    await change(id, { name: 'Meanwhile' });
    const present = await etagOf(`/v1/pets?id=${id}`);
    expect(await change(id, { name: 'Late' }, { 'if-match': stale })).toMatchObject(
      errorResponse(412, 'precondition_failed', `Meanwhile (id ${id}) has changed: its ETag is now ${present}.`),
    );
    expect((await readPet(store, key, id))?.name).toBe('Meanwhile');
  });

  test('with *: PATCH is 200', async () => {
    const { id } = await addPet(store, key);
    expect((await change(id, { name: 'New' }, { 'if-match': '*' })).status).toBe(200);
  });

  test('with a weak ETag: PATCH is 412, since a change needs a strong comparison', async () => {
    const { id } = await addPet(store, key);
    expect((await change(id, { name: 'New' }, { 'if-match': `W/${await etagOf(`/v1/pets?id=${id}`)}` })).status).toBe(412);
  });

  test('that is absent: PATCH is 200', async () => {
    const { id } = await addPet(store, key);
    expect((await change(id, { name: 'New' })).status).toBe(200);
  });

  test('for an animal that does not exist: PATCH is 404', async () => {
    expect(await change(999_999, { name: 'New' }, { 'if-match': '*' })).toMatchObject(errorResponse(404, 'pet_not_found'));
  });

  test('with a stale ETag: DELETE is 412 and removes nothing', async () => {
    const { id } = await addPet(store, key);
    const response = await store.call('DELETE', `/v1/pets/${id}`, { key: manager.key, headers: { 'if-match': '"stale"' } });
    expect(response).toMatchObject(errorResponse(412, 'precondition_failed', 'Read it again'));
    expect(await readPet(store, key, id)).toBeDefined();
  });

  test('with the same ETag in two concurrent requests: one PATCH is 200, the other 412', async () => {
    const { id } = await addPet(store, key);
    const etag = await etagOf(`/v1/pets?id=${id}`);
    const responses = await Promise.all(['One', 'Two'].map((name) => change(id, { name }, { 'if-match': etag })));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 412]);
  });
});
