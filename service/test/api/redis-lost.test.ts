import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type PrivateServer, startRedis } from '../../../testkit/servers.ts';
import { mintApiKey } from '../../src/clients/api-key.ts';
import { revokeApiKey } from '../../src/clients/clients.ts';
import { addPet } from '../adoption-steps.ts';
import { errorResponse } from '../error-response.ts';
import { ManualClock } from '../manual-clock.ts';
import { createTestStore, type TestKey, type TestStore } from '../test-store.ts';

const clock = new ManualClock('2026-12-01T12:00:00Z');
let redis: PrivateServer;
let store: TestStore;
let another: TestStore;
beforeAll(async () => {
  redis = await startRedis();
  store = await createTestStore({ clock, env: { REDIS_URL: redis.url } });
  another = await createTestStore({ clock, env: { REDIS_URL: redis.url, DATABASE_URL: store.dependencies.config.databaseUrl } });
});
afterAll(async () => {
  await another[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
  await redis[Symbol.asyncDispose]();
});
beforeEach(() => clock.advance(60_000));
afterEach(() => restore());

const send = ({ key }: TestKey, process = store) => process.call('GET', '/v1/pets?limit=1', { key });

async function statuses(count: number, key: TestKey, process = store): Promise<number[]> {
  const seen: number[] = [];
  for (let i = 0; i < count; i += 1) seen.push((await send(key, process)).status);
  return seen;
}

const bothAre = (up: boolean) => () => [store, another].every(({ dependencies }) => dependencies.redis.up === up);

async function lose(): Promise<void> {
  await redis.signal('SIGKILL');
  await vi.waitUntil(bothAre(false), { timeout: 5_000, interval: 10 });
}

/** Its data is lost, since Redis runs without persistence. */
async function restore(): Promise<void> {
  if (bothAre(true)()) return;
  await redis.start();
  await vi.waitUntil(bothAre(true), { timeout: 5_000, interval: 10 });
}

describe('Without Redis', () => {
  test('animals are added and listed', async () => {
    const key = await store.createKey();
    await lose();
    const pet = await addPet(store, key);
    expect((await store.call('GET', `/v1/pets?id=${pet.id}`, { key: key.key })).json).toEqual([pet]);
  });

  test('a process continues from the counts that it has seen, and enforces the limit', async () => {
    const key = await store.createKey({ plan: { perMinute: 5, perDay: 100 } });
    expect(await statuses(2, key)).toEqual([200, 200]);
    await lose();
    expect(await statuses(4, key)).toEqual([200, 200, 200, 429]);
  });

  test('each process admits at most the limit', async () => {
    const key = await store.createKey({ plan: { perMinute: 3, perDay: 100 } });
    await lose();
    expect([await statuses(4, key), await statuses(4, key, another)]).toEqual([
      [200, 200, 200, 429],
      [200, 200, 200, 429],
    ]);
  });

  test('a 429 says how long to wait and mentions no ban, since strikes are not counted', async () => {
    const key = await store.createKey({ plan: { perMinute: 1, perDay: 100 } });
    await lose();
    await send(key);
    const { json } = await store.call<{ message: string }>('GET', '/v1/pets', { key: key.key });
    expect(json.message).toBe('1 of 1 requests used this minute (Enterprise plan). Wait 60 s.');
  });

  test('a ban that the process has seen still applies', async () => {
    const key = await store.createKey({ plan: { perMinute: 1, perDay: 100 } });
    await statuses(2, key);
    clock.advance(1_001);
    await statuses(30, key);
    await lose();
    expect(await send(key)).toMatchObject(errorResponse(429, 'api_key_banned'));
  });

  test("a revoked key is 401 at once, though the revocation couldn't be announced", async () => {
    const key = await store.createKey();
    await send(key);
    await lose();
    await revokeApiKey(store.dependencies.db, key.id);
    expect(await send(key)).toMatchObject(errorResponse(401, 'api_key_revoked'));
  });

  test('a key that does not exist is 401 and counts against its address', async () => {
    await lose();
    const response = await store.call('GET', '/v1/pets', { key: mintApiKey('production') });
    expect(response).toMatchObject({ ...errorResponse(401, 'api_key_invalid'), headers: { 'x-ratelimit-remaining': '59' } });
  });
});

describe('When Redis is back', () => {
  test('requests that the processes admitted meanwhile are counted, and none is admitted over the limit', async () => {
    const key = await store.createKey({ plan: { perMinute: 10, perDay: 100 } });
    await lose();
    expect([await statuses(4, key), await statuses(3, key, another)].flat()).toEqual(Array(7).fill(200));
    await restore();
    expect([await statuses(2, key), await statuses(2, key, another)].flat()).toEqual([200, 200, 200, 429]);
  });

  test('counts that Redis lost are restored by the processes', async () => {
    const key = await store.createKey({ plan: { perMinute: 3, perDay: 100 } });
    await statuses(3, key);
    await lose();
    await restore();
    expect(await statuses(1, key)).toEqual([429]);
  });

  test('strikes are counted again', async () => {
    const key = await store.createKey({ plan: { perMinute: 1, perDay: 100 } });
    await lose();
    await statuses(2, key);
    await restore();
    expect((await send(key)).headers['x-ratelimit-strikes-remaining']).toBe('30');
  });
});

describe('While Redis is frozen', () => {
  test('requests are still served, with the counts that the process has seen', async () => {
    const key = await store.createKey({ plan: { perMinute: 3, perDay: 100 } });
    await send(key);
    await redis.signal('SIGSTOP');
    const seen = await statuses(3, key);
    await redis.signal('SIGCONT');
    await vi.waitUntil(bothAre(true), { timeout: 5_000, interval: 10 });
    expect(seen).toEqual([200, 200, 429]);
  });
});
