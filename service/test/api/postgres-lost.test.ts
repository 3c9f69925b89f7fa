import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startPostgres } from '../../../testkit/servers.ts';
import { mintApiKey } from '../../src/access/clients/api-key.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { addPet, readPet } from '../adoption-steps.ts';
import { disposeAfterAll } from '../dispose-after-all.ts';
import { errorResponse } from '../error-response.ts';
import { openTestStore, type TestKey } from '../test-store.ts';

const postgres = disposeAfterAll(await startPostgres({ durable: true }));
await migrate(postgres.url);
const store = await openTestStore({ env: { DATABASE_URL: postgres.url } });
const key = await store.createKey();
const pet = await addPet(store, key);

const get = (sent: string) => store.call('GET', '/v1/pets', { key: sent });

describe('Without PostgreSQL', () => {
  const invented = mintApiKey('production');
  let unseen: TestKey;
  beforeAll(async () => {
    unseen = await store.createKey();
    await get(invented);
    // Immediately and with all its processes, which would otherwise block the next start.
    await postgres.signal('SIGQUIT');
    await vi.waitUntil(() => !store.dependencies.db.reachable);
  });
  afterAll(async () => {
    await postgres.start();
    await vi.waitUntil(() => store.dependencies.db.reachable);
  });

  test.each([
    ['GET', '/v1/pets', {}],
    ['POST', '/v1/pets', { body: { name: 'A', categoryId: 1 } }],
    ['GET', '/v1/pets/1', {}],
    ['GET', '/v1/store/orders', {}],
    ['POST', '/v1/store/orders/1/cancel', { headers: { 'idempotency-key': 'lost' } }],
  ])('%s %s is 503 with Retry-After and the rate limit', async (method, path, options) => {
    expect(await store.call(method, path, { key: key.key, ...options })).toMatchObject({
      ...errorResponse(503, 'unavailable', 'Retry in 1 s.'),
      headers: { 'retry-after': '1', 'x-ratelimit-limit': expect.stringMatching(/^\d+$/), 'cache-control': 'no-store' },
    });
  });

  test('readiness fails and liveness does not', async () => {
    expect(await store.call('GET', '/readyz')).toMatchObject({
      status: 503,
      json: { status: 'unavailable', postgres: false, redis: true },
    });
    expect((await store.call('GET', '/livez')).status).toBe(200);
  });

  test('a key that this process has not seen is 503, not 401', async () => {
    expect(await get(unseen.key)).toMatchObject(errorResponse(503, 'unavailable'));
  });

  test('a mistyped key is still 401', async () => {
    expect(await get(`${key.key}x`)).toMatchObject(errorResponse(401, 'api_key_invalid', 'mistyped'));
  });

  test('a key that was looked up before and not found is still 401', async () => {
    expect(await get(invented)).toMatchObject(errorResponse(401, 'api_key_invalid', 'This key does not exist here.'));
  });
});

describe('When PostgreSQL is back', () => {
  test('acknowledged writes are there, and requests are served', async () => {
    expect(await readPet(store, key, pet.id)).toEqual(pet);
    expect((await addPet(store, key)).id).toBeGreaterThan(pet.id);
  });

  test('readiness recovers by itself', async () => {
    expect(await store.call('GET', '/readyz')).toMatchObject({ status: 200, json: { status: 'ready' } });
  });
});
