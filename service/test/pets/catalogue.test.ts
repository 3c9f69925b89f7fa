import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type PrivateServer, startRedis } from '../../../testkit/servers.ts';
import { expireDueOrders } from '../../src/orders/orders.ts';
import { actAll, addPet, createManager, letExpire, placeOrder } from '../adoption-steps.ts';
import { createTestStore, type TestKey, type TestStore } from '../test-store.ts';

let redis: PrivateServer;
let store: TestStore;
let key: TestKey;
let manager: TestKey;
let before: string | null;
beforeAll(async () => {
  redis = await startRedis();
  store = await createTestStore({ env: { REDIS_URL: redis.url } });
  [key, manager] = [await store.createKey(), await createManager(store)];
});
afterAll(async () => {
  await store[Symbol.asyncDispose]();
  await redis[Symbol.asyncDispose]();
});

const readToken = () => store.dependencies.redis.client.get(store.dependencies.redisKeys.catalogueToken);
const call = (method: string, path: string, body?: unknown, headers = {}) =>
  store.call(method, path, { key: manager.key, headers, ...(body !== undefined && { body }) });

describe('The token of the catalogue', () => {
  let id: number;
  beforeEach(async () => {
    ({ id } = await addPet(store, key));
    before = await readToken();
  });

  test('is created by the first read of a store without writes', async () => {
    await store.dependencies.redis.client.del(store.dependencies.redisKeys.catalogueToken);
    await call('GET', '/v1/pets');
    await expect.poll(readToken, { timeout: 2_000, interval: 5 }).not.toBeNull();
  });

  test.each([
    ['an animal is added', () => call('POST', '/v1/pets', { name: 'Rex', categoryId: 1 })],
    [
      'an animal is added with an Idempotency-Key',
      () => call('POST', '/v1/pets', { name: 'R', categoryId: 1 }, { 'idempotency-key': 'k' }),
    ],
    ['such a request is retried', () => call('POST', '/v1/pets', { name: 'R', categoryId: 1 }, { 'idempotency-key': 'k' })],
    ['an animal is changed', () => call('PATCH', `/v1/pets/${id}`, { name: 'Rex' })],
    ['an animal is removed', () => call('DELETE', `/v1/pets/${id}`)],
    ['an animal is ordered', () => placeOrder(store, key, id)],
  ])('is replaced once %s', async (_, change) => {
    await change();
    expect(await readToken()).not.toBe(before);
  });

  test('is replaced after an action on an order', async () => {
    const order = await placeOrder(store, key, id);
    before = await readToken();
    await actAll(store, key, order.id, 'cancel');
    expect(await readToken()).not.toBe(before);
  });

  test('is replaced after an order has expired, and unchanged if none is due', async () => {
    const { db, catalogue } = store.dependencies;
    const order = await placeOrder(store, key, id);
    await letExpire(store, order.id);
    before = await readToken();
    expect(await expireDueOrders(db, catalogue, 100)).toBe(1);
    const after = await readToken();
    expect(after).not.toBe(before);
    await expireDueOrders(db, catalogue, 100);
    expect(await readToken()).toBe(after);
  });

  test.each([
    ['a list', () => call('GET', '/v1/pets')],
    ['a rejected change', () => call('PATCH', '/v1/pets/999999', { name: 'Rex' })],
    ['a name for a category', () => call('PUT', '/v1/categories/77', { name: 'Goats' })],
  ])('is unchanged after %s', async (_, request) => {
    await request();
    expect(await readToken()).toBe(before);
  });

  test('is replaced when Redis is back if something was written without it', async () => {
    const link = store.dependencies.redis;
    await redis.signal('SIGSTOP');
    await addPet(store, key);
    await vi.waitUntil(() => !link.up, { timeout: 5_000, interval: 10 });
    await addPet(store, key);
    await redis.signal('SIGCONT');
    await vi.waitUntil(() => link.up, { timeout: 5_000, interval: 10 });
    await expect.poll(readToken, { timeout: 2_000, interval: 10 }).not.toBe(before);
  });
});
