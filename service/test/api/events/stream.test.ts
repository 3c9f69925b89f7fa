import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { StreamReader } from '../../../../testkit/stream-reader.ts';
import { addPet, createManager, placeOrder } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { type EventBody, publishAll, readOn } from '../../event-steps.ts';
import { createTestStore, openTestStore, type TestKey } from '../../test-store.ts';

let cursor: string;
const store = await openTestStore();
const [key, manager] = [await store.createKey(), await createManager(store)];
beforeEach(async () => {
  const { next } = await readOn(store, key);
  cursor = new URL(next, store.url).searchParams.get('cursor') ?? '';
});

const open = (query = `?cursor=${cursor}`, options: { key?: TestKey; lastId?: string; reads?: boolean; keepsText?: boolean } = {}) =>
  StreamReader.open(`${store.url}/v1/events${query}`, { ...options, key: (options.key ?? key).key });
const bodies = (reader: StreamReader) => reader.events.map(({ data }) => JSON.parse(data) as EventBody);
const rejected = (query: string, headers: Record<string, string> = {}) =>
  store.call('GET', `/v1/events${query}`, { key: key.key, headers: { accept: 'text/event-stream', ...headers } });

describe('A stream of events', () => {
  test('starts with the headers of every response, and must not be stored', async () => {
    using reader = await open();
    expect(reader.status).toBe(200);
    expect(reader.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'access-control-allow-origin': '*',
      'x-request-id': expect.stringMatching(/^req_/),
      'x-ratelimit-limit': expect.any(String),
      'x-ratelimit-remaining': expect.any(String),
      'x-ratelimit-reset': expect.any(String),
    });
  });

  test('sends what is published, with the same JSON as in a page', async () => {
    using reader = await open(undefined, { keepsText: true });
    await addPet(store, key, { name: '"Ünï" \\ 🐕' });
    await publishAll(store);
    const [event] = await reader.untilCount(1);
    const page = await store.call('GET', `/v1/events?cursor=${cursor}`, { key: key.key });
    expect(page.text).toBe(`[${event?.data}]`);
    expect(event?.type).toBe('pet.created');
    expect(reader.text).toMatch(/^retry: 1000\n\nid: [\w-]+\nevent: pet\.created\ndata: \{.*\}\n\n$/);
  });

  test('starts with the events after its cursor, even more than a page', async () => {
    const ids: number[] = [];
    for (let i = 0; i < 230; i += 1) ids.push((await addPet(store, key)).id);
    await publishAll(store);
    using reader = await open();
    await reader.untilCount(230);
    ids.push((await addPet(store, key)).id);
    await publishAll(store);
    await reader.untilCount(231);
    expect(bodies(reader).map(({ data }) => data.pet?.id)).toEqual(ids);
  });

  test('continues after Last-Event-ID, whatever its cursor is', async () => {
    for (let i = 0; i < 3; i += 1) await addPet(store, key);
    await publishAll(store);
    using reader = await open();
    const [first, second, third] = await reader.untilCount(3);
    using again = await open(undefined, { lastId: first?.id ?? '' });
    expect((await again.untilCount(2)).map(({ data }) => data)).toEqual([second?.data, third?.data]);
  });

  test('has ids that also work as cursors of pages', async () => {
    for (let i = 0; i < 2; i += 1) await addPet(store, key);
    await publishAll(store);
    using reader = await open();
    const [first, second] = await reader.untilCount(2);
    expect((await store.call('GET', `/v1/events?cursor=${first?.id}`, { key: key.key })).text).toBe(`[${second?.data}]`);
  });

  test('sends each reader the events that it may see, of the requested types', async () => {
    const stranger = await store.createKey();
    using own = await open();
    using other = await open(undefined, { key: stranger });
    using all = await open(undefined, { key: manager });
    using orders = await open(`?cursor=${cursor}&type=order.placed`);
    await placeOrder(store, key, (await addPet(store, key)).id);
    await publishAll(store);
    await Promise.all([own.untilCount(3), other.untilCount(2), all.untilCount(3), orders.untilCount(1)]);
    const types = (reader: StreamReader) => reader.events.map(({ type }) => type);
    expect(types(own)).toEqual(['pet.created', 'order.placed', 'pet.status_changed']);
    expect(types(other)).toEqual(['pet.created', 'pet.status_changed']);
    expect(types(all)).toEqual(types(own));
    expect(types(orders)).toEqual(['order.placed']);
    expect(JSON.stringify([own.events, all.events])).not.toContain('@example.org');
  });

  test('misses and duplicates nothing if events are published while it catches up', async () => {
    const { id } = await addPet(store, key);
    const insert = (from: number, count: number) =>
      store.asOwner(
        `insert into outbox (type, pet_id, data) select 'pet.updated', $1, format('{"n":%s}', n) from generate_series($2::int, $2 + $3 - 1) as n order by n`,
        id,
        from,
        count,
      );
    await insert(0, 1_500);
    await publishAll(store);
    using reader = await open(`?cursor=${cursor}&type=pet.updated`);
    for (let i = 0; i < 5; i += 1) {
      await insert(1_500 + i * 300, 300);
      await publishAll(store);
    }
    await reader.untilCount(3_000, 15_000);
    await sleep(250);
    expect(reader.events.map(({ data }) => JSON.parse(data).data.n)).toEqual(Array.from({ length: 3_000 }, (_, n) => n));
  });

  test.each([
    ['a made-up cursor', '?cursor=bm9uc2Vuc2U', {}, errorResponse(400, 'invalid_cursor')],
    ['a made-up Last-Event-ID', '', { 'last-event-id': 'evt_1' }, errorResponse(400, 'invalid_cursor')],
    ['an unknown type', '?type=pet.sold', {}, errorResponse(400, 'invalid_query')],
  ])('is rejected with JSON for %s', async (_, query, headers, expected) => {
    expect(await rejected(query, headers)).toMatchObject(expected);
  });

  test('ends for everyone when the process drains, and readers can continue at another process', async () => {
    await using leaving = await createTestStore({ env: { DATABASE_URL: store.databaseUrl } });
    using reader = await StreamReader.open(`${leaving.url}/v1/events?cursor=${cursor}`, { key: key.key });
    leaving.drain();
    await reader.until(() => reader.isEnded, 'end');
    expect(reader.status).toBe(200);
  });

  test('is 503 for the 101st of a client at a process, and pages still work', async () => {
    const greedy = await store.createKey();
    const readers = await Promise.all(Array.from({ length: 100 }, () => open(undefined, { key: greedy })));
    const response = await store.call('GET', '/v1/events', { key: greedy.key, headers: { accept: 'text/event-stream' } });
    expect(response).toMatchObject(errorResponse(503, 'unavailable', '100 streams of this client'));
    expect((await store.call('GET', '/v1/events', { key: greedy.key })).status).toBe(200);
    using other = await open();
    expect(other.status).toBe(200);
    for (const reader of readers) reader[Symbol.dispose]();
    await expect
      .poll(async () => {
        using again = await open(undefined, { key: greedy });
        return again.status;
      })
      .toBe(200);
  });
});
