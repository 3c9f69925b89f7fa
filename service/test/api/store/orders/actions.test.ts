import { describe, expect, test } from 'vitest';
import { expireDueOrders } from '../../../../src/adoption/orders/orders.ts';
import { verifyHistory } from '../../../../src/adoption/verify/verify.ts';
import { act, actAll, addPet, createManager, letExpire, type OrderBody, placeOrder, readPet } from '../../../adoption-steps.ts';
import { errorResponse } from '../../../error-response.ts';
import { openTestStore } from '../../../test-store.ts';

const store = await openTestStore();
const [partner, manager] = [await store.createKey(), await createManager(store)];

/** An order of the partner after these actions. */
async function orderAfter(...actions: string[]): Promise<OrderBody> {
  const { id } = await placeOrder(store, partner, (await addPet(store, partner)).id);
  await actAll(store, manager, id, ...actions);
  return (await store.call<OrderBody>('GET', `/v1/store/orders/${id}`, { key: partner.key })).json;
}

const petStatus = async ({ petId }: OrderBody) => (await readPet(store, partner, petId))?.status;
const setPet = ({ petId }: OrderBody, status: string) => store.call('PATCH', `/v1/pets/${petId}`, { key: manager.key, body: { status } });

describe('POST /v1/store/orders/{orderId}/{action}', () => {
  test.each([
    ['approve', [], 'approved', 'pending'],
    ['complete', ['approve'], 'completed', 'sold'],
    ['return', ['approve', 'complete'], 'returned', 'available'],
    ['cancel', [], 'cancelled', 'available'],
    ['cancel', ['approve'], 'cancelled', 'available'],
  ])('%s after %j makes the order %s and the animal %s', async (action, before, status, pet) => {
    const order = await orderAfter(...before);
    const response = await act(store, manager, order.id, action);
    expect(response).toMatchObject({ status: 200, json: { ...order, status, updatedAt: response.json.updatedAt } });
    expect(Date.parse(response.json.updatedAt)).toBeGreaterThanOrEqual(Date.parse(order.updatedAt));
    expect(await petStatus(order)).toBe(pet);
  });

  test.each([
    ['approve', ['approve'], 'is already approved. Complete or cancel it.'],
    ['complete', [], "is still placed, so it can't be completed yet. Approve or cancel it."],
    ['return', [], "is still placed, so it can't be returned yet. Approve or cancel it."],
    ['return', ['approve'], "is approved, so it can't be returned yet. Complete or cancel it."],
    ['approve', ['approve', 'complete'], "is already completed, so it can't be approved. It can only be returned."],
    ['complete', ['approve', 'complete'], 'is already completed. It can only be returned.'],
    ['cancel', ['approve', 'complete'], "is already completed, so it can't be cancelled. It can only be returned."],
    ['approve', ['cancel'], "is already cancelled, so it can't be approved. No further action is possible."],
    ['complete', ['cancel'], "is already cancelled, so it can't be completed. No further action is possible."],
    ['cancel', ['cancel'], 'is already cancelled. No further action is possible.'],
    ['return', ['cancel'], "is already cancelled, so it can't be returned. No further action is possible."],
    ['approve', ['approve', 'complete', 'return'], "is already returned, so it can't be approved. No further action is possible."],
    ['complete', ['approve', 'complete', 'return'], "is already returned, so it can't be completed. No further action is possible."],
    ['cancel', ['approve', 'complete', 'return'], "is already returned, so it can't be cancelled. No further action is possible."],
    ['return', ['approve', 'complete', 'return'], 'is already returned. No further action is possible.'],
  ])('%s after %j is 409, says what is allowed and changes nothing', async (action, before, words) => {
    const order = await orderAfter(...before);
    const pet = await petStatus(order);
    expect(await act(store, manager, order.id, action)).toMatchObject(
      errorResponse(409, 'order_state_conflict', `Order ${order.id} ${words}`),
    );
    expect((await store.call('GET', `/v1/store/orders/${order.id}`, { key: partner.key })).json).toEqual(order);
    expect(await petStatus(order)).toBe(pet);
  });

  test.each([
    ['approve', 'approved'],
    ['cancel', 'cancelled'],
  ])('%s of an overdue order is 409, and the worker releases the animal later', async (action, status) => {
    const order = await orderAfter();
    await letExpire(store, order.id);
    expect(await act(store, manager, order.id, action)).toMatchObject(
      errorResponse(
        409,
        'order_state_conflict',
        `Order ${order.id} is already expired, so it can't be ${status}. No further action is possible.`,
      ),
    );
    expect(await petStatus(order)).toBe('pending');
  });

  test('an approved order does not expire', async () => {
    const order = await orderAfter('approve');
    await letExpire(store, order.id);
    await expireDueOrders(store.dependencies.db, store.dependencies.catalogue, 100);
    expect((await act(store, manager, order.id, 'complete')).json.status).toBe('completed');
  });

  test('records who changed the order and the animal', async () => {
    const order = await orderAfter('approve');
    await act(store, manager, order.id, 'complete');
    const rows = await store.read(
      'select order_id, client_id, key_id, from_status, to_status, why from history where pet_id = $1 order by id desc limit 2',
      order.petId,
    );
    const who = { client_id: manager.clientId, key_id: manager.id };
    expect(rows.reverse()).toEqual([
      { order_id: BigInt(order.id), ...who, from_status: 'approved', to_status: 'completed', why: 'completed' },
      { order_id: null, ...who, from_status: 'pending', to_status: 'sold', why: `order ${order.id} completed` },
    ]);
  });

  test('by ten concurrent requests is 200 for one and 409 for the others', async () => {
    const order = await orderAfter();
    const responses = await Promise.all(Array.from({ length: 10 }, () => act(store, manager, order.id, 'cancel')));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)]);
  });

  test('of an order that does not exist is 404', async () => {
    expect(await act(store, manager, 999_999, 'approve')).toMatchObject(errorResponse(404, 'order_not_found', '999999'));
  });

  test('with an id that is not an int64 is 404', async () => {
    const response = await store.call('POST', '/v1/store/orders/abc/cancel', { key: manager.key });
    expect(response).toMatchObject(errorResponse(404, 'order_not_found', 'abc'));
  });

  test.each(['expire', 'place', 'delete'])('%s, which is not an action, is 404', async (action) => {
    const order = await orderAfter();
    expect(await act(store, manager, order.id, action)).toMatchObject(errorResponse(404, 'route_not_found'));
  });
});

describe('Who may act on an order', () => {
  test.each([
    ['approve', []],
    ['complete', ['approve']],
    ['return', ['approve', 'complete']],
  ])('%s by the partner that placed it is 403 and changes nothing', async (action, before) => {
    const order = await orderAfter(...before);
    expect(await act(store, partner, order.id, action)).toMatchObject(
      errorResponse(
        403,
        'insufficient_scope',
        'needs the scope store:manage or shelter:manage; this key has pets:read, pets:write, orders:read, orders:write, applications:write, webhooks:manage.',
      ),
    );
    expect((await store.call('GET', `/v1/store/orders/${order.id}`, { key: partner.key })).json).toEqual(order);
  });

  test.each([
    ['placed', []],
    ['approved', ['approve']],
  ])('cancel of an order that is %s by the partner that placed it is 200', async (_, before) => {
    const order = await orderAfter(...before);
    expect((await act(store, partner, order.id, 'cancel')).json.status).toBe('cancelled');
  });

  test('cancel by another partner is 404, as if the order did not exist, and changes nothing', async () => {
    const order = await orderAfter();
    const other = await store.createKey();
    expect(await act(store, other, order.id, 'cancel')).toMatchObject(errorResponse(404, 'order_not_found', 'You have no order'));
    expect(await petStatus(order)).toBe('pending');
  });

  test('cancel without the scope orders:write is 403', async () => {
    const order = await orderAfter();
    const reader = await store.createKey({ scopes: ['orders:read'] });
    expect(await act(store, reader, order.id, 'cancel')).toMatchObject(errorResponse(403, 'insufficient_scope', 'orders:write'));
  });
});

describe('After staff have set the status of an animal whose order is completed', () => {
  test.each(['available', 'pending'])('a return leaves the animal %s', async (status) => {
    const order = await orderAfter('approve', 'complete');
    await setPet(order, status);
    expect((await act(store, manager, order.id, 'return')).json.status).toBe('returned');
    expect(await petStatus(order)).toBe(status);
  });

  test('a return while the animal has a new open order leaves that order alone', async () => {
    const order = await orderAfter('approve', 'complete');
    await setPet(order, 'available');
    const second = await placeOrder(store, partner, order.petId);
    await actAll(store, manager, order.id, 'return');
    expect(await petStatus(order)).toBe('pending');
    expect((await act(store, manager, second.id, 'approve')).json.status).toBe('approved');
  });

  test('a return after the animal was sold again leaves it sold', async () => {
    const order = await orderAfter('approve', 'complete');
    await setPet(order, 'available');
    await actAll(store, manager, (await placeOrder(store, partner, order.petId)).id, 'approve', 'complete');
    expect((await act(store, manager, order.id, 'return')).json.status).toBe('returned');
    expect(await petStatus(order)).toBe('sold');
  });

  test('a return of a removed animal changes only the order', async () => {
    const order = await orderAfter('approve', 'complete');
    await store.call('DELETE', `/v1/pets/${order.petId}`, { key: manager.key });
    expect((await act(store, manager, order.id, 'return')).json.status).toBe('returned');
    expect(await petStatus(order)).toBeUndefined();
  });
});

describe('The history of these orders', () => {
  test('has no animal with two open orders and only legal transitions, and matches the current state', async () => {
    const { violation, orders } = await verifyHistory(store.dependencies.db, () => {});
    expect(violation).toBeUndefined();
    expect(orders).toBeGreaterThan(30);
  });

  test('has a violation if the status of an order differs from its history', async () => {
    const order = await orderAfter();
    const set = (status: string) => store.write('update orders set status = $2 where id = $1', order.id, status);
    await set('approved');
    const { violation } = await verifyHistory(store.dependencies.db, () => {});
    await set('placed');
    expect(violation).toBe(`order ${order.id}: its history ends with placed, but its status is approved`);
  });

  test('is append-only for the service', async () => {
    const { db } = store.dependencies;
    await expect(db.write({ text: `update history set why = 'forged'` })).rejects.toThrow('permission denied for table history');
    await expect(db.write({ text: 'delete from history' })).rejects.toThrow('permission denied for table history');
  });

  test('is backed by a database constraint that rejects a second open order for an animal', async () => {
    const order = await orderAfter();
    const insert = store.write('insert into orders (client_id, pet_id, expires_at) values ($1, $2, now())', partner.clientId, order.petId);
    await expect(insert).rejects.toThrow('orders_one_open_per_pet');
  });
});
