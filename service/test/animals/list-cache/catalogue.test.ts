import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startRedis } from '../../../../testkit/servers.ts';
import { expireDueOrders } from '../../../src/adoption/orders/orders.ts';
import { CatalogueTransaction } from '../../../src/animals/list-cache/catalogue.ts';
import { insertPet } from '../../../src/animals/pets/pet-queries.ts';
import { theService } from '../../../src/domain/actor.ts';
import { settledMs } from '../../../src/platform/db/change-watch.ts';
import { act, actAll, addPet, createManager, letExpire, placeOrder } from '../../adoption-steps.ts';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import { publishAll } from '../../event-steps.ts';
import { openTestStore, type TestStore } from '../../test-store.ts';

/** Another process of the same store. */
let before: string | null;
const redis = disposeAfterAll(await startRedis());
const store = await openTestStore({ env: { REDIS_URL: redis.url } });
const another = await openTestStore({ env: { REDIS_URL: redis.url, DATABASE_URL: store.databaseUrl } });
const [key, manager] = [await store.createKey(), await createManager(store)];

const { client, keys } = { client: () => store.dependencies.redis.client, keys: () => store.dependencies.redisKeys };
const readToken = () => client().get(keys().catalogueToken);
/** The changes of the last announcement. */
const lastChanges = async () => (await client().lindex(keys().catalogueLog, 0))?.split(' ').slice(2).join(' ');
const announcements = async () => Number(/cmdstat_lpush:calls=(\d+)/.exec(await client().info('commandstats'))?.[1] ?? 0);
const call = (method: string, path: string, body?: unknown, headers = {}) =>
  store.call(method, path, { key: manager.key, headers, ...(body !== undefined && { body }) });
const listOf = async (process: TestStore, path: string) =>
  (await process.call<Array<{ id: number }>>('GET', path, { key: key.key })).json.map(({ id }) => id);

/** Adds an animal like a process that dies between its commit and its announcement. */
const addUnannounced = (categoryId: bigint) =>
  store.dependencies.db.transaction(
    (tx) =>
      insertPet(
        new CatalogueTransaction(tx),
        { name: 'Orphan', categoryId, status: 'available' },
        { clientId: null, keyId: null, personId: null },
        1n,
      ),
    theService,
  );

describe('The token of the catalogue', () => {
  let id: number;
  beforeEach(async () => {
    ({ id } = await addPet(store, key));
    before = await readToken();
  });

  test('is created by the first read of a store without writes', async () => {
    await client().del(keys().catalogueToken);
    await call('GET', '/v1/pets');
    await expect.poll(readToken, { timeout: 2_000, interval: 5 }).not.toBeNull();
  });

  test.each([
    [
      'an animal is added',
      () => call('POST', '/v1/pets', { name: 'Rex', categoryId: 1, status: 'sold' }),
      () => expect.stringMatching(/^\d+::1\/sold$/),
    ],
    [
      'an animal is added with an Idempotency-Key',
      () => call('POST', '/v1/pets', { name: 'R', categoryId: 1 }, { 'idempotency-key': 'k' }),
      () => expect.stringMatching(/^\d+::1\/available$/),
    ],
    ['an animal is changed', () => call('PATCH', `/v1/pets/${id}`, { name: 'Rex' }), () => `${id}:1/available:1/available`],
    ['an animal is moved', () => call('PATCH', `/v1/pets/${id}`, { categoryId: 2, status: 'sold' }), () => `${id}:1/available:2/sold`],
    ['an animal is removed', () => call('DELETE', `/v1/pets/${id}`), () => `${id}:1/available:`],
    ['an animal is ordered', () => placeOrder(store, key, id), () => `${id}:1/available:1/pending`],
  ])('is replaced once %s, and the log says what has changed', async (_, change, expected) => {
    const count = await announcements();
    await change();
    expect(await readToken()).not.toBe(before);
    expect(await lastChanges()).toEqual(expected());
    expect((await announcements()) - count).toBe(1);
  });

  test('is replaced after an action on an order that changes the animal', async () => {
    const order = await placeOrder(store, key, id);
    before = await readToken();
    await actAll(store, key, order.id, 'cancel');
    expect(await readToken()).not.toBe(before);
    expect(await lastChanges()).toBe(`${id}:1/pending:1/available`);
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

  test('is unchanged after an action on an order that leaves the animal as it is', async () => {
    const order = await placeOrder(store, key, id);
    before = await readToken();
    expect((await act(store, manager, order.id, 'approve')).status).toBe(200);
    expect(await readToken()).toBe(before);
  });

  test('is replaced 1.05 times a write at most, with a worker that publishes the events meanwhile', async () => {
    const count = await announcements();
    let publishing = true;
    const publish = async () => {
      while (publishing) if ((await publishAll(store)) === 0) await sleep(10);
    };
    const worker = publish();
    const writes = 60;
    // One after another, since those of one turn share an announcement.
    for (let i = 0; i < writes; i += 1) await addPet(store, key);
    publishing = false;
    await worker;
    await publishAll(store);
    expect((await announcements()) - count).toBeLessThanOrEqual(1.05 * writes);
  });
});

describe('A change whose process died before it was announced', () => {
  const path = '/v1/pets?categoryId=501';
  beforeEach(async () => {
    await addPet(store, key, { categoryId: 501 });
  });

  test('is in the list of another process before its event is readable', async () => {
    await publishAll(store);
    const listed = await listOf(another, path);
    const orphan = await addUnannounced(501n);
    // Still from the cache: otherwise this test would not show anything.
    expect(await listOf(another, path)).toEqual(listed);
    expect(await publishAll(store)).toBe(1);
    expect(await lastChanges()).toBe('*');
    expect(await listOf(another, path)).toEqual([...listed, Number(orphan?.id)]);
  });

  test('is announced once', async () => {
    await addUnannounced(501n);
    await publishAll(store);
    before = await readToken();
    await addPet(store, key, { categoryId: 501 });
    const count = await announcements();
    await publishAll(store);
    expect(await announcements()).toBe(count);
  });

  test('is announced before a retry gets the stored response', async () => {
    const retry = () => call('POST', '/v1/pets', { name: 'R', categoryId: 501 }, { 'idempotency-key': 'died' });
    await retry();
    before = await readToken();
    await retry();
    expect(await readToken()).toBe(before);
    await client().del(keys().announcedTransactions);
    await retry();
    expect([(await readToken()) !== before, await lastChanges()]).toEqual([true, '*']);
  });

  test('is not announced again for a retry after a minute: every list shows it by then', async () => {
    const retry = () => call('POST', '/v1/pets', { name: 'R', categoryId: 501 }, { 'idempotency-key': 'long-ago' });
    await retry();
    await store.write(`update idempotent_answers set created_at = now() - interval '2 minutes'`);
    before = await readToken();
    expect((await retry()).headers['idempotent-replayed']).toBe('true');
    expect(await readToken()).toBe(before);
  });
});

describe('A change that Redis is not told of', () => {
  const path = '/v1/pets?categoryId=601';
  /** The process has lost Redis; the other one has not. */
  const cutOff = async () => {
    store.dependencies.redis.client.disconnect();
    await vi.waitUntil(() => !store.dependencies.redis.up, { interval: 1 });
  };
  const restored = () => vi.waitUntil(() => store.dependencies.redis.up);
  const reconnect = async () => {
    if (store.dependencies.redis.up) return;
    await store.dependencies.redis.client.connect().catch(() => {});
    await restored();
  };
  beforeEach(async () => {
    await addPet(store, key, { categoryId: 601 });
  });
  afterEach(reconnect);

  test('is in the lists of other processes when it is acknowledged', async () => {
    for (let round = 0; round < 3; round += 1) {
      await cutOff();
      const listed = await listOf(another, path);
      const startedAtMs = performance.now();
      const { id } = await addPet(store, key, { categoryId: 601 });
      expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(settledMs - 1);
      expect(await listOf(another, path)).toEqual([...listed, id]);
      await reconnect();
    }
  });

  test('does not wait for others that are made at the same time', async () => {
    await cutOff();
    const startedAtMs = performance.now();
    await Promise.all(Array.from({ length: 20 }, () => addPet(store, key, { categoryId: 601 })));
    expect(performance.now() - startedAtMs).toBeLessThan(10 * settledMs);
  });

  test('is announced when Redis is back, also to processes that do not look for it', async () => {
    before = await readToken();
    await cutOff();
    const { id } = await addPet(store, key, { categoryId: 601 });
    await reconnect();
    await expect.poll(readToken, { timeout: 2_000, interval: 10 }).not.toBe(before);
    expect(await lastChanges()).toBe(`${id}::601/available`);
  });

  test('is announced when a frozen Redis replies again', async () => {
    const link = store.dependencies.redis;
    before = await readToken();
    await redis.signal('SIGSTOP');
    await addPet(store, key);
    await vi.waitUntil(() => !link.up);
    await addPet(store, key);
    await redis.signal('SIGCONT');
    await restored();
    await expect.poll(readToken, { timeout: 2_000, interval: 10 }).not.toBe(before);
  });
});
