// A stream that catches up is charged for its pages. Without requests left it waits, and is not closed.

import { describe, expect, test } from 'vitest';
import { StreamReader } from '../../../../testkit/stream-reader.ts';
import { testAuthor } from '../../../../testkit/test-author.ts';
import { setPlan } from '../../../src/access/clients/clients.ts';
import { listBans } from '../../../src/access/rate-limit/bans.ts';
import { addPet } from '../../adoption-steps.ts';
import { publishAll } from '../../event-steps.ts';
import { ManualClock } from '../../manual-clock.ts';
import { openTestStore, type TestKey } from '../../test-store.ts';

const pageSize = 100;
const clock = new ManualClock('2026-11-15T10:00:00Z');
const store = await openTestStore({ clock });
const writer = await store.createKey();
const { id } = await addPet(store, writer);
await store.asOwner(`insert into outbox (type, pet_id, data) select 'pet.updated', $1, '{}' from generate_series(1, 2999)`, id);
await publishAll(store);

const open = ({ key }: TestKey) => StreamReader.open(`${store.url}/v1/events`, { key, keepsEvents: false });

async function used({ key }: TestKey): Promise<number> {
  const { headers } = await store.call('GET', '/v1/pets', { key });
  return Number(headers['x-ratelimit-limit']) - Number(headers['x-ratelimit-remaining']);
}

describe('A stream from the start of 3,000 events', () => {
  test('costs a request for each page of 100 after the first', async () => {
    const key = await store.createKey();
    using stream = await open(key);
    await stream.untilCount(3_000, 20_000);
    // 30 pages, of which the first is part of the stream's own request, and the request that reads the limit.
    expect(await used(key)).toBe(31);
  });

  test('with 10 requests a minute gets 10 pages, pauses, and continues in the next minute: 3,000 events cost no strike and no new request', async () => {
    clock.set('2026-11-15T10:00:00Z');
    const key = await store.createKey({ plan: { perMinute: 10, perDay: 1_000 } });
    using stream = await open(key);
    await stream.untilCount(10 * pageSize, 20_000);
    for (let minute = 1; minute <= 2; minute += 1) {
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect([stream.count, stream.isEnded]).toEqual([minute * 10 * pageSize, false]);
      clock.advance(60_000);
      await stream.untilCount((minute + 1) * 10 * pageSize, 20_000);
    }
    const { redis, redisKeys } = store.dependencies;
    expect(await redis.call((client) => listBans(client, redisKeys, clock.now()))).toEqual([]);
    // The first 429 that the reader gets is the first of its window: it starts the free second.
    const rejected = await store.call('GET', '/v1/pets', { key: key.key });
    expect(rejected).toMatchObject({ status: 429, headers: { 'x-ratelimit-strikes-remaining': '30' } });
  });

  test('opened five times at once by a client with requests for 28 more pages is continued by two of them; the others wait for their turn', async () => {
    clock.set('2026-11-15T11:00:00Z');
    const key = await store.createKey({ plan: { perMinute: 33, perDay: 1_000 } });
    const streams = await Promise.all(Array.from({ length: 5 }, () => open(key)));
    const total = () => streams.reduce((sum, { count }) => sum + count, 0);
    try {
      await streams[0]?.until(() => total() === 33 * pageSize, 'page more', 20_000);
      // Neither of the two is done, which takes 29 more, so no third one has got its turn.
      expect(streams.filter(({ count }) => count > pageSize)).toHaveLength(2);
    } finally {
      for (const stream of streams) stream[Symbol.dispose]();
    }
  });

  test('that is paused continues at once if the client gets a larger plan', async () => {
    clock.set('2026-11-15T14:00:00Z');
    const key = await store.createKey({ client: 'Grower', plan: { perMinute: 2, perDay: 1_000 } });
    using stream = await open(key);
    await stream.untilCount(2 * pageSize, 20_000);
    await setPlan(store.dependencies.db, testAuthor, 'Grower', { plan: 'business', perMinute: null, perDay: null });
    await stream.untilCount(3_000, 20_000);
    expect(stream.isEnded).toBe(false);
  });

  test('opened five times at once by one client delivers everything to each of them', async () => {
    clock.set('2026-11-15T12:00:00Z');
    const key = await store.createKey();
    const streams = await Promise.all(Array.from({ length: 5 }, () => open(key)));
    try {
      for (const stream of streams) await stream.untilCount(3_000, 30_000);
      expect(await used(key)).toBe(5 * 30 + 1);
    } finally {
      for (const stream of streams) stream[Symbol.dispose]();
    }
  });

  test('of a client without requests left delays no other client', async () => {
    clock.set('2026-11-15T13:00:00Z');
    const poor = await store.createKey({ plan: { perMinute: 3, perDay: 1_000 } });
    using paused = await open(poor);
    await paused.untilCount(3 * pageSize, 20_000);
    const key = await store.createKey();
    using stream = await open(key);
    await stream.untilCount(3_000, 20_000);
    expect(paused.count).toBe(3 * pageSize);
  });
});

test('A stream at the end of the feed is not charged for new events', async () => {
  const key = await store.createKey();
  using stream = await StreamReader.open(`${store.url}/v1/events?cursor=latest`, { key: key.key });
  const before = await used(key);
  for (let i = 1; i <= 3; i += 1) {
    await addPet(store, writer);
    await publishAll(store);
    await stream.untilCount(i);
  }
  expect((await used(key)) - before).toBe(1);
});
