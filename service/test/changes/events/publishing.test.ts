import pg from 'pg';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { expireDueOrders } from '../../../src/adoption/orders/orders.ts';
import { petJson } from '../../../src/animals/pets/pet-json.ts';
import { recordEvents } from '../../../src/changes/events/events.ts';
import { Publisher, type PublisherParts } from '../../../src/changes/events/publisher.ts';
import { Transaction } from '../../../src/platform/db/handles.ts';
import { act, addPet, createManager, letExpire, placeOrder, readPet } from '../../adoption-steps.ts';
import { petIdOf, publishAll, readOn, typesOf } from '../../event-steps.ts';
import { openTestStore } from '../../test-store.ts';

let next: string;
const store = await openTestStore();
const [key, manager] = [await store.createKey(), await createManager(store)];
beforeEach(async () => {
  ({ next } = await readOn(store, manager));
});

const readNew = async () => (await readOn(store, manager, next)).events;
const patch = (id: number, body: object) => store.call('PATCH', `/v1/pets/${id}`, { key: manager.key, body });
const publisherOf = (parts: Partial<PublisherParts> = {}) =>
  new Publisher({ db: store.dependencies.db, batchSizeMax: 500, beforePublishing: async () => {}, ...parts });

/** A writer with its own transaction, which stays open. */
async function openWriter(): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString: store.databaseUrl });
  await client.connect();
  await client.query('begin');
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

const renamed = (petId: number, n: number) => ({ type: 'pet.updated', petId: BigInt(petId), clientId: null, data: `{"n":${n}}` }) as const;

describe('An event is recorded with its change', () => {
  test.each([
    ['a new name', { name: 'Rex' }, ['pet.updated']],
    ['a new category', { categoryId: 2 }, ['pet.updated']],
    ['a new status', { status: 'sold' }, ['pet.status_changed']],
    ['a new name and status', { name: 'Rex', status: 'sold' }, ['pet.updated', 'pet.status_changed']],
    ['what it has already', { name: 'Biscuit' }, []],
  ])('%s', async (_, body, types) => {
    const { id } = await addPet(store, key);
    await patch(id, body);
    const [, ...events] = await readNew();
    expect(typesOf(events)).toEqual(types);
    const pet = await readPet(store, key, id);
    for (const event of events) expect(event.data.pet).toEqual(pet);
  });

  test('a removed animal, with its last state', async () => {
    const pet = await addPet(store, key);
    await store.call('DELETE', `/v1/pets/${pet.id}`, { key: manager.key });
    expect(await readNew()).toMatchObject([{ type: 'pet.created' }, { type: 'pet.removed', data: { pet } }]);
  });

  test('an expired order, and its animal that is available again', async () => {
    const { id } = await addPet(store, key);
    const order = await placeOrder(store, key, id);
    await letExpire(store, order.id);
    await expireDueOrders(store.dependencies.db, store.dependencies.catalogue, 100);
    const events = (await readNew()).slice(-2);
    expect(events).toMatchObject([
      { type: 'order.expired', data: { order: { id: order.id, status: 'expired' } } },
      { type: 'pet.status_changed', data: { pet: { id, status: 'available' }, previousStatus: 'pending' } },
    ]);
  });

  test('only once for a retry with the same Idempotency-Key', async () => {
    const post = () =>
      store.call('POST', '/v1/pets', { key: key.key, body: { name: 'Once', categoryId: 1 }, headers: { 'idempotency-key': 'once' } });
    await post();
    await post();
    expect(typesOf(await readNew())).toEqual(['pet.created']);
  });

  test.each([
    [
      'a rejected order',
      async (id: number) =>
        store.call('POST', '/v1/store/orders', { key: key.key, body: { petId: id, adopter: { name: 'Ada', email: 'ada@example.org' } } }),
    ],
    ['a rejected change', async (id: number) => patch(id, { name: '' })],
    [
      'a stale change',
      async (id: number) =>
        store.call('PATCH', `/v1/pets/${id}`, { key: manager.key, body: { name: 'X' }, headers: { 'if-match': '"old"' } }),
    ],
  ])('not for %s', async (_, change) => {
    const { id } = await addPet(store, key, { status: 'sold' });
    expect((await change(id)).status).toBeGreaterThanOrEqual(400);
    expect(typesOf(await readNew())).toEqual(['pet.created']);
  });

  test('not for a transaction that is rolled back', async () => {
    const { id } = await addPet(store, key);
    await using writer = await openWriter();
    await recordEvents(new Transaction(writer), renamed(id, 1));
    await writer.query('rollback');
    expect(typesOf(await readNew())).toEqual(['pet.created']);
  });
});

describe('pet.created has the same bytes as the response of the API', () => {
  test.each([
    'Biscuit',
    '"quoted" \\ back\\slash /',
    'Ünïcödé 🐕‍🦺 \u{1F408}',
    '%s %1$s {}',
    '\u2028\u2029\ufeffx',
    '<script>&amp;',
    "O'Malley",
  ])('for the name %j', async (name) => {
    const body = JSON.stringify({ name, categoryId: 0 }).replace('"categoryId":0', '"categoryId":9223372036854775807');
    const { text } = await store.call('POST', '/v1/pets', { key: key.key, raw: body, headers: { 'content-type': 'application/json' } });
    await publishAll(store);
    const rows = await store.read<{ data: string; pet_id: bigint }>('select data, pet_id from events order by position desc limit 1');
    expect(rows[0]?.data).toBe(`{"pet":${text}}`);
    expect(text).toBe(petJson({ id: rows[0]?.pet_id ?? 0n, name, categoryId: 2n ** 63n - 1n, status: 'available' }));
    expect((await store.call('GET', next, { key: key.key })).text).toContain(`"data":{"pet":${text}}`);
  });

  test('for an int64 below zero', async () => {
    const { text } = await store.call('POST', '/v1/pets', { key: key.key, raw: '{"name":"Low","categoryId":-9223372036854775808}' });
    await publishAll(store);
    expect((await store.call('GET', next, { key: key.key })).text).toContain(`"data":{"pet":${text}}`);
  });
});

describe('Publishing', () => {
  test('misses no transaction that commits late, and publishes none twice', async () => {
    const { id } = await addPet(store, key);
    await using late = await openWriter();
    await recordEvents(new Transaction(late), renamed(id, 1));
    const other = await addPet(store, key);
    const before = await readOn(store, manager, next);
    await late.query('commit');
    const after = await readOn(store, manager, before.next);
    expect(before.events.map(petIdOf)).toEqual([id, other.id]);
    expect(after.events).toMatchObject([{ type: 'pet.updated', data: { n: 1 } }]);
  });

  test('publishes the events of each animal in order, in batches of any size', async () => {
    const pets = [await addPet(store, key), await addPet(store, key)];
    for (let i = 0; i < 20; i += 1) for (const { id } of pets) await patch(id, { name: `Name ${i}` });
    const counts: number[] = [];
    for (let batches = 0; batches < 100; batches += 1) {
      const count = await publisherOf({ batchSizeMax: 7 }).publish();
      if (count === 0) break;
      counts.push(count);
    }
    expect(counts).toEqual([7, 7, 7, 7, 7, 7]);
    const events = await readNew();
    for (const { id } of pets) {
      const animalNames = events.filter((event) => petIdOf(event) === id).map(({ data }) => data.pet?.name);
      expect(animalNames).toEqual(['Biscuit', ...Array.from({ length: 20 }, (_, i) => `Name ${i}`)]);
    }
  });

  test('is done by one publisher at a time; the other has nothing to do', async () => {
    await addPet(store, key);
    const [publishing, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first = publisherOf({
      beforePublishing: async () => {
        publishing.resolve();
        await release.promise;
      },
    }).publish();
    await publishing.promise;
    expect(await publisherOf().publish()).toBe(0);
    release.resolve();
    expect(await first).toBe(1);
    expect(typesOf(await readNew())).toEqual(['pet.created']);
  });

  test('hears of the transaction of an order with its first event, also if that of the animal is in the next batch', async () => {
    const { id } = await addPet(store, key);
    await readNew();
    await placeOrder(store, key, id);
    const transactions: string[][] = [];
    const publisher = publisherOf({ batchSizeMax: 1, beforePublishing: async (ids) => void transactions.push([...ids]) });
    while ((await publisher.publish()) > 0);
    const [ofOrder, ofPet, ...others] = transactions;
    expect(ofOrder).toHaveLength(1);
    expect([ofPet, others]).toEqual([ofOrder, []]);
  });

  test('hears of the transactions that changed animals before their events are visible', async () => {
    const { id } = await addPet(store, key);
    const order = await placeOrder(store, key, id);
    await act(store, manager, order.id, 'approve');
    let visible: unknown[] | undefined;
    let transactions: readonly string[] = [];
    await publisherOf({
      beforePublishing: async (ids) => {
        transactions = ids;
        visible = (await store.call<unknown[]>('GET', next, { key: key.key })).json;
      },
    }).publish();
    expect(visible).toEqual([]);
    // The animal was added in one, and ordered in the other. The approval has not changed it.
    expect(transactions).toHaveLength(2);
    const { redis, redisKeys } = store.dependencies;
    expect(await redis.client.zmscore(redisKeys.announcedTransactions, ...transactions)).not.toContain(null);
    expect(await readNew()).toHaveLength(4);
  });

  test('leaves a batch to the next publisher if one fails', async () => {
    await addPet(store, key);
    const fail = async () => {
      throw new Error('died');
    };
    await expect(publisherOf({ beforePublishing: fail }).publish()).rejects.toThrow('died');
    expect(typesOf(await readNew())).toEqual(['pet.created']);
  });

  test('starts after the rows that are published for good, and finds one of a transaction that was open meanwhile', async () => {
    const { db } = store.dependencies;
    const mark = async () => (await db.query<{ mark: bigint }>({ text: 'select published_to as mark from feed' })).rows[0]?.mark ?? 0n;
    const publisher = publisherOf();
    const publishUntilMarked = async (before: bigint) => {
      // The mark moves a second after a batch at the earliest.
      await vi.waitUntil(
        async () => {
          await publisher.publish();
          return (await mark()) > before;
        },
        { timeout: 10_000, interval: 50 },
      );
      return mark();
    };
    const { id } = await addPet(store, key);
    await publisher.publish();
    const first = await publishUntilMarked(await mark());
    await using late = await openWriter();
    await recordEvents(new Transaction(late), renamed(id, 1));
    await addPet(store, key);
    await publisher.publish();
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    await publisher.publish();
    await publisher.publish();
    expect(await mark()).toBe(first);
    await late.query('commit');
    await publishUntilMarked(first);
    expect(typesOf(await readNew())).toEqual(['pet.created', 'pet.created', 'pet.updated']);
  });
});
