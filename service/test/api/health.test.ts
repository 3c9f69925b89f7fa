import { describe, expect, test } from 'vitest';
import { startRedis } from '../../../testkit/servers.ts';
import { createTestStore } from '../test-store.ts';

describe('GET /livez', () => {
  test('is 200 without a key and without a limit', async () => {
    await using store = await createTestStore();
    const { status, json, headers } = await store.call('GET', '/livez');
    expect({ status, json }).toEqual({ status: 200, json: { status: 'alive' } });
    expect(headers['x-ratelimit-limit']).toBeUndefined();
  });
});

describe('GET /readyz', () => {
  test('is 200 if PostgreSQL and Redis are reachable', async () => {
    await using store = await createTestStore();
    expect(await store.call('GET', '/readyz')).toMatchObject({ status: 200, json: { status: 'ready', postgres: true, redis: true } });
  });

  test('is 200 and degraded without Redis, and ready again once Redis is back', async () => {
    await using redis = await startRedis();
    await using store = await createTestStore({ env: { REDIS_URL: redis.url } });
    const ready = () => store.call('GET', '/readyz');
    await redis.signal('SIGKILL');
    await expect.poll(ready).toMatchObject({ status: 200, json: { status: 'degraded', postgres: true, redis: false } });
    await redis.start();
    await expect.poll(ready).toMatchObject({ status: 200, json: { status: 'ready', redis: true } });
  });

  test('is 503 while draining; requests are still served, with Connection: close', async () => {
    await using store = await createTestStore();
    const { key } = await store.createKey();
    store.drain();
    expect(await store.call('GET', '/readyz')).toMatchObject({ status: 503, json: { status: 'draining', postgres: true, redis: true } });
    expect(await store.call('GET', '/v1/pets', { key })).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect((await store.call('GET', '/livez')).status).toBe(200);
  });
});
