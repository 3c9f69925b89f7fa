import { describe, expect, test, vi } from 'vitest';
import { theService } from '../../../src/domain/actor.ts';
import { addPet, createManager } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { countLockWaits } from '../../lock-waits.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const [key, manager] = [await store.createKey(), await createManager(store)];

const remove = (id: number | string, by = manager) => store.call('DELETE', `/v1/categories/${id}`, { key: by.key });
const list = async () => (await store.call<unknown[]>('GET', '/v1/categories?limit=100', { key: key.key })).json;
const insertCategory = (id: number) => store.write('insert into categories (id) values ($1)', id);

describe('DELETE /v1/categories/{categoryId}', () => {
  test('of one without a name and without animals is 204 without a body, and removes the category', async () => {
    await insertCategory(50);
    expect(await list()).toContainEqual({ id: 50 });
    expect(await remove(50)).toMatchObject({ status: 204, text: '' });
    expect(await list()).not.toContainEqual({ id: 50 });
  });

  test('again is 404', async () => {
    await insertCategory(51);
    await remove(51);
    expect(await remove(51)).toMatchObject(errorResponse(404, 'category_unknown', 'There is no category with id 51.'));
  });

  test.each(['4711', 'abc', '1.0', '9223372036854775808'])('of %s, which does not exist, is 404', async (id) => {
    expect(await remove(id)).toMatchObject(errorResponse(404, 'category_unknown', `There is no category with id ${id}.`));
  });

  test('of one that has a name is 409 and changes nothing', async () => {
    expect(await remove(8)).toMatchObject(errorResponse(409, 'category_in_use', 'Category 8 is named "Horses".'));
    expect(await list()).toContainEqual({ id: 8, name: 'Horses' });
  });

  test('of one that contains an animal is 409 and changes nothing', async () => {
    await addPet(store, key, { categoryId: 52 });
    expect(await remove(52)).toMatchObject(errorResponse(409, 'category_in_use', 'Category 52 contains an animal'));
    expect(await list()).toContainEqual({ id: 52 });
  });

  test('of one whose only animal was removed is 409, since the row of the animal still refers to it', async () => {
    const { id } = await addPet(store, key, { categoryId: 53 });
    await store.call('DELETE', `/v1/pets/${id}`, { key: manager.key });
    expect(await remove(53)).toMatchObject(errorResponse(409, 'category_in_use', 'removed animals count too'));
  });

  test('of one that gets an animal at the same time is 409', async () => {
    await insertCategory(54);
    let removing: ReturnType<typeof remove> | undefined;
    await store.dependencies.db.transaction(async (tx) => {
      await tx.query({ text: `insert into pets (name, category_id, status) values ('Biscuit', 54, 'available')` });
      removing = remove(54);
      await vi.waitUntil(async () => (await countLockWaits(store)) === 1n, { timeout: 1_500, interval: 10 });
    }, theService);
    expect(await removing).toMatchObject(errorResponse(409, 'category_in_use', 'Category 54 contains an animal'));
  });

  test("with a partner's key is 403 and changes nothing", async () => {
    await insertCategory(55);
    expect(await remove(55, key)).toMatchObject(errorResponse(403, 'insufficient_scope', 'needs the scope store:manage'));
    expect(await list()).toContainEqual({ id: 55 });
  });
});

describe('POST /v1/pets into a category that is removed at the same time', () => {
  /** Sends a POST while the category is deleted, and commits the deletion once the POST waits for it. */
  async function postWhileRemoved(id: number, headers: Record<string, string> = {}) {
    await insertCategory(id);
    let posting: ReturnType<typeof store.call> | undefined;
    await store.dependencies.db.transaction(async (tx) => {
      await tx.query({ text: 'delete from categories where id = $1', values: [id] });
      posting = store.call('POST', '/v1/pets', { key: key.key, body: { name: 'Late', categoryId: id }, headers });
      await vi.waitUntil(async () => (await countLockWaits(store)) === 1n, { timeout: 1_500, interval: 10 });
    }, theService);
    return posting;
  }

  test('is 201 and registers the category again', async () => {
    expect(await postWhileRemoved(60)).toMatchObject({ status: 201, json: { name: 'Late', categoryId: 60 } });
    expect(await list()).toContainEqual({ id: 60 });
  });

  test('with an Idempotency-Key is 503 and stores nothing, and the retry is 201', async () => {
    const headers = { 'idempotency-key': 'late' };
    const rejected = await postWhileRemoved(61, headers);
    expect(rejected).toMatchObject(errorResponse(503, 'unavailable', 'Category 61 has just been removed. Retry in 1 s.'));
    expect(rejected?.headers['retry-after']).toBe('1');
    expect(await list()).not.toContainEqual({ id: 61 });
    const again = await store.call('POST', '/v1/pets', { key: key.key, body: { name: 'Late', categoryId: 61 }, headers });
    expect(again).toMatchObject({ status: 201, json: { categoryId: 61 } });
  });
});
