import { describe, expect, test } from 'vitest';
import { testAuthor } from '../../../../testkit/test-author.ts';
import { eraseOrderAndApplicant } from '../../../src/adoption/applications/applicants.ts';
import { expireDueOrders } from '../../../src/adoption/orders/orders.ts';
import { eventTypes } from '../../../src/domain/event-types.ts';
import { writeCursor } from '../../../src/platform/http/paging.ts';
import { act, actAll, addPet, adopter, createManager, letExpire, placeOrder } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { type EventBody, publishAll, readOn, typesOf } from '../../event-steps.ts';
import { nextPage } from '../../page-walk.ts';
import { openTestStore, type TestKey } from '../../test-store.ts';

const store = await openTestStore();
const [key, manager] = [await store.createKey(), await createManager(store)];

const list = (query = '', { key: by } = key) => store.call<EventBody[]>('GET', `/v1/events${query}`, { key: by });

describe('GET /v1/events', () => {
  test('has an event for a new animal, in the documented format', async () => {
    const { next } = await readOn(store, key);
    const pet = await addPet(store, key);
    const { events } = await readOn(store, key, next);
    expect(events).toEqual([
      { id: expect.stringMatching(/^evt_[1-9]\d*$/), type: 'pet.created', createdAt: expect.any(String), data: { pet } },
    ]);
    expect(Math.abs(Date.now() - Date.parse(events[0]?.createdAt ?? ''))).toBeLessThan(60_000);
  });

  test('shows nothing before it is published, and the same page has it afterwards', async () => {
    const { next } = await readOn(store, key);
    await addPet(store, key);
    const before = await store.call('GET', next, { key: key.key });
    expect(before).toMatchObject({ status: 200, text: '[]' });
    expect(nextPage(before)).toBe(next);
    await publishAll(store);
    expect((await store.call<EventBody[]>('GET', next, { key: key.key })).json).toHaveLength(1);
  });

  test('has pages of the requested size, 20 by default, with each event once and in order', async () => {
    for (let i = 0; i < 25; i += 1) await addPet(store, key);
    const { events } = await readOn(store, key);
    expect((await list()).json).toEqual(events.slice(0, 20));
    expect((await readOn(store, key, '/v1/events?limit=7')).events).toEqual(events);
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  });

  test('links to the next page with the same limit and type', async () => {
    const next = nextPage(await list('?limit=3&type=pet.removed'));
    expect(next).toMatch(/^\/v1\/events\?limit=3&type=pet\.removed&cursor=[\w-]+$/);
  });

  test('filters by type, and a cursor works with every filter', async () => {
    const { next } = await readOn(store, key);
    const { id } = await addPet(store, key);
    await store.call('DELETE', `/v1/pets/${id}`, { key: manager.key });
    const cursor = new URL(next, store.url).searchParams.get('cursor');
    expect(typesOf((await readOn(store, key, `/v1/events?type=pet.removed&cursor=${cursor}`)).events)).toEqual(['pet.removed']);
    expect(typesOf((await readOn(store, key, `/v1/events?cursor=${cursor}`)).events)).toEqual(['pet.created', 'pet.removed']);
  });

  test('has an ETag, and is 304 if nothing was published since', async () => {
    const { next } = await readOn(store, key);
    const { headers } = await store.call('GET', next, { key: key.key });
    expect(await store.call('GET', next, { key: key.key, headers: { 'if-none-match': String(headers.etag) } })).toMatchObject({
      status: 304,
    });
  });

  test('responds to HEAD as to GET without a body, whatever Accept says', async () => {
    expect(await store.call('HEAD', '/v1/events', { key: key.key, headers: { accept: 'text/event-stream' } })).toMatchObject({
      status: 200,
      text: '',
    });
  });

  test('of a rare type is read by an index: it is on the first page, however many other events precede it', async () => {
    const { next } = await readOn(store, manager, '/v1/events?limit=100&type=order.placed');
    const { id } = await addPet(store, key);
    await store.asOwner(`insert into outbox (type, pet_id, data) select 'pet.updated', $1, '{}' from generate_series(1, 10000)`, id);
    await placeOrder(store, key, id);
    await publishAll(store);
    const first = await store.call<EventBody[]>('GET', next, { key: manager.key });
    expect(typesOf(first.json)).toEqual(['order.placed']);
    // The client of the order finds it too, and a client without orders reaches the end of the feed at once.
    expect(typesOf((await store.call<EventBody[]>('GET', next, { key: key.key })).json)).toEqual(['order.placed']);
    const stranger = await store.createKey();
    const nothing = await store.call<EventBody[]>('GET', next, { key: stranger.key });
    expect([nothing.json, nextPage(nothing)]).toEqual([
      [],
      nextPage(await store.call('GET', '/v1/events?limit=100&type=order.placed&cursor=latest', stranger)),
    ]);
  });
});

describe('Events about orders', () => {
  test('are published for each transition, with those about the animal', async () => {
    const { next } = await readOn(store, key);
    const [first, second] = [await addPet(store, key), await addPet(store, key)];
    const sold = await placeOrder(store, key, first.id);
    await actAll(store, manager, sold.id, 'approve', 'complete', 'return');
    const called = await placeOrder(store, key, second.id);
    await actAll(store, key, called.id, 'cancel');
    const { events } = await readOn(store, key, next);
    const changed = (from: string, to: string) => ({ type: 'pet.status_changed', data: { pet: { status: to }, previousStatus: from } });
    const order = (status: string) => ({ type: `order.${status}`, data: { order: { status } } });
    expect(events).toMatchObject([
      { type: 'pet.created' },
      { type: 'pet.created' },
      order('placed'),
      changed('available', 'pending'),
      order('approved'),
      order('completed'),
      changed('pending', 'sold'),
      order('returned'),
      changed('sold', 'available'),
      order('placed'),
      changed('available', 'pending'),
      order('cancelled'),
      changed('pending', 'available'),
    ]);
  });

  test('contain the order without its adopter', async () => {
    const { id } = await addPet(store, key);
    const { next } = await readOn(store, key);
    const { adopter: _, ...order } = await placeOrder(store, key, id);
    const { events } = await readOn(store, key, next);
    expect(events[0]).toMatchObject({ type: 'order.placed', data: { order } });
    expect(Object.keys(events[0]?.data.order ?? {})).toEqual(Object.keys(order));
  });

  test("are visible to the client's keys with orders:read and to the store's keys, and to nobody else", async () => {
    const { id } = await addPet(store, key);
    const { next } = await readOn(store, key);
    await placeOrder(store, key, id);
    const [stranger, narrow] = [
      await store.createKey(),
      await store.createKey({ client: 'narrow', scopes: ['pets:read', 'orders:write'] }),
    ];
    await placeOrder(store, narrow, (await addPet(store, key)).id);
    const seenBy = async (one: TestKey) => typesOf((await readOn(store, one, next)).events).filter((type) => type.startsWith('order.'));
    expect(await seenBy(key)).toEqual(['order.placed']);
    expect(await seenBy(manager)).toEqual(['order.placed', 'order.placed']);
    expect(await seenBy(stranger)).toEqual([]);
    expect(await seenBy(narrow)).toEqual([]);
    expect(await list('?type=order.placed', stranger)).toMatchObject({ status: 200, text: '[]' });
  });

  test('contain nothing of the adopter, whatever happened to the order', async () => {
    const orders = [];
    for (let i = 0; i < 4; i += 1) orders.push(await placeOrder(store, key, (await addPet(store, key)).id));
    const [expired, cancelled, returned] = orders.map(({ id }) => id) as [number, number, number, number];
    await letExpire(store, expired);
    await expireDueOrders(store.dependencies.db, store.dependencies.catalogue, 100);
    await act(store, key, cancelled, 'cancel');
    await actAll(store, manager, returned, 'approve', 'complete', 'return');
    await eraseOrderAndApplicant(store.dependencies.db, () => true, testAuthor, BigInt(cancelled));
    const { texts, events } = await readOn(store, manager);
    expect(typesOf(events)).toEqual(expect.arrayContaining(eventTypes.filter((type) => type.startsWith('order.'))));
    for (const text of texts) {
      expect(text).not.toContain('@example.org');
      expect(text).not.toContain(adopter.name);
      expect(text).not.toContain('"adopter"');
    }
  });
});

describe('GET /v1/events is rejected', () => {
  test.each([
    ['an unknown type', '?type=pet.sold', errorResponse(400, 'invalid_query', 'type')],
    ['a type given twice', '?type=pet.created&type=pet.removed', errorResponse(400, 'invalid_query', 'type is given 2 times')],
    ['a limit of 0', '?limit=0', errorResponse(400, 'invalid_query', 'limit')],
    ['a limit of 101', '?limit=101', errorResponse(400, 'invalid_query', 'limit')],
    ['an unknown parameter', '?since=1', errorResponse(400, 'invalid_query', 'since')],
    ['an empty cursor', '?cursor=', errorResponse(400, 'invalid_cursor')],
    ['a made-up cursor', '?cursor=bm9uc2Vuc2U', errorResponse(400, 'invalid_cursor')],
    ['a cursor of a list of animals', `?cursor=${writeCursor(1n, { status: 'sold' })}`, errorResponse(400, 'invalid_cursor')],
    ['a cursor past the end', `?cursor=${writeCursor(10n ** 9n, {})}`, errorResponse(410, 'cursor_expired', 'of events that were lost')],
    ['a cursor at the end of all numbers', `?cursor=${writeCursor(2n ** 63n - 1n, {})}`, errorResponse(410, 'cursor_expired')],
    ['a cursor before all numbers', `?cursor=${writeCursor(-(2n ** 63n), {})}`, errorResponse(410, 'cursor_expired')],
  ])('with %s', async (_, query, expected) => {
    expect(await list(query)).toMatchObject(expected);
  });

  test('without a key, and with one that lacks pets:read', async () => {
    const narrow = await store.createKey({ scopes: ['orders:read'] });
    expect(await store.call('GET', '/v1/events')).toMatchObject(errorResponse(401, 'api_key_missing'));
    expect(await list('', narrow)).toMatchObject(errorResponse(403, 'insufficient_scope', 'pets:read'));
  });
});
