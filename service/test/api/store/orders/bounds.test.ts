// One partner can't reserve the whole catalogue.

import { describe, expect, test } from 'vitest';
import { testAuthor } from '../../../../../testkit/test-author.ts';
import { setPlan } from '../../../../src/access/clients/clients.ts';
import { planBounds } from '../../../../src/access/rate-limit/plans.ts';
import { settleApplications } from '../../../../src/adoption/applications/settling.ts';
import { cancelOpenOrders } from '../../../../src/adoption/orders/orders.ts';
import { act, addPet, adopterOf, createManager, type OrderBody, readPet } from '../../../adoption-steps.ts';
import { errorResponse } from '../../../error-response.ts';
import { openTestStore, type TestKey } from '../../../test-store.ts';

const store = await openTestStore();
const manager = await createManager(store);

const quick = { perMinute: 1_000_000, perDay: 1_000_000 };

async function place({ key }: TestKey, email?: string) {
  const { id } = await addPet(store, manager);
  const adopter = email ? { name: 'Ada', email } : adopterOf(id);
  return store.call<OrderBody>('POST', '/v1/store/orders', { key, body: { petId: id, adopter } });
}

/** Tries again while no connection is free, as on a busy machine: that has no effect. */
async function placeOnceAdmitted({ key }: TestKey, petId: number) {
  for (let tries = 0; ; tries += 1) {
    const response = await store.call('POST', '/v1/store/orders', { key, body: { petId, adopter: adopterOf(petId) } });
    if (response.status !== 503 || tries === 20) return response;
  }
}

async function countOpen({ clientId }: TestKey): Promise<number> {
  const rows = await store.read<{ count: bigint }>(
    `select count(*) from orders where client_id = $1 and status in ('placed', 'approved')`,
    clientId,
  );
  return Number(rows[0]?.count);
}

describe("A client's open orders", () => {
  test('are at most 20 on the Free plan; the next is 409, says how many are open, and leaves the animal available', async () => {
    const key = await store.createKey({ client: 'Hoarder', plan: 'business' });
    await setPlan(store.dependencies.db, testAuthor, 'Hoarder', { plan: 'free', perMinute: null, perDay: null });
    const responses = [];
    for (let i = 0; i < 50; i += 1) responses.push(await place(key));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(20);
    expect(await countOpen(key)).toBe(20);
    expect(responses[20]).toMatchObject(errorResponse(409, 'open_order_limit', 'This client has 20 open orders; 20 are allowed.'));
    const { id } = await addPet(store, manager);
    await store.call('POST', '/v1/store/orders', { key: key.key, body: { petId: id, adopter: adopterOf(id) } });
    expect((await readPet(store, manager, id))?.status).toBe('available');
  });

  test('placed by 40 concurrent requests never exceed the bound', async () => {
    const key = await store.createKey({ plan: { ...quick, openOrdersMax: 10 } });
    const animals = [];
    for (let i = 0; i < 40; i += 1) animals.push(await addPet(store, manager));
    const responses = await Promise.all(animals.map(({ id }) => placeOnceAdmitted(key, id)));
    expect(responses.map(({ status }) => status).sort()).toEqual([...Array(10).fill(201), ...Array(30).fill(409)]);
    expect(await countOpen(key)).toBe(10);
  });

  test('that are closed no longer count', async () => {
    const key = await store.createKey({ plan: { ...quick, openOrdersMax: 1 } });
    const first = await place(key);
    expect((await place(key)).status).toBe(409);
    await act(store, key, first.json.id, 'cancel');
    expect((await place(key)).status).toBe(201);
  });

  test('do not count for another client', async () => {
    const [full, other] = [await store.createKey({ plan: { ...quick, openOrdersMax: 1 } }), await store.createKey()];
    await place(full);
    expect((await place(full)).status).toBe(409);
    expect((await place(other)).status).toBe(201);
  });

  test('are bounded by plan as the table says', () => {
    expect(Object.entries(planBounds).map(([plan, { openOrders }]) => [plan, openOrders])).toEqual([
      ['free', 20],
      ['pro', 100],
      ['business', 500],
      ['enterprise', 10_000],
    ]);
  });
});

describe("One adopter's open orders with a client", () => {
  test('are at most 3, whatever the case of the address; the fourth is 409 and says so', async () => {
    const key = await store.createKey();
    for (const email of ['ada@example.org', 'Ada@Example.ORG', 'ADA@EXAMPLE.ORG']) expect((await place(key, email)).status).toBe(201);
    const words = "This client has 3 open orders for this adopter's e-mail address; 3 are allowed.";
    expect(await place(key, 'ada@example.org')).toMatchObject(errorResponse(409, 'open_order_limit', words));
  });

  test("are not counted across clients, which would reveal another partner's adopters", async () => {
    const [one, other] = [await store.createKey(), await store.createKey()];
    for (let i = 0; i < 3; i += 1) await place(one, 'shared@example.org');
    expect((await place(other, 'shared@example.org')).status).toBe(201);
  });
});

describe('Staff cancel all open orders', () => {
  const cancel = (whose: { clientId?: bigint; email?: string }) =>
    cancelOpenOrders(
      store.dependencies.db,
      store.dependencies.catalogue,
      { clientId: whose.clientId, email: whose.email },
      { batchSizeMax: 3, progress: () => {}, settleApplications },
    );

  test('of a client, in batches, including approved ones; the animals become available again', async () => {
    const [key, other] = [await store.createKey(), await store.createKey()];
    const orders: OrderBody[] = [];
    for (let i = 0; i < 7; i += 1) orders.push((await place(key)).json);
    await act(store, manager, orders[0]?.id ?? 0, 'approve');
    await place(other);
    expect(await cancel({ clientId: key.clientId })).toBe(7);
    expect([await countOpen(key), await countOpen(other)]).toEqual([0, 1]);
    for (const { petId } of orders) expect((await readPet(store, manager, petId))?.status).toBe('available');
    expect(await cancel({ clientId: key.clientId })).toBe(0);
  });

  test('of an address with any client, whatever its case', async () => {
    const [one, other] = [await store.createKey(), await store.createKey()];
    await place(one, 'Bob@example.org');
    await place(other, 'bob@example.org');
    await place(other, 'bobby@example.org');
    expect(await cancel({ email: 'BOB@example.org' })).toBe(2);
    expect([await countOpen(one), await countOpen(other)]).toEqual([0, 1]);
  });
});
