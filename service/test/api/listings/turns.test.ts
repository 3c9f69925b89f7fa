// Searches that take long: each waits for a lock on the table of photos, which no write of an animal or an order needs.
import { describe, expect, test, vi } from 'vitest';
import { addPet } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { searchListings } from '../../listing-steps.ts';
import { holdLocks } from '../../lock-waits.ts';
import { openTestStore, type TestKey } from '../../test-store.ts';

const store = await openTestStore();
const [free, partner] = [await store.createKey({ plan: 'free' }), await store.createKey()];
await addPet(store, partner);

let searches = 1_000;
/** Each of its own URL, so that none is cached or shared. */
const search = (key: TestKey) => searchListings(store, key, `?id=1&id=${++searches}`);
const running = (count: number) => vi.waitUntil(() => store.dependencies.db.state.connections.searches.busy === count, { interval: 5 });

/** Every search waits until `work` has ended. */
async function whileSlow(work: () => Promise<void>): Promise<void> {
  const lock = await holdLocks(store, 'lock table photos in access exclusive mode', []);
  try {
    await work();
  } finally {
    await lock.release();
  }
}

describe('While searches take long', () => {
  test('a Free key with 6 searches in flight gave others 503: they still write, and still search', async () => {
    const sent: Array<Promise<unknown>> = [];
    let honest: ReturnType<typeof search> | undefined;
    await whileSlow(async () => {
      sent.push(...Array.from({ length: 6 }, () => search(free)));
      await running(2);
      honest = search(partner);
      await running(3);
      for (let i = 0; i < 3; i += 1) {
        const headers = { 'idempotency-key': crypto.randomUUID() };
        const body = { name: 'Biscuit', categoryId: 1 };
        expect((await store.call('POST', '/v1/pets', { key: partner.key, headers, body })).status).toBe(201);
      }
    });
    expect((await honest)?.status).toBe(200);
    await Promise.all(sent);
  });

  test('the third of a client waits half a second, and is then 409 too_many_searches', async () => {
    const two: Array<Promise<unknown>> = [];
    await whileSlow(async () => {
      two.push(search(free), search(free));
      await running(2);
      const third = await search(free);
      expect(third).toMatchObject(
        errorResponse(
          409,
          'too_many_searches',
          'This client is running 2 searches, or pauses after slow ones; 2 at once are allowed. Retry in 1 s.',
        ),
      );
      expect(third.headers['retry-after']).toBe('1');
    });
    await Promise.all(two);
    expect((await search(free)).status).toBe(200);
  });

  test('a client that joins the search of one with too many gets its page', async () => {
    const popular = '?limit=1&id=1';
    const two: Array<Promise<unknown>> = [];
    let joined: ReturnType<typeof search> | undefined;
    await whileSlow(async () => {
      two.push(search(free), search(free));
      await running(2);
      const rejected = searchListings(store, free, popular);
      await vi.waitUntil(() => store.dependencies.db.state.waiting.searches === 1, { interval: 5 });
      joined = searchListings(store, partner, popular);
      expect((await rejected).status).toBe(409);
    });
    expect((await joined)?.status).toBe(200);
    await Promise.all(two);
  });
});
