// Which orders' events the keys of shelters read: in pages, with a filter by type, and in streams.
import { describe, expect, test } from 'vitest';
import { StreamReader } from '../../../../testkit/stream-reader.ts';
import type { Scope } from '../../../src/domain/scopes.ts';
import { act, addPet, createManager, placeOrder } from '../../adoption-steps.ts';
import { type EventBody, publishAll, readOn } from '../../event-steps.ts';
import { addShelter, createShelterKey } from '../../shelter-steps.ts';
import { openTestStore, type TestKey } from '../../test-store.ts';

const store = await openTestStore();
const partner = await store.createKey();
const [one, other] = [await addShelter(store, 'One'), await addShelter(store, 'Other')];
const [ofOne, ofOther] = [await createShelterKey(store, one), await createShelterKey(store, other)];

const orderAt = async (shelter: TestKey, by = partner) => placeOrder(store, by, (await addPet(store, shelter)).id);
const ordersIn = (events: readonly EventBody[]) => events.flatMap(({ data }) => data.order?.id ?? []);

describe('The feed of a key with shelter:manage', () => {
  test('has the events of its own orders and of those of its shelter, each once, and of no other', async () => {
    const start = (await readOn(store, ofOne)).next;
    const orders = [await orderAt(ofOne), await orderAt(ofOther), await orderAt(ofOne, ofOne), await orderAt(ofOther, ofOne)];
    const [first, foreign, both, own] = orders.map(({ id }) => id);
    expect(ordersIn((await readOn(store, ofOne, start)).events)).toEqual([first, both, own]);
    expect(ordersIn((await readOn(store, ofOther, start)).events)).toEqual([foreign, own]);
    expect(ordersIn((await readOn(store, partner, start)).events)).toEqual([first, foreign]);
  });

  test('has the same with a filter by type, page by page', async () => {
    const start = (await readOn(store, ofOne, '/v1/events?type=order.cancelled&limit=1')).next;
    const orders = [await orderAt(ofOne), await orderAt(ofOther), await orderAt(ofOne, ofOne), await orderAt(ofOther, ofOne)];
    const manager = await createManager(store);
    for (const { id } of orders) await act(store, manager, id, 'cancel');
    const [first, , both, own] = orders.map(({ id }) => id);
    expect(ordersIn((await readOn(store, ofOne, start)).events)).toEqual([first, both, own]);
  });

  test.each<[string, readonly Scope[], boolean]>([
    ['with pets:read and shelter:manage has them', ['pets:read', 'shelter:manage'], true],
    ['that is bound and has orders:read, but no shelter:manage, has none of them', ['pets:read', 'orders:read'], false],
    ['that is bound and has neither has none of them', ['pets:read'], false],
  ])('%s', async (_, scopes, hasThem) => {
    const key = await createShelterKey(store, one, scopes);
    const start = (await readOn(store, key)).next;
    const { id } = await orderAt(ofOne);
    expect(ordersIn((await readOn(store, key, start)).events)).toEqual(hasThem ? [id] : []);
  });

  test('tells the shelter that the animal is in when the event is published; what was told before stays with the shelter before', async () => {
    const manager = await createManager(store);
    const [startOne, startOther] = [(await readOn(store, ofOne)).next, (await readOn(store, ofOther)).next];
    const order = await orderAt(ofOne);
    await publishAll(store);
    await store.call('PUT', `/v1/pets/${order.petId}/shelter`, { key: manager.key, body: { shelterId: other } });
    await act(store, ofOther, order.id, 'approve');
    const typesOf = async (key: TestKey, start: string) =>
      (await readOn(store, key, start)).events.filter(({ data }) => data.order?.id === order.id).map(({ type }) => type);
    expect([await typesOf(ofOne, startOne), await typesOf(ofOther, startOther)]).toEqual([['order.placed'], ['order.approved']]);
  });
});

test('A stream has the orders of the shelter, live, and none of another', async () => {
  using streams = new DisposableStack();
  const follow = async ({ key }: TestKey) => streams.use(await StreamReader.open(`${store.url}/v1/events?cursor=latest`, { key }));
  const [mine, theirs] = [await follow(ofOne), await follow(ofOther)];
  const order = await orderAt(ofOne);
  await publishAll(store);
  for (const stream of [mine, theirs]) {
    // Recorded after the event of the order.
    const isDone = () => stream.events.some(({ type, data }) => type === 'pet.status_changed' && data.includes(`"id":${order.petId},`));
    await stream.until(isDone, 'event of the animal', 10_000);
  }
  const placed = (stream: StreamReader) => stream.events.filter(({ type }) => type === 'order.placed').length;
  expect([placed(mine), placed(theirs)]).toEqual([1, 0]);
});
