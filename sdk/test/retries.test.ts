// Against a staging deployment, which simulates errors on request, and through a proxy that drops connections.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { holdLocks } from '../../service/test/lock-waits.ts';
import { createTestStore, type TestStore } from '../../service/test/test-store.ts';
import { startFlakyProxy } from '../../testkit/flaky-proxy.ts';
import { ConnectionError, createStore, type StoreOptions } from '../src/index.ts';

let service: TestStore;
beforeAll(async () => {
  service = await createTestStore({ env: { HOMEWARD_ENVIRONMENT: 'staging' } });
});
afterAll(() => service[Symbol.asyncDispose]());

interface Sent {
  readonly atMs: number;
  readonly status: number;
  readonly idempotencyKey: string | null;
}

/** A client with a new key, and the requests that it sends. */
async function client(simulate: string | undefined, options: Partial<StoreOptions> = {}) {
  const { key } = await service.createKey();
  const sent: Sent[] = [];
  const watched: typeof fetch = async (input, init) => {
    const atMs = performance.now();
    const response = await fetch(input, init);
    sent.push({ atMs, status: response.status, idempotencyKey: new Headers(init?.headers).get('idempotency-key') });
    return response;
  };
  const headers = simulate ? { 'Homeward-Simulate': simulate } : {};
  return { store: createStore({ url: service.url, key, headers, fetch: watched, ...options }), sent };
}

describe('a temporary error', () => {
  test('429 is retried after Retry-After and a short jitter, and the call succeeds', async () => {
    const { store, sent } = await client('rate_limit');
    await store.pets.add({ name: 'Patient', categoryId: 1 });
    expect(sent.map(({ status }) => status)).toEqual([429, 201]);
    const waitedMs = (sent[1]?.atMs ?? 0) - (sent[0]?.atMs ?? 0);
    expect(waitedMs).toBeGreaterThanOrEqual(3_000);
    expect(waitedMs).toBeLessThan(8_000);
    expect(sent[1]?.idempotencyKey).toBe(sent[0]?.idempotencyKey);
  });

  test('503 is retried', async () => {
    const { store, sent } = await client('unavailable');
    await store.pets.find(1);
    expect(sent.map(({ status }) => status)).toEqual([503, 200]);
  });

  test('409 of a search too many is retried after Retry-After', async () => {
    const { store, sent } = await client(undefined);
    await store.pets.add({ name: 'Wanted', categoryId: 1 });
    // Each search that finds an animal reads its photos, and waits for this.
    const lock = await holdLocks(service, 'lock table photos in access exclusive mode', []);
    const searches = [1, 2, 3].map((limit) => store.listings.search({ limit }).page());
    await vi.waitUntil(() => sent.some(({ status }) => status === 409));
    await lock.release();
    await Promise.all(searches);
    expect(sent.filter(({ status }) => status === 409)).toHaveLength(1);
  });

  test('429 holds back every other call of the instance, except the few in flight', async () => {
    const { store, sent } = await client('rate_limit', { totalTimeoutMs: 1_000 });
    const calls = await Promise.allSettled(Array.from({ length: 50 }, () => store.pets.find(1)));
    expect(calls.every(({ status }) => status === 'rejected')).toBe(true);
    expect(sent.length).toBeLessThanOrEqual(6);
  });

  test('is thrown at once if the wait exceeds the total timeout, and no request is sent until it is over', async () => {
    const { store, sent } = await client('ban', { totalTimeoutMs: 2_000 });
    const expected = { code: 'api_key_banned', retryAfterSeconds: 10 };
    await expect(store.pets.find(1)).rejects.toMatchObject(expected);
    await expect(store.pets.find(1)).rejects.toMatchObject(expected);
    await expect(store.pets.add({ name: 'Barred', categoryId: 1 })).rejects.toMatchObject(expected);
    expect(sent).toHaveLength(1);
  });

  test('the signal ends a wait', async () => {
    const { store } = await client('ban');
    const gone = new AbortController();
    const pending = store.pets.find(1, { signal: gone.signal });
    setTimeout(() => gone.abort(new Error('gone')), 200);
    await expect(pending).rejects.toThrow('gone');
  });
});

describe('a permanent error', () => {
  test('is thrown at once and not retried', async () => {
    const { store, sent } = await client(undefined);
    await expect(store.orders.get(404)).rejects.toMatchObject({ code: 'order_not_found' });
    await expect(store.pets.add({ name: '', categoryId: 1 })).rejects.toMatchObject({ code: 'invalid_body' });
    expect(sent.map(({ status }) => status)).toEqual([404, 400]);
  });
});

describe('a known rate limit', () => {
  test('is never exceeded: with four requests left in a minute, four are sent', async () => {
    const { key: short } = await service.createKey({ plan: { perMinute: 5, perDay: 1_000 } });
    let sent = 0;
    const counted: typeof fetch = (input, init) => {
      sent += 1;
      return fetch(input, init);
    };
    const store = createStore({ url: service.url, key: short, fetch: counted });
    await store.pets.find(1);
    const { resetAt } = store.rateLimit ?? { resetAt: new Date() };
    const gone = new AbortController();
    const pending = Array.from({ length: 20 }, () => store.pets.find(1, { signal: gone.signal }));
    const settled = Promise.allSettled(pending);
    setTimeout(() => gone.abort(), Math.min(1_500, Math.max(resetAt.getTime() - Date.now() - 100, 100)));
    const done = (await settled).filter(({ status }) => status === 'fulfilled').length;
    expect({ sent, done }).toEqual({ sent: 5, done: 4 });
  });
});

describe('a lost connection', () => {
  test('is retried, and a POST takes effect once despite resets', async () => {
    await using proxy = await startFlakyProxy(service.url, 0.3);
    const { store } = await client(undefined, { url: proxy.url });
    const names = Array.from({ length: 40 }, (_, i) => `Reset ${i}`);
    const added = await Promise.all(names.map((name) => store.pets.add({ name, categoryId: 99 })));
    expect(added.map(({ name }) => name)).toEqual(names);
    const { store: steady } = await client(undefined);
    const stored: string[] = [];
    for await (const { name } of steady.pets.list({ categoryId: 99 })) stored.push(name);
    expect(stored.sort()).toEqual(names.sort());
    expect(proxy.resetsAfterResponse).toBeGreaterThan(0);
  });

  test('is a ConnectionError after the total timeout', async () => {
    const { store } = await client(undefined, { url: 'http://127.0.0.1:1', totalTimeoutMs: 600 });
    await expect(store.pets.find(1)).rejects.toThrow(ConnectionError);
  });

  test('an attempt that times out is a ConnectionError', async () => {
    const server = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { store } = await client(undefined, {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      timeoutMs: 100,
      totalTimeoutMs: 300,
    });
    await expect(store.pets.find(1)).rejects.toThrow(ConnectionError);
    server.closeAllConnections();
    server.close();
  });
});
