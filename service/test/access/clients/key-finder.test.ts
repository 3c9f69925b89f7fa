import { beforeEach, describe, expect, test, vi } from 'vitest';
import { hashApiKey, mintApiKey } from '../../../src/access/clients/api-key.ts';
import { revokeApiKey } from '../../../src/access/clients/clients.ts';
import { KeyFinder } from '../../../src/access/clients/key-finder.ts';
import { theService } from '../../../src/domain/actor.ts';
import type { Db } from '../../../src/platform/db/handles.ts';
import { ManualClock } from '../../manual-clock.ts';
import { openTestStore } from '../../test-store.ts';

const clock = new ManualClock('2026-12-01T12:00:00Z');
let finder: KeyFinder;
let queries: number;
let atOnce: number;
let atOnceMax: number;
const store = await openTestStore();
beforeEach(() => {
  queries = 0;
  atOnce = 0;
  atOnceMax = 0;
  const counted: Db = {
    query: (statement) => {
      queries += 1;
      atOnce += 1;
      atOnceMax = Math.max(atOnceMax, atOnce);
      return store.dependencies.db.query<never>(statement).finally(() => {
        atOnce -= 1;
      });
    },
  };
  finder = new KeyFinder(counted, clock);
});

const create = async () => (await store.createKey()).key;
const invent = () => mintApiKey('production');
const readEpoch = async () => 'epoch';
const withoutRedis = async () => undefined;
const inventions = Array.from({ length: 3_000 }, invent);

describe('KeyFinder', () => {
  test('caches a key that was read under an epoch', async () => {
    const key = await create();
    await finder.lookUp(key, 'a', readEpoch);
    expect(finder.findCached(key)).toMatchObject({ epoch: 'epoch' });
  });

  test('caches a key that was read without Redis, under no epoch', async () => {
    const key = await create();
    await finder.lookUp(key, 'a', withoutRedis);
    expect(finder.findCached(key)).toMatchObject({ epoch: undefined });
  });

  test('reads the epoch before the key, and knows by then whose the key is', async () => {
    const { key, clientId, id } = await store.createKey();
    const seen: unknown[] = [];
    await finder.lookUp(key, 'a', async (owner) => {
      seen.push({ owner: { id: owner.id, clientId: owner.clientId }, queries });
      return 'epoch';
    });
    expect(seen).toEqual([{ owner: { id, clientId }, queries: 1 }]);
    expect(queries).toBe(2);
  });

  test('makes one query for a key that is stale, after its epoch was read', async () => {
    const { key, clientId } = await store.createKey();
    await finder.lookUp(key, 'a', readEpoch);
    finder.evictClients([clientId]);
    queries = 0;
    let queriesBefore = -1;
    await finder.lookUp(key, 'a', async () => {
      queriesBefore = queries;
      return 'another';
    });
    expect({ queriesBefore, queries }).toEqual({ queriesBefore: 0, queries: 1 });
    expect(finder.findCached(key)).toMatchObject({ epoch: 'another' });
  });

  test('evicts the cached keys of a client, and no others', async () => {
    const [one, other] = [await store.createKey({ client: 'one' }), await store.createKey({ client: 'other' })];
    const another = await store.createKey({ client: 'one' });
    for (const { key } of [one, other, another]) await finder.lookUp(key, 'a', readEpoch);
    const before = finder.findCached(one.key);
    finder.evictClients([one.clientId]);
    expect([one, other, another].map(({ key }) => finder.findCached(key) !== undefined)).toEqual([false, true, false]);
    expect(before && finder.isCurrent(before)).toBe(false);
  });

  test('evicts every key with evictAll, and caches what is read afterwards', async () => {
    const key = await create();
    await finder.lookUp(key, 'a', readEpoch);
    finder.evictAll();
    expect(finder.findCached(key)).toBeUndefined();
    await finder.lookUp(key, 'a', readEpoch);
    expect(finder.findCached(key)).toBeDefined();
  });

  test.each([
    ['evictClients', (clientId: bigint) => finder.evictClients([clientId])],
    ['evictAll', () => finder.evictAll()],
  ] as const)('does not use a read again that was in flight during %s', async (_, evict) => {
    const { key, clientId } = await store.createKey();
    await finder.lookUp(key, 'a', readEpoch);
    queries = 0;
    finder.evictClients([clientId]);
    const reading = finder.lookUp(key, 'a', readEpoch);
    await vi.waitUntil(() => queries === 1, { interval: 0 });
    evict(clientId);
    expect(await reading).toMatchObject({ epoch: 'epoch' });
    expect(finder.findCached(key)).toBeUndefined();
  });

  test('queries once for a key that does not exist, however often it is sent', async () => {
    const key = invent();
    for (let i = 0; i < 10; i += 1) expect(await finder.lookUp(key, 'a', withoutRedis)).toBeUndefined();
    expect(queries).toBe(1);
  });

  test('queries twice for a hundred concurrent look-ups: whether the key exists, and then for the key', async () => {
    const key = await create();
    const found = await Promise.all(Array.from({ length: 100 }, () => finder.lookUp(key, 'a', withoutRedis)));
    expect(found.every((known) => known !== undefined)).toBe(true);
    expect(queries).toBe(2);
  });

  test('queries again for look-ups that begin while a query is in flight: it may have missed a revocation', async () => {
    const key = await create();
    await finder.lookUp(key, 'a', withoutRedis);
    queries = 0;
    const first = finder.lookUp(key, 'a', withoutRedis);
    await vi.waitUntil(() => queries === 1, { interval: 0 });
    const later = Array.from({ length: 100 }, () => finder.lookUp(key, 'a', withoutRedis));
    await Promise.all([first, ...later]);
    expect(queries).toBe(2);
    expect(atOnceMax).toBe(1);
  });

  test('looks up any number of keys that do not exist, with a few queries at once', async () => {
    const found = await Promise.all(inventions.map((key) => finder.lookUp(key, 'a', withoutRedis)));
    expect(found.every((known) => known === undefined)).toBe(true);
    expect(atOnceMax).toBeLessThanOrEqual(4);
    expect(queries).toBeLessThan(200);
  });

  test('finds a key that is not cached among thousands that do not exist, from the same network', async () => {
    const key = await create();
    const flood = inventions.map((one) => finder.lookUp(one, 'a', withoutRedis));
    expect(await finder.lookUp(key, 'a', withoutRedis)).toBeDefined();
    await Promise.all(flood);
  });

  test('finds a thousand keys at once that are not cached', async () => {
    const { clientId } = await store.createKey();
    const keys = Array.from({ length: 1_000 }, invent);
    await store.write(
      `insert into api_keys (client_id, hash, hint, scopes) select $1, decode(hash, 'hex'), '', '{}' from unnest($2::text[]) as hash`,
      clientId,
      keys.map((key) => hashApiKey(key)),
    );
    const found = await Promise.all(keys.map((key) => finder.lookUp(key, 'a', withoutRedis)));
    expect(found.every((known) => known?.clientId === clientId)).toBe(true);
  });

  test('does not queue a key that it has seen before', async () => {
    const key = await create();
    await finder.lookUp(key, 'a', withoutRedis);
    let responded = 0;
    const flood = inventions.map((one) => finder.lookUp(one, 'a', withoutRedis).then(() => (responded += 1)));
    expect(await finder.lookUp(key, 'a', withoutRedis)).toBeDefined();
    expect(responded).toBeLessThan(500);
    await Promise.all(flood);
  });

  describe('of a key that has ended', () => {
    const revoke = async () => {
      const { key, id } = await store.createKey();
      await store.dependencies.db.transaction((tx) => revokeApiKey(tx, id), theService);
      return key;
    };
    const expire = async () => (await store.createKey({ expiresAt: new Date(clock.now()) })).key;

    describe.each([
      ['revoked', revoke, { revokedAt: expect.any(Date) }],
      ['expired', expire, { expiresAt: new Date(clock.now()) }],
    ] as const)('%s', (_, end, record) => {
      test('queries twice for a thousand requests, one after the other', async () => {
        const key = await end();
        for (let i = 0; i < 1_000; i += 1)
          expect(finder.findCached(key) ?? (await finder.lookUp(key, 'a', withoutRedis))).toMatchObject(record);
        expect(queries).toBe(2);
      });

      test('queries twice for a thousand concurrent requests, even if some arrive while others wait', async () => {
        const key = await end();
        const send = () => Array.from({ length: 250 }, async () => finder.findCached(key) ?? (await finder.lookUp(key, 'a', readEpoch)));
        const sent = send();
        for (const count of [1, 2]) {
          await vi.waitUntil(() => queries === count, { interval: 0 });
          sent.push(...send());
        }
        await Promise.all(sent);
        sent.push(...send());
        const found = await Promise.all(sent);
        expect(found.every((known) => known !== undefined)).toBe(true);
        expect(found).toHaveLength(1_000);
        expect(queries).toBe(2);
      });

      test('does not query again after evictAll', async () => {
        const key = await end();
        await finder.lookUp(key, 'a', readEpoch);
        finder.evictAll();
        expect(finder.findCached(key)).toMatchObject(record);
        expect(queries).toBe(2);
      });
    });

    test('queries again if the clock was set back before its expiry', async () => {
      const { key } = await store.createKey({ expiresAt: new Date(clock.now()) });
      await finder.lookUp(key, 'a', withoutRedis);
      clock.advance(-1);
      expect(finder.findCached(key)).toBeUndefined();
      expect(await finder.lookUp(key, 'a', readEpoch)).toMatchObject({ epoch: 'epoch' });
      clock.advance(1);
    });

    test('evicts a key that has not ended with evictAll', async () => {
      const { key } = await store.createKey({ expiresAt: new Date(clock.now() + 1) });
      await finder.lookUp(key, 'a', readEpoch);
      finder.evictAll();
      expect(finder.findCached(key)).toBeUndefined();
    });
  });
});
