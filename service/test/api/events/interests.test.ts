// Events of some shelters and categories: in pages, in streams and at endpoints.
import { describe, expect, test } from 'vitest';
import { StreamReader } from '../../../../testkit/stream-reader.ts';
import { addPet, createManager, placeOrder } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { petIdOf, publishAll, readOn, typesOf } from '../../event-steps.ts';
import { nextPage } from '../../page-walk.ts';
import { addShelter, createShelterKey } from '../../shelter-steps.ts';
import { webhookBench } from '../../webhook-bench.ts';
import { addAnimals, namesOf, publishChanges } from '../../webhook-steps.ts';

const bench = await webhookBench();
const { store } = bench;
const manager = await createManager(store);
const [one, other] = [await addShelter(store, 'One'), await addShelter(store, 'Other')];
const staff = { [one]: await createShelterKey(store, one), [other]: await createShelterKey(store, other) };

const addTo = async (shelter: number, more: { name?: string; categoryId?: number } = {}) => {
  const key = staff[shelter];
  if (!key) throw new Error('there is no such shelter');
  return addPet(store, key, more);
};
const move = (petId: number, shelterId: number) =>
  store.call('PUT', `/v1/pets/${petId}/shelter`, { key: manager.key, body: { shelterId } });
const startOf = async () => new URL((await readOn(store, manager)).next, store.url).searchParams.get('cursor') ?? '';

describe('GET /v1/events', () => {
  test('has only the events of the shelters and categories that are asked for, and of the orders for their animals', async () => {
    const cursor = await startOf();
    const [dog, cat] = [await addTo(one, { categoryId: 1 }), await addTo(one, { categoryId: 2 })];
    await addTo(other, { categoryId: 1 });
    await placeOrder(store, manager, dog.id);
    const read = async (query: string) => (await readOn(store, manager, `/v1/events?${query}&cursor=${cursor}`)).events;
    expect((await read(`shelterId=${one}`)).map(petIdOf)).toEqual([dog.id, cat.id, dog.id, dog.id]);
    expect((await read(`shelterId=${one}&categoryId=2`)).map(petIdOf)).toEqual([cat.id]);
    expect(typesOf(await read(`shelterId=${one}&type=order.placed`))).toEqual(['order.placed']);
    expect(await read(`shelterId=${one}&shelterId=${other}&categoryId=1`)).toHaveLength(4);
    expect(await read('categoryId=9')).toEqual([]);
  });

  test('of a move is for both shelters, and of another category for both categories', async () => {
    const { id } = await addTo(one, { categoryId: 1 });
    const cursor = await startOf();
    expect((await move(id, other)).status).toBe(200);
    await store.call('PATCH', `/v1/pets/${id}`, { key: manager.key, body: { categoryId: 2 } });
    await store.call('PATCH', `/v1/pets/${id}`, { key: manager.key, body: { name: 'Scout' } });
    const read = async (query: string) => (await readOn(store, manager, `/v1/events?${query}&cursor=${cursor}`)).events;
    const [moved] = await read(`shelterId=${one}`);
    expect(moved).toMatchObject({ type: 'pet.moved', data: { pet: { id }, shelterId: other, previousShelterId: one } });
    expect(typesOf(await read(`shelterId=${one}`))).toEqual(['pet.moved']);
    expect(typesOf(await read(`shelterId=${other}`))).toEqual(['pet.moved', 'pet.updated', 'pet.updated']);
    expect(await read('categoryId=1&type=pet.updated')).toMatchObject([{ data: { pet: { categoryId: 2 }, previousCategoryId: 1 } }]);
    expect(await read('categoryId=2&type=pet.updated')).toHaveLength(2);
  });

  test('links to the next page with the same filters, and a page may be empty before the end', async () => {
    const cursor = await startOf();
    const [elsewhere] = await addAnimals(store, 1);
    await store.asOwner(`insert into outbox (type, pet_id, data) select 'pet.removed', $1, '{}' from generate_series(1, 10001)`, elsewhere);
    const { id } = await addTo(one);
    await publishAll(store);
    const query = `/v1/events?limit=5&shelterId=${one}&shelterId=${other}&cursor=`;
    const first = await store.call('GET', query + cursor, { key: manager.key });
    expect(first).toMatchObject({ status: 200, json: [] });
    const next = nextPage(first) ?? '';
    expect(next).toMatch(new RegExp(`^/v1/events\\?limit=5&shelterId=${one}&shelterId=${other}&cursor=[\\w-]+$`));
    expect((await store.call('GET', next, { key: manager.key })).json).toMatchObject([{ data: { pet: { id } } }]);
  });

  test('finds events that are older than these columns by the category in their data, and by no shelter', async () => {
    const cursor = await startOf();
    const { id } = await addTo(one, { categoryId: 3 });
    await publishAll(store);
    await store.asOwner('update events set shelter_id = null, category_id = null where pet_id = $1', id);
    const read = async (query: string) => (await readOn(store, manager, `/v1/events?${query}&cursor=${cursor}`)).events;
    expect((await read('categoryId=3')).map(petIdOf)).toEqual([id]);
    expect(await read(`shelterId=${one}`)).toEqual([]);
  });

  test('gets the shelter and the category of events that a process of the release before writes and publishes', async () => {
    const cursor = await startOf();
    const { id } = await addTo(one, { categoryId: 3 });
    await publishAll(store);
    await store.asOwner(`insert into outbox (type, pet_id, data) values ('pet.removed', $1, '{}')`, id);
    await publishAll(store);
    const { events } = await readOn(store, manager, `/v1/events?shelterId=${one}&categoryId=3&cursor=${cursor}`);
    expect(typesOf(events)).toEqual(['pet.created', 'pet.removed']);
  });

  test.each([
    ['no number', 'shelterId=0x1'],
    ['more than 100', 'shelterId=1&'.repeat(101)],
  ])('rejects %s', async (_, query) => {
    const response = await store.call('GET', `/v1/events?${query}`, { key: manager.key });
    expect(response).toMatchObject(errorResponse(400, 'invalid_query', 'shelterId'));
  });

  test('as a stream has the same filters', async () => {
    const cursor = await startOf();
    using reader = await StreamReader.open(`${store.url}/v1/events?shelterId=${one}&cursor=${cursor}`, { key: manager.key });
    await addTo(other);
    const { id } = await addTo(one);
    await move(id, other);
    await publishAll(store);
    const events = await reader.untilCount(2);
    expect(events.map(({ type }) => type)).toEqual(['pet.created', 'pet.moved']);
  });
});

describe('An endpoint with shelterIds and categoryIds', () => {
  /** An event of a new animal, whose name is shown in what is sent. */
  async function publish(shelter: number, categoryId: number, name: string): Promise<number> {
    const [petId = 0] = await addAnimals(store, 1);
    await store.write('update pets set shelter_id = $2, category_id = $3 where id = $1', petId, shelter, categoryId);
    await publishChanges(store, [{ petId, name }]);
    return petId;
  }

  test('gets what it wants, each once and in order, and nothing else', async () => {
    const { id } = await bench.endpoint({ shelterIds: [one], categoryIds: [1, 3] });
    await publish(other, 1, 'of another shelter');
    await publish(one, 2, 'of another category');
    await publish(one, 1, 'first');
    await publish(one, 3, 'second');
    await bench.names(2);
    expect(namesOf(bench.receiver)).toEqual(['first', 'second']);
    expect((await bench.call('GET', `/${id}`)).json).toMatchObject({ shelterIds: [one], categoryIds: [1, 3] });
    await bench.call('PATCH', `/${id}`, { shelterIds: [other], categoryIds: [] });
    await publish(one, 1, 'of the former shelter');
    await publish(other, 2, 'third');
    await bench.names(3);
    expect(namesOf(bench.receiver)).toEqual(['first', 'second', 'third']);
  });

  test('replays what it wants by time, and nothing else', async () => {
    const { id } = await bench.endpoint({ shelterIds: [one] });
    const from = new Date().toISOString();
    await publish(one, 1, 'wanted');
    await publish(other, 1, 'unwanted');
    await bench.names(1);
    const range = { from, to: new Date(Date.now() + 60_000).toISOString() };
    expect((await bench.call('POST', `/${id}/replay`, range)).json).toEqual({ count: 1 });
    await bench.names(2);
    expect(namesOf(bench.receiver)).toEqual(['wanted', 'wanted']);
  });

  test('of a shelter that does not exist is rejected; a category may come later', async () => {
    const missing = await bench.call('POST', '', { url: bench.receiver.url, shelterIds: [one, 999] });
    expect(missing).toMatchObject(errorResponse(400, 'invalid_body', 'shelterIds has 999, and there is no shelter with that id.'));
    const later = await bench.call('POST', '', { url: bench.receiver.url, categoryIds: [999] });
    expect(later.status).toBe(201);
  });
});
