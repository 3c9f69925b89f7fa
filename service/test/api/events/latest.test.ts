// cursor=latest: the current end of the feed.
import { beforeEach, describe, expect, test } from 'vitest';
import { StreamReader } from '../../../../testkit/stream-reader.ts';
import { addPet, type PetBody, placeOrder } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { type EventBody, petIdOf, publishAll, readOn, typesOf } from '../../event-steps.ts';
import { nextPage } from '../../page-walk.ts';
import { createTestStore, openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const key = await store.createKey();
beforeEach(async () => {
  await addPublished();
});

async function addPublished(): Promise<PetBody> {
  const pet = await addPet(store, key);
  await publishAll(store);
  return pet;
}

const get = (path: string, headers: Record<string, string> = {}) => store.call<EventBody[]>('GET', path, { key: key.key, headers });
const open = (query: string, lastId?: string) =>
  StreamReader.open(`${store.url}/v1/events${query}`, { key: key.key, keepsText: true, ...(lastId !== undefined && { lastId }) });

describe('GET /v1/events?cursor=latest', () => {
  test('is an empty page that links to events published from now on, and to none from before', async () => {
    const page = await get('/v1/events?cursor=latest&limit=7');
    expect(page).toMatchObject({ status: 200, text: '[]' });
    const next = nextPage(page) ?? '';
    expect(next).toMatch(/^\/v1\/events\?limit=7&cursor=(?!latest)[\w-]+$/);
    const later = [await addPublished(), await addPublished()];
    expect((await readOn(store, key, next)).events.map(petIdOf)).toEqual(later.map(({ id }) => id));
  });

  test('also links to events that happened before and were published after', async () => {
    const { id } = await addPet(store, key);
    const next = nextPage(await get('/v1/events?cursor=latest')) ?? '';
    expect((await get(next)).text).toBe('[]');
    expect((await readOn(store, key, next)).events.map(petIdOf)).toEqual([id]);
  });

  test('has the type in its link', async () => {
    const next = nextPage(await get('/v1/events?cursor=latest&type=order.placed')) ?? '';
    expect(next).toContain('&type=order.placed&cursor=');
    await placeOrder(store, key, (await addPet(store, key)).id);
    expect(typesOf((await readOn(store, key, next)).events)).toEqual(['order.placed']);
  });

  test('misses nothing while others publish: following the links returns every later event once', async () => {
    const begun = nextPage(await get('/v1/events?cursor=latest')) ?? '';
    const links: string[] = [];
    const write = async () => {
      for (let i = 0; i < 20; i += 1) await addPublished();
    };
    const look = async () => {
      for (let i = 0; i < 20; i += 1) links.push(nextPage(await get('/v1/events?cursor=latest')) ?? '');
    };
    await Promise.all([write(), look()]);
    const all = (await readOn(store, key, begun)).events;
    expect(all).toHaveLength(20);
    for (const link of links) {
      const { events } = await readOn(store, key, link);
      expect(events).toEqual(events.length === 0 ? [] : all.slice(-events.length));
    }
  });

  test('works with an empty feed', async () => {
    await using empty = await createTestStore();
    const own = await empty.createKey();
    const next = nextPage(await empty.call('GET', '/v1/events?cursor=latest', { key: own.key })) ?? '';
    const { id } = await addPet(empty, own);
    expect((await readOn(empty, own, next)).events.map(petIdOf)).toEqual([id]);
  });
});

describe('A stream from cursor=latest', () => {
  test('starts with an id to reconnect with, then has what is published from now on', async () => {
    using reader = await open('?cursor=latest');
    await reader.until(() => reader.lastId !== undefined, 'id');
    expect(reader.text).toMatch(/^retry: 1000\n\nid: [\w-]+\n\n$/);
    const begun = reader.lastId ?? '';
    const { id } = await addPublished();
    const events = await reader.untilCount(1);
    expect(events.map(({ data }) => petIdOf(JSON.parse(data)))).toEqual([id]);
    using again = await open('?cursor=latest', begun);
    expect((await again.untilCount(1))[0]?.data).toBe(events[0]?.data);
  });

  test('has only events of the requested type', async () => {
    using reader = await open('?cursor=latest&type=order.placed');
    await reader.until(() => reader.lastId !== undefined, 'id');
    await placeOrder(store, key, (await addPet(store, key)).id);
    await publishAll(store);
    expect((await reader.untilCount(1)).map(({ type }) => type)).toEqual(['order.placed']);
  });

  test('is overridden by Last-Event-ID, which is a cursor and never "latest"', async () => {
    const cursor = new URL(nextPage(await get('/v1/events?cursor=latest')) ?? '', store.url).searchParams.get('cursor') ?? '';
    const { id } = await addPublished();
    using reader = await open('?cursor=latest', cursor);
    expect((await reader.untilCount(1)).map(({ data }) => petIdOf(JSON.parse(data)))).toEqual([id]);
    expect(await get('/v1/events', { accept: 'text/event-stream', 'last-event-id': 'latest' })).toMatchObject(
      errorResponse(400, 'invalid_cursor'),
    );
  });
});

test.each(['/v1/pets', '/v1/categories', '/v1/store/orders', '/v1/webhooks'])('%s?cursor=latest is 400', async (path) => {
  expect((await get(`${path}?cursor=latest`)).status).toBe(400);
});
