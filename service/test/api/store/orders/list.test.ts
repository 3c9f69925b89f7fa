import { describe, expect, test } from 'vitest';
import { actAll, addPet, createManager, letExpire, type OrderBody, placeOrder } from '../../../adoption-steps.ts';
import { errorResponse } from '../../../error-response.ts';
import { nextPage, walk } from '../../../page-walk.ts';
import { openTestStore, type TestKey } from '../../../test-store.ts';

const store = await openTestStore();
const manager = await createManager(store);

const list = ({ key }: TestKey, query = '') => store.call<OrderBody[]>('GET', `/v1/store/orders${query}`, { key });
const idsOf = ({ json }: { json: OrderBody[] }) => json.map(({ id }) => id);
const order = async (key: TestKey) => placeOrder(store, key, (await addPet(store, manager)).id);

describe('GET /v1/store/orders', () => {
  test('of a client without orders is an empty array', async () => {
    expect(await list(await store.createKey())).toMatchObject({ status: 200, text: '[]' });
  });

  test("shows only the client's own orders, in ascending order of id", async () => {
    const [mine, other] = [await store.createKey(), await store.createKey()];
    const [first, , second] = [await order(mine), await order(other), await order(mine)];
    expect((await list(mine)).json).toEqual([first, second]);
  });

  test("shows the orders of all the client's keys", async () => {
    const [one, two] = [await store.createKey({ client: 'Two keys' }), await store.createKey({ client: 'Two keys' })];
    const placed = await order(one);
    expect((await list(two)).json).toEqual([placed]);
  });

  test('with the scope store:manage shows the orders of every client', async () => {
    const [one, two] = [await store.createKey(), await store.createKey()];
    const ids = [(await order(one)).id, (await order(two)).id];
    expect(idsOf(await list(manager, '?limit=100'))).toEqual(expect.arrayContaining(ids));
  });

  test('read page by page shows every order once, in order', async () => {
    const key = await store.createKey();
    const orders: OrderBody[] = [];
    for (let i = 0; i < 5; i += 1) orders.push(await order(key));
    expect(await walk(store, key, '/v1/store/orders?limit=2')).toEqual([orders.slice(0, 2), orders.slice(2, 4), orders.slice(4)]);
  });

  test('filtered by animal shows only its orders', async () => {
    const key = await store.createKey();
    const pet = await addPet(store, manager);
    const first = await placeOrder(store, key, pet.id);
    await actAll(store, key, first.id, 'cancel');
    const second = await placeOrder(store, key, pet.id);
    await order(key);
    expect(idsOf(await list(key, `?petId=${pet.id}`))).toEqual([first.id, second.id]);
  });

  test.each([
    ['placed', []],
    ['approved', ['approve']],
    ['completed', ['approve', 'complete']],
    ['cancelled', ['cancel']],
    ['returned', ['approve', 'complete', 'return']],
  ])('filtered by the status %s shows only that status', async (status, actions) => {
    const key = await store.createKey();
    const { id } = await order(key);
    await actAll(store, manager, id, ...actions);
    const found: string[] = [];
    for (const one of ['placed', 'approved', 'completed', 'cancelled', 'expired', 'returned']) {
      if (idsOf(await list(key, `?status=${one}`)).includes(id)) found.push(one);
    }
    expect(found).toEqual([status]);
  });

  test('shows an overdue order as expired, and with no other status', async () => {
    const key = await store.createKey();
    const { id } = await order(key);
    await letExpire(store, id);
    expect((await list(key)).json).toMatchObject([{ id, status: 'expired' }]);
    expect(idsOf(await list(key, '?status=expired'))).toEqual([id]);
    expect(idsOf(await list(key, '?status=placed'))).toEqual([]);
  });

  test('with a cursor for another filter is 400', async () => {
    const key = await store.createKey();
    await order(key);
    await order(key);
    const cursor = nextPage(await list(key, '?limit=1'))?.split('cursor=')[1];
    expect(await list(key, `?limit=1&status=placed&cursor=${cursor}`)).toMatchObject(errorResponse(400, 'invalid_cursor', 'other filters'));
  });

  test.each([
    ['status=available', 'status must be one of placed, approved, completed, cancelled, expired, returned; got "available".'],
    ['petId=x', 'petId must be an integer (int64); got "x".'],
    ['petId=1&petId=2', 'petId is given 2 times'],
    ['limit=101', 'limit must be an integer from 1 to 100; got 101.'],
    ['clientId=1', 'Unknown query parameter "clientId". This operation takes limit, cursor, status, petId.'],
  ])('with %s is 400', async (query, words) => {
    expect(await list(manager, `?${query}`)).toMatchObject(errorResponse(400, 'invalid_query', words));
  });

  test('without the scope orders:read is 403', async () => {
    const other = await store.createKey({ scopes: ['pets:read', 'orders:write'] });
    expect(await list(other)).toMatchObject(errorResponse(403, 'insufficient_scope', 'needs the scope orders:read'));
  });
});
