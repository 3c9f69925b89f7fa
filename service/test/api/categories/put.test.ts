import { describe, expect, test } from 'vitest';
import { addPet, createManager } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { createTestStore, openTestStore } from '../../test-store.ts';

const store = await openTestStore({ env: { HOMEWARD_CATEGORIES: 'closed' } });
const manager = await createManager(store);

const put = (id: string | number, body: unknown) => store.call('PUT', `/v1/categories/${id}`, { key: manager.key, body });
const list = async () => (await store.call<unknown[]>('GET', '/v1/categories?limit=100', { key: manager.key })).json;

describe('PUT /v1/categories/{categoryId}', () => {
  test('of a new id is 201 and creates the category', async () => {
    expect(await put(20, { name: 'Ferrets' })).toMatchObject({ status: 201, json: { id: 20, name: 'Ferrets' } });
    expect(await list()).toContainEqual({ id: 20, name: 'Ferrets' });
  });

  test('of an existing id is 200 and renames the category', async () => {
    expect(await put(10, { name: 'Others' })).toMatchObject({ status: 200, json: { id: 10, name: 'Others' } });
    expect(await list()).toContainEqual({ id: 10, name: 'Others' });
  });

  test('names a category that was registered by an animal', async () => {
    await using open = await createTestStore();
    const staff = await createManager(open);
    await addPet(open, staff, { categoryId: 77 });
    const response = await open.call('PUT', '/v1/categories/77', { key: staff.key, body: { name: 'Llamas' } });
    expect(response).toMatchObject({ status: 200, json: { id: 77, name: 'Llamas' } });
  });

  test('again with the same name is 200 and changes nothing', async () => {
    await put(21, { name: 'Mice' });
    expect(await put(21, { name: 'Mice' })).toMatchObject({ status: 200, json: { id: 21, name: 'Mice' } });
  });

  test('creates a category for animals in a store with a closed list', async () => {
    await put(22, { name: 'Goats' });
    expect((await addPet(store, manager, { categoryId: 22 })).categoryId).toBe(22);
  });

  test.each(['9223372036854775807', '-9223372036854775808', '0'])('accepts %s as an id, exactly', async (id) => {
    const { status, text } = await put(id, { name: 'Wide' });
    expect({ status, text }).toEqual({ status: 201, text: `{"id":${id},"name":"Wide"}` });
  });

  test.each(['abc', '1.0', '01', '9223372036854775808'])('with %s, which is not an int64, is 404', async (id) => {
    expect(await put(id, { name: 'A' })).toMatchObject(
      errorResponse(404, 'route_not_found', `The id of a category must be an int64; got "${id}".`),
    );
  });

  test.each([
    ['a blank name', { name: ' ' }, 'name must be a string of 1–200 characters'],
    ['a name of 201 characters', { name: 'x'.repeat(201) }, 'name must be a string of 1–200 characters'],
    ['a name with an override', { name: 'Dogs\u202estaC' }, 'got "Dogs\\u202estaC". It contains U+202E.'],
    ['a name with a control character beyond what is shown', { name: `${'x'.repeat(100)}\u009b` }, 'It contains U+009B.'],
    ['null for a name', { name: null }, 'got null.'],
    ['no name', {}, 'name is required.'],
  ])('with %s is 400 and creates nothing', async (_, body, words) => {
    expect(await put(30, body)).toMatchObject(errorResponse(400, 'invalid_body', words));
    expect(await list()).not.toContainEqual(expect.objectContaining({ id: 30 }));
  });

  test("with a partner's key is 403 and changes nothing", async () => {
    const partner = await store.createKey();
    expect(await store.call('PUT', '/v1/categories/1', { key: partner.key, body: { name: 'Mine' } })).toMatchObject(
      errorResponse(403, 'insufficient_scope', 'needs the scope store:manage'),
    );
    expect(await list()).toContainEqual({ id: 1, name: 'Dogs' });
  });
});
