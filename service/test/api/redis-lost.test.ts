import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startRedis } from '../../../testkit/servers.ts';
import { testAuthor } from '../../../testkit/test-author.ts';
import { mintApiKey } from '../../src/access/clients/api-key.ts';
import { replaceEpoch } from '../../src/access/clients/client-changes.ts';
import { revokeApiKey, setPlan } from '../../src/access/clients/clients.ts';
import { clientSubject } from '../../src/access/rate-limit/limiter.ts';
import { theService } from '../../src/domain/actor.ts';
import { settledMs } from '../../src/platform/db/change-watch.ts';
import { addPet } from '../adoption-steps.ts';
import { homeward } from '../cli/homeward-command.ts';
import { disposeAfterAll } from '../dispose-after-all.ts';
import { errorResponse } from '../error-response.ts';
import { ManualClock } from '../manual-clock.ts';
import { openTestStore, type TestKey } from '../test-store.ts';

const clock = new ManualClock('2026-12-01T12:00:00Z');
const redis = disposeAfterAll(await startRedis());
const store = await openTestStore({ clock, env: { REDIS_URL: redis.url } });
const another = await openTestStore({ clock, env: { REDIS_URL: redis.url, DATABASE_URL: store.databaseUrl } });
beforeEach(() => clock.advance(60_000));
afterEach(() => restore());

const send = ({ key }: TestKey, process = store) => process.call('GET', '/v1/pets?limit=1', { key });

async function statuses(count: number, key: TestKey, process = store): Promise<number[]> {
  const seen: number[] = [];
  for (let i = 0; i < count; i += 1) seen.push((await send(key, process)).status);
  return seen;
}

const bothAre = (up: boolean) => () => [store, another].every(({ dependencies }) => dependencies.redis.up === up);

let isKilled = false;

async function lose(): Promise<void> {
  isKilled = true;
  await redis.signal('SIGKILL');
  await vi.waitUntil(bothAre(false));
}

/** Its data is lost, since Redis runs without persistence. */
async function restore(): Promise<void> {
  // A link may also be lost because the machine is busy: a second server would not start.
  if (isKilled) await redis.start();
  isKilled = false;
  await vi.waitUntil(bothAre(true));
}

/** Counts the statements that a process runs, by name, until the test ends. */
function countStatements(process = store): Record<string, number> {
  const counts: Record<string, number> = {};
  let isCounting = true;
  process.dependencies.db.watchStatements(({ name = '' }) => {
    if (isCounting) counts[name] = (counts[name] ?? 0) + 1;
    return undefined;
  });
  onTestFinished(() => {
    isCounting = false;
  });
  return counts;
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
    await store.dependencies.db.transaction((tx) => revokeApiKey(tx, key.id), theService);
    expect(await send(key)).toMatchObject(errorResponse(401, 'api_key_revoked'));
  });

  test("a plan that was changed applies at once, though it couldn't be announced", async () => {
    const key = await store.createKey({ client: 'Upgraded', plan: 'free' });
    await lose();
    expect((await send(key)).headers['x-ratelimit-limit']).toBe('60');
    await setPlan(store.dependencies.db, testAuthor, 'Upgraded', { plan: 'pro', perMinute: null, perDay: null });
    expect((await send(key)).headers['x-ratelimit-limit']).toBe('300');
  });

  test('a cached key is not read again', async () => {
    const key = await store.createKey();
    await lose();
    await statuses(2, key);
    const counts = countStatements();
    expect(await statuses(20, key)).toEqual(Array(20).fill(200));
    // Lists may be read, since other tests write to the same server, which changes the snapshot; and usage may be written, in a transaction.
    expect(Object.keys(counts).filter((name) => !['pets', 'add-usage', ''].includes(name))).toEqual(['changes']);
  });

  test('a list shows what another process has just added', async () => {
    const key = await store.createKey({ scopes: ['pets:read', 'pets:write'] });
    await lose();
    for (let i = 0; i < 10; i += 1) {
      const list = () => store.call('GET', '/v1/pets?limit=100', { key: key.key });
      await list();
      const pet = await addPet(another, key);
      expect((await list()).json).toContainEqual(pet);
    }
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

describe('A cached key', () => {
  test('is not read again because Redis was lost for a moment, except under its new epoch', async () => {
    const key = await store.createKey();
    await statuses(2, key);
    await lose();
    const counts = countStatements();
    await statuses(2, key);
    expect(counts['find-key-by-hash']).toBeUndefined();
    await restore();
    await statuses(5, key);
    expect(counts['find-key-by-hash']).toBe(1);
    expect(counts['find-owners']).toBeUndefined();
  });

  test('that was revoked stays 401 if a failover of Redis brings the epoch from before back', async () => {
    const { redis, redisKeys, db } = store.dependencies;
    const key = await store.createKey();
    const epochKey = redisKeys.epoch(clientSubject(key.clientId));
    expect([await statuses(2, key), await statuses(2, key, another)].flat()).toEqual([200, 200, 200, 200]);
    const before = (await redis.client.get(epochKey)) ?? '';
    await db.transaction((tx) => revokeApiKey(tx, key.id), theService);
    await Promise.all([replaceEpoch(redis, redisKeys, key.clientId), sleep(settledMs)]);
    await redis.client.set(epochKey, before);
    for (const process of [store, another]) expect(await send(key, process)).toMatchObject(errorResponse(401, 'api_key_revoked'));
  });

  test("that is revoked by a command that can't reach Redis is 401 from the next request on", async () => {
    const key = await store.createKey();
    const env = { DATABASE_URL: store.databaseUrl, REDIS_URL: 'redis://127.0.0.1:1' };
    let isRevoked = false;
    const revoking = homeward(['keys', 'revoke', String(key.id), '--json'], { env }).finally(() => (isRevoked = true));
    // Both processes, which do reach Redis, have it in use until then.
    while (!isRevoked) await Promise.all([send(key), send(key, another), sleep(200)]);
    const { status, stdout, stderr } = await revoking;
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining('key_revoked') });
    expect(JSON.parse(stdout)).toMatchObject({ everywhere: true });
    for (const process of [store, another]) expect(await send(key, process)).toMatchObject(errorResponse(401, 'api_key_revoked'));
  });

  test('that was revoked is 401 once the change is settled, though Redis was not told', async () => {
    const key = await store.createKey();
    await Promise.all([statuses(2, key), statuses(2, key, another)]);
    await store.dependencies.db.transaction((tx) => revokeApiKey(tx, key.id), theService);
    // Both processes are in use meanwhile.
    const busy = await store.createKey();
    const settled = sleep(settledMs).then(() => true);
    while (!(await Promise.race([settled, sleep(10)]))) await Promise.all([send(busy), send(busy, another)]);
    for (const process of [store, another]) expect(await send(key, process)).toMatchObject(errorResponse(401, 'api_key_revoked'));
  });
});

describe('While Redis is frozen', () => {
  test('requests are still served, with the counts that the process has seen', async () => {
    const key = await store.createKey({ plan: { perMinute: 3, perDay: 100 } });
    await send(key);
    await redis.signal('SIGSTOP');
    const seen = await statuses(3, key);
    await redis.signal('SIGCONT');
    await vi.waitUntil(bothAre(true));
    expect(seen).toEqual([200, 200, 429]);
  });
});
