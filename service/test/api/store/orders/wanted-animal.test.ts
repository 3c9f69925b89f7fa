// Many orders for one animal at once. While staff edit it, its row is locked, and nobody can know who will get it.
import { describe, expect, test, vi } from 'vitest';
import { act, addPet, adopterOf, createManager, type OrderBody, placeOrder } from '../../../adoption-steps.ts';
import { errorResponse } from '../../../error-response.ts';
import { countLockWaits, holdLocks } from '../../../lock-waits.ts';
import { openTestStore, type TestKey } from '../../../test-store.ts';

// Five connections for transactions.
const store = await openTestStore({ env: { HOMEWARD_POOL_SIZE: '10' } });
const partner = await store.createKey();
const clients = await Promise.all(Array.from({ length: 4 }, () => store.createKey()));

const order = (key: TestKey | undefined, petId: number, idempotencyKey?: string) =>
  store.call<OrderBody>('POST', '/v1/store/orders', {
    key: key?.key ?? '',
    body: { petId, adopter: adopterOf(petId) },
    ...(idempotencyKey && { headers: { 'idempotency-key': idempotencyKey } }),
  });
const lockPet = (petId: number) => holdLocks(store, 'select from pets where id = $1 for update', [petId]);
const lockWaits = (count: bigint) => vi.waitUntil(async () => (await countLockWaits(store)) === count);
const countBy = (responses: ReadonlyArray<{ readonly status: number }>) => {
  const counts: Record<number, number> = {};
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};
/** Half of them with an Idempotency-Key. */
const rush = (petId: number, count: number, keys = clients) =>
  Array.from({ length: count }, (_, i) => order(keys[i % keys.length], petId, i % 2 === 0 ? crypto.randomUUID() : undefined));

describe('An animal on television', () => {
  test('is not an overload: of 40 orders at once one is 201 and 39 are 409, and orders for other animals do not wait', async () => {
    const { id } = await addPet(store, partner);
    const others = await Promise.all(Array.from({ length: 3 }, () => addPet(store, partner)));
    const edit = await lockPet(id);
    const responses = rush(id, 40);
    await lockWaits(1n);
    expect(countBy(await Promise.all(others.map((other) => order(partner, other.id))))).toEqual({ 201: 3 });
    // Still one: all others hold no connection.
    expect(await countLockWaits(store)).toBe(1n);
    await edit.release();
    const done = await Promise.all(responses);
    expect(countBy(done)).toEqual({ 201: 1, 409: 39 });
    expect(done.find(({ status }) => status === 409)).toMatchObject(
      errorResponse(409, 'pet_not_available', `Biscuit (id ${id}) is pending. Only an available animal can be ordered.`),
    );
  });

  test('gives a retry its first response, although others wait for the animal', async () => {
    const { id } = await addPet(store, partner);
    const first = await order(partner, id, 'first');
    await act(store, partner, first.json.id, 'cancel');
    const edit = await lockPet(id);
    const inside = order(clients[0], id);
    await lockWaits(1n);
    const [retry, anothers, other] = [order(partner, id, 'first'), order(clients[1], id, 'first'), order(clients[2], id)];
    await edit.release();
    expect(await retry).toMatchObject({ status: 201, text: first.text, headers: { 'idempotent-replayed': 'true' } });
    expect((await inside).status).toBe(201);
    expect(countBy(await Promise.all([anothers, other]))).toEqual({ 409: 2 });
  });

  test('is 409 for a retry at once while its first request is in progress', async () => {
    const { id } = await addPet(store, partner);
    const edit = await lockPet(id);
    const first = order(partner, id, 'in-progress');
    await lockWaits(1n);
    expect(await order(partner, id, 'in-progress')).toMatchObject({ status: 409, json: { code: 'idempotency_in_progress' } });
    await edit.release();
    expect((await first).status).toBe(201);
  });

  test('is ordered by the next one if the first order fails', async () => {
    const { id } = await addPet(store, partner);
    const atLimit = await store.createKey({ plan: { perMinute: 1_000, perDay: 1_000, openOrdersMax: 1 } });
    await placeOrder(store, atLimit, (await addPet(store, partner)).id);
    const edit = await lockPet(id);
    const first = order(atLimit, id);
    await lockWaits(1n);
    const others = rush(id, 6);
    await edit.release();
    expect(await first).toMatchObject({ status: 409, json: { code: 'open_order_limit' } });
    expect(countBy(await Promise.all(others))).toEqual({ 201: 1, 409: 5 });
  });

  test('is 404 for all that wait if it is removed meanwhile', async () => {
    const { id } = await addPet(store, partner);
    const removal = await holdLocks(store, 'update pets set removed_at = now() where id = $1', [id]);
    const responses = rush(id, 6);
    await lockWaits(1n);
    await removal.release();
    for (const response of await Promise.all(responses)) expect(response).toMatchObject({ status: 404, json: { code: 'pet_not_found' } });
  });

  test('is 503 for those that wait while nobody can know who gets it, after two seconds', async () => {
    const { id } = await addPet(store, partner);
    const edit = await lockPet(id);
    const responses = await Promise.all(rush(id, 8));
    await edit.release();
    for (const response of responses) {
      expect(response).toMatchObject({ status: 503, headers: { 'retry-after': '1' }, json: { code: 'unavailable' } });
    }
    expect((await order(partner, id)).status).toBe(201);
  });
});

test('Orders of one client for many animals at once hold two connections, and not those of others', async () => {
  const manager = await createManager(store);
  const animals = await Promise.all(Array.from({ length: 20 }, () => addPet(store, manager)));
  const lock = await holdLocks(store, 'select pg_advisory_xact_lock(hashtextextended($1, $2))', ['open orders', partner.clientId]);
  const orders = animals.map(({ id }) => order(partner, id));
  await lockWaits(2n);
  expect(await countLockWaits(store)).toBe(2n);
  await lock.release();
  expect(countBy(await Promise.all(orders))).toEqual({ 201: 20 });
});
