import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { HttpClient } from '../../../../testkit/http.ts';
import { addPet } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { holdLocks } from '../../lock-waits.ts';
import { createTestStore, type TestKey, type TestStore } from '../../test-store.ts';

let store: TestStore;
let key: TestKey;
beforeAll(async () => {
  store = await createTestStore({ env: { HOMEWARD_POOL_SIZE: '2' } });
  key = await store.createKey();
});
afterAll(() => store[Symbol.asyncDispose]());

/** Well below the 1,000 at which every statement is rejected. */
const listsMax = 250;

test('When statements queue up, lists are 503 and everything else still works', async () => {
  using http = new HttpClient(2 * listsMax);
  const list = (limit: number, category: number) =>
    http.send(`${store.url}/v1/pets?limit=${limit}&categoryId=${category}`, { key: key.key });
  await addPet(store, key);
  const locks = await holdLocks(store, 'lock table pets in access exclusive mode', []);
  const queued = Promise.all(Array.from({ length: listsMax }, (_, i) => list(1 + (i % 100), i)));
  queued.catch(() => {});
  await vi.waitUntil(() => store.dependencies.db.isBusy, { timeout: 1_900, interval: 1 });
  const rejected = await store.call('GET', '/v1/pets?limit=7', { key: key.key });
  const others = Promise.all([
    store.call('POST', '/v1/pets', { key: key.key, body: { name: 'Rex', categoryId: 1 } }),
    store.call('GET', '/v1/categories', { key: key.key }),
  ]);
  await locks.release();
  expect(rejected).toMatchObject({ ...errorResponse(503, 'unavailable'), headers: { 'retry-after': '1' } });
  expect((await others).map(({ status }) => status)).toEqual([201, 200]);
  expect(new Set((await queued).map(({ status }) => status))).toEqual(new Set([200]));
  expect((await list(7, 1)).status).toBe(200);
});
