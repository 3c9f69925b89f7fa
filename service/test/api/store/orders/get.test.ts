import { describe, expect, test } from 'vitest';
import { testAuthor } from '../../../../../testkit/test-author.ts';
import { eraseOrderAndApplicant } from '../../../../src/adoption/applications/applicants.ts';
import { expireDueOrders } from '../../../../src/adoption/orders/orders.ts';
import { addPet, createManager, letExpire, type OrderBody, placeOrder, readPet } from '../../../adoption-steps.ts';
import { errorResponse } from '../../../error-response.ts';
import { createTestStore, openTestStore } from '../../../test-store.ts';

const store = await openTestStore();
const key = await store.createKey();

const get = (id: number | string, { key: sent } = key) => store.call<OrderBody>('GET', `/v1/store/orders/${id}`, { key: sent });
const order = async () => placeOrder(store, key, (await addPet(store, key)).id);

describe('GET /v1/store/orders/{orderId}', () => {
  test('is 200 with the order as it was placed', async () => {
    const placed = await order();
    expect(await get(placed.id)).toMatchObject({ status: 200, json: placed });
  });

  test('with the scope store:manage is 200 for any client', async () => {
    const placed = await order();
    expect(await get(placed.id, await createManager(store))).toMatchObject({ status: 200, json: placed });
  });

  test('of another client is 404, like one that does not exist', async () => {
    const { id } = await order();
    const other = await store.createKey();
    const [foreign, absent] = [await get(id, other), await get(999_999, other)];
    expect(foreign).toMatchObject(errorResponse(404, 'order_not_found', `You have no order with id ${id}.`));
    expect(foreign.text.replace(String(id), '999999')).toBe(absent.text);
  });

  test.each(['abc', '01', '1.0', '9223372036854775808', '-1', '0'])('with the id %s is 404', async (id) => {
    expect(await get(id)).toMatchObject(errorResponse(404, 'order_not_found', `You have no order with id ${id}.`));
  });

  test('without the scope orders:read is 403', async () => {
    const other = await store.createKey({ scopes: ['orders:write'] });
    expect(await get(1, other)).toMatchObject(errorResponse(403, 'insufficient_scope', 'orders:read'));
  });
});

describe('An overdue order', () => {
  test('is shown as expired before the worker has expired it', async () => {
    const { id } = await order();
    await letExpire(store, id);
    const { json } = await get(id);
    expect(json).toMatchObject({ status: 'expired', updatedAt: json.expiresAt });
  });

  test('is shown as expired as soon as it expires', async () => {
    await using hasty = await createTestStore({ env: { HOMEWARD_ORDER_EXPIRY: '1' } });
    const client = await hasty.createKey();
    const placed = await placeOrder(hasty, client, (await addPet(hasty, client)).id);
    const read = async () => {
      const sentAtMs = Date.now();
      const { json } = await hasty.call<OrderBody>('GET', `/v1/store/orders/${placed.id}`, { key: client.key });
      return { status: json.status, late: sentAtMs > Date.parse(placed.expiresAt) };
    };
    expect(await read()).toEqual({ status: 'placed', late: false });
    await expect.poll(read).toEqual({ status: 'expired', late: true });
  });

  test('is shown the same after the worker has expired it', async () => {
    const { id } = await order();
    await letExpire(store, id);
    const before = await get(id);
    await expireDueOrders(store.dependencies.db, store.dependencies.catalogue, 100);
    expect((await get(id)).text).toBe(before.text);
  });

  test('keeps its animal pending until the worker releases it', async () => {
    const { id, petId } = await order();
    await letExpire(store, id);
    expect((await readPet(store, key, petId))?.status).toBe('pending');
    await expireDueOrders(store.dependencies.db, store.dependencies.catalogue, 100);
    expect((await readPet(store, key, petId))?.status).toBe('available');
  });

  test('is recorded in the history as done by the service', async () => {
    const { id, petId } = await order();
    await letExpire(store, id);
    await expireDueOrders(store.dependencies.db, store.dependencies.catalogue, 100);
    const rows = await store.read(
      'select order_id, client_id, from_status, to_status, why from history where pet_id = $1 order by id desc limit 2',
      petId,
    );
    expect(rows.reverse()).toEqual([
      { order_id: BigInt(id), client_id: null, from_status: 'placed', to_status: 'expired', why: 'not approved in time' },
      { order_id: null, client_id: null, from_status: 'pending', to_status: 'available', why: `order ${id} expired` },
    ]);
  });

  test('is expired in batches, each order once', async () => {
    const { db, catalogue } = store.dependencies;
    const expire = (batch: number) => expireDueOrders(db, catalogue, batch);
    await expire(100);
    for (const { id } of [await order(), await order(), await order()]) await letExpire(store, id);
    const counts = [await expire(2), await expire(2), await expire(2)];
    expect(counts).toEqual([2, 1, 0]);
  });
});

describe('An order whose adopter was erased', () => {
  test('still exists, with null as its adopter', async () => {
    const placed = await order();
    await eraseOrderAndApplicant(store.dependencies.db, () => true, testAuthor, BigInt(placed.id));
    expect((await get(placed.id)).json).toEqual({ ...placed, adopter: null });
  });

  test('has no trace of the adopter in the database', async () => {
    const secret = { name: 'Zerlina Quux', email: 'zerlina@quux.example' };
    const { id } = await addPet(store, key);
    const { json } = await store.call<OrderBody>('POST', '/v1/store/orders', {
      key: key.key,
      body: { petId: id, adopter: secret },
      headers: { 'idempotency-key': 'erase-everywhere' },
    });
    const find = async () => {
      const tables = ['orders', 'history', 'idempotent_answers', 'pets'];
      const rows = await store.read<{ found: string }>(
        tables.map((table) => `select '${table}' as found from ${table} as t where t::text ~ 'Zerlina|zerlina'`).join(' union '),
      );
      return rows.map(({ found }) => found).sort();
    };
    expect(await find()).toEqual(['idempotent_answers', 'orders']);
    await eraseOrderAndApplicant(store.dependencies.db, () => true, testAuthor, BigInt(json.id));
    expect(await find()).toEqual([]);
  });

  test('is undefined if the order does not exist', async () => {
    expect(await eraseOrderAndApplicant(store.dependencies.db, () => true, testAuthor, 999_999n)).toBeUndefined();
  });
});
