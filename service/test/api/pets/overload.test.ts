import { expect, test } from 'vitest';
import { addPet } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore({ env: { HOMEWARD_POOL_SIZE: '2' } });
const key = await store.createKey();

/** Fewer than the 1,000 at which every statement is rejected, and more than the 250 at which lists are. */
const statementsInFlight = 400;

test('When statements queue up, lists are 503 and everything else still works', async () => {
  const { db } = store.dependencies;
  const list = () => store.call('GET', '/v1/pets?limit=7', { key: key.key });
  await addPet(store, key);
  // Not by requests, of which a slow machine takes too few at once.
  let isFull = true;
  const repeat = async () => {
    while (isFull) await db.query({ text: 'select' });
  };
  const queue = Promise.all(Array.from({ length: statementsInFlight }, repeat));
  try {
    expect(db.isBusy).toBe(true);
    expect(await list()).toMatchObject({ ...errorResponse(503, 'unavailable'), headers: { 'retry-after': '1' } });
    const others = [
      await store.call('POST', '/v1/pets', { key: key.key, body: { name: 'Rex', categoryId: 1 } }),
      await store.call('GET', '/v1/categories', { key: key.key }),
    ];
    expect(others.map(({ status }) => status)).toEqual([201, 200]);
  } finally {
    isFull = false;
    await queue;
  }
  expect(db.isBusy).toBe(false);
  expect((await list()).status).toBe(200);
});
