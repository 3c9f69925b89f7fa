import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { hashApiKey } from '../../../src/access/clients/api-key.ts';
import type { FoundKey } from '../../../src/access/clients/client-queries.ts';
import { KeyCache, KnownKey } from '../../../src/access/clients/key-finder.ts';

const hashOf = (number: number) => hashApiKey(String(number), 'base64');

/** A key of a client of its own, read under an epoch that is a part of Redis's reply. */
function known(number: number, more: Partial<FoundKey> = {}, generation = 0): KnownKey {
  const found: FoundKey = {
    id: BigInt(1_000 + number),
    clientId: BigInt(5_000 + number),
    scopes: ['pets:read', 'pets:write'],
    expiresAt: null,
    revokedAt: null,
    replacedBy: null,
    shelterId: null,
    plan: 'pro',
    perMinute: null,
    perDay: null,
    openOrdersMax: null,
    newCategoriesMax: null,
    suspension: null,
    ...more,
  };
  const reply = `stale ${'x'.repeat(12)}${number}\n${'admitted 1 1 1 1 0 0 0\n'.repeat(15)}`;
  return new KnownKey(hashOf(number), found, { epoch: reply.split('\n')[0]?.slice(6), generation });
}

const bytesOfOne = () => {
  const cache = new KeyCache();
  cache.set(known(0));
  return cache.bytes;
};

describe('KeyCache', () => {
  test('evicts the least recently used keys beyond its bound', () => {
    const cache = new KeyCache({ bytesMax: 100 * bytesOfOne() });
    for (let number = 0; number < 100; number += 1) cache.set(known(number));
    for (let number = 0; number < 50; number += 1) cache.get(hashOf(number));
    for (let number = 100; number < 150; number += 1) cache.set(known(number));
    const cached = Array.from({ length: 150 }, (_, number) => cache.get(hashOf(number)) !== undefined);
    expect(cached).toEqual([...Array(50).fill(true), ...Array(50).fill(false), ...Array(50).fill(true)]);
    expect(cache.bytes).toBe(100 * bytesOfOne());
  });

  test('counts an entry that is replaced or has ended once', () => {
    const cache = new KeyCache();
    for (let time = 0; time < 3; time += 1) cache.set(known(1));
    expect(cache.bytes).toBe(bytesOfOne());
    cache.setEnded(known(1));
    expect(cache.bytes).toBe(0);
  });

  test('says whose a key is after its client was evicted, but does not return it', () => {
    const cache = new KeyCache();
    cache.set(known(1));
    cache.evictClients([5_001n]);
    expect(cache.get(hashOf(1))).toBeUndefined();
    expect(cache.getOwner(hashOf(1))).toMatchObject({ id: 1_001n, clientId: 5_001n });
    cache.set(known(1, {}, cache.generation));
    expect(cache.get(hashOf(1))).toBeDefined();
  });

  test('evicts every client if more have changed than it remembers', () => {
    const cache = new KeyCache();
    cache.set(known(1));
    for (let start = 1; start <= 10; start += 1) {
      cache.evictClients(Array.from({ length: 10_000 }, (_, i) => BigInt(1_000_000 * start + i)));
      expect(cache.get(hashOf(1))).toBeDefined();
    }
    cache.evictClients([1n]);
    expect(cache.get(hashOf(1))).toBeUndefined();
    cache.set(known(2, {}, cache.generation));
    expect(cache.get(hashOf(2))).toBeDefined();
  });

  test.each([
    ['of a plan', {}],
    ['with custom limits', { plan: 'enterprise', perMinute: 700, perDay: 7_000_000, openOrdersMax: 7 }],
  ] as const)('counts the heap that keys of clients %s take, within 15%', async (_, more) => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    const cache = new KeyCache();
    // What earlier tests have left is garbage only once their promises are settled.
    await new Promise(setImmediate);
    gc();
    const before = process.memoryUsage().heapUsed;
    for (let number = 0; number < 100_000; number += 1) cache.set(known(number, more));
    gc();
    const taken = process.memoryUsage().heapUsed - before;
    expect(taken / cache.bytes).toBeGreaterThan(0.85);
    expect(taken / cache.bytes).toBeLessThan(1.15);
  });
});
