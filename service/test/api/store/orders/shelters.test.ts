// What the staff of a shelter see and do with the orders of its animals, and with those of others.
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import {
  actionsFrom,
  type CallerAction,
  callerActions,
  type OrderStatus,
  orderActions,
  placing,
} from '../../../../src/domain/order-states.ts';
import { act, actAll, addPet, createManager, type OrderBody, placeOrder, readPet } from '../../../adoption-steps.ts';
import { errorResponse } from '../../../error-response.ts';
import { walk } from '../../../page-walk.ts';
import { addShelter, createShelterKey } from '../../../shelter-steps.ts';
import { createTestStore, openTestStore, type TestKey } from '../../../test-store.ts';

const store = await openTestStore();
const [partner, manager] = [await store.createKey(), await createManager(store)];
const [one, other] = [await addShelter(store, 'One'), await addShelter(store, 'Other')];
const [ofOne, ofOther] = [await createShelterKey(store, one), await createShelterKey(store, other)];

/** An order of `by` for a new animal of a shelter. */
const orderAt = async (shelter: TestKey, by = partner) => placeOrder(store, by, (await addPet(store, shelter)).id);
const get = (orderId: number, { key }: TestKey) => store.call<OrderBody>('GET', `/v1/store/orders/${orderId}`, { key });

/** The actions that lead an order to a status that allows this one. */
function actionsBefore(action: CallerAction, status: OrderStatus = placing.to): CallerAction[] | undefined {
  const allowed = actionsFrom(status);
  if (allowed.includes(action)) return [];
  const paths = allowed.map((first) => ({ first, rest: actionsBefore(action, orderActions[first].to) }));
  return paths.flatMap(({ first, rest }) => (rest ? [[first, ...rest]] : []))[0];
}

describe('A key with shelter:manage', () => {
  test("reads the orders of its shelter's animals with their adopters", async () => {
    const order = await orderAt(ofOne);
    expect(await get(order.id, ofOne)).toMatchObject({ status: 200, json: order });
    expect(order.adopter).not.toBeNull();
  });

  test.each(callerActions)('can %s an order of an animal of its shelter', async (action) => {
    const order = await orderAt(ofOne);
    await actAll(store, ofOne, order.id, ...(actionsBefore(action) ?? []));
    expect((await act(store, ofOne, order.id, action)).status).toBe(200);
  });

  test.each(callerActions)("gets the same 404 for %s of another shelter's order as for one that does not exist", async (action) => {
    const order = await orderAt(ofOther);
    await actAll(store, manager, order.id, ...(actionsBefore(action) ?? []));
    const [foreign, absent] = [await act(store, ofOne, order.id, action), await act(store, ofOne, 999_999, action)];
    expect(foreign).toMatchObject(errorResponse(404, 'order_not_found', `You have no order with id ${order.id}.`));
    expect(foreign.text).toBe(absent.text.replace('999999', String(order.id)));
    expect((await get(order.id, ofOne)).status).toBe(404);
  });

  test('sees its own orders for animals of other shelters, but is no staff there: 403, and it may cancel them', async () => {
    const order = await orderAt(ofOther, ofOne);
    const refused = await act(store, ofOne, order.id, 'approve');
    expect(refused).toMatchObject(
      errorResponse(
        403,
        'insufficient_scope',
        `Animal ${order.petId} belongs to shelter ${other}. To decide on its orders and applications, use a key with store:manage`,
      ),
    );
    expect((await get(order.id, ofOne)).json.status).toBe('placed');
    expect((await act(store, ofOne, order.id, 'cancel')).json.status).toBe('cancelled');
    expect((await readPet(store, partner, order.petId))?.status).toBe('available');
  });

  test('needs orders:read to list and to get, as staff of the store do', async () => {
    const alone = await createShelterKey(store, one, ['shelter:manage']);
    const order = await orderAt(ofOne);
    expect(await get(order.id, alone)).toMatchObject(errorResponse(403, 'insufficient_scope', 'orders:read'));
    expect((await act(store, alone, order.id, 'approve')).status).toBe(200);
  });

  test('an Idempotency-Key of another key of its client does not replay a response that only it may see', async () => {
    const client = 'Two keys';
    const shelterKey = await store.createKey({ client, scopes: ['orders:write', 'shelter:manage'], shelterId: BigInt(one) });
    const plain = await store.createKey({ client, scopes: ['orders:write'] });
    const order = await orderAt(ofOne);
    const headers = { 'idempotency-key': 'cancel-once' };
    expect((await act(store, shelterKey, order.id, 'cancel', { headers })).status).toBe(200);
    expect(await act(store, plain, order.id, 'cancel', { headers })).toMatchObject(errorResponse(422, 'idempotency_key_reused'));
  });
});

test('A key that is bound to a shelter, without shelter:manage, sees only the orders of its client', async () => {
  const bound = await createShelterKey(store, one, ['orders:read', 'orders:write']);
  const order = await orderAt(ofOne);
  expect((await get(order.id, bound)).status).toBe(404);
  expect((await act(store, bound, order.id, 'cancel')).status).toBe(404);
});

describe('GET /v1/store/orders with shelter:manage', () => {
  test('lists the own orders and those of the shelter, each once, page by page, with every filter', async () => {
    const fresh = await addShelter(store, 'Listed');
    const staff = await createShelterKey(store, fresh);
    const orders = [
      await orderAt(staff),
      await orderAt(ofOther),
      await orderAt(staff, staff),
      await orderAt(ofOther, staff),
      await orderAt(staff),
    ];
    const [first, , both, own, last] = orders.map(({ id }) => id);
    const ids = async (query: string) =>
      (await walk(store, staff, `/v1/store/orders?limit=2${query}`)).map((page) => page.map((order) => (order as OrderBody).id));
    expect(await ids('')).toEqual([
      [first, both],
      [own, last],
    ]);
    await act(store, staff, first ?? 0, 'cancel');
    expect(await ids('&status=placed')).toEqual([[both, own], [last]]);
    expect(await ids(`&petId=${orders[0]?.petId}`)).toEqual([[first]]);
    expect(await ids(`&petId=${orders[1]?.petId}`)).toEqual([[]]);
  });

  test('reads two indexes, never the orders of others, in a store with 100,000 orders', async () => {
    await using large = await createTestStore();
    const staff = await createShelterKey(large, await addShelter(large, 'Small'));
    const [others, partnerOfLarge] = [await large.createKey(), await large.createKey()];
    const owner = new pg.Client({ connectionString: large.databaseUrl });
    await owner.connect();
    await owner.query(`insert into pets (name, category_id, status) select 'Other', 1, 'pending' from generate_series(1, 50000)`);
    await owner.query(
      `insert into orders (client_id, pet_id, status, expires_at)
        select $1, id, of.status, now() + interval '1 day' from pets cross join unnest('{placed,cancelled}'::order_status[]) as of (status)`,
      [others.clientId],
    );
    await owner.query('analyze orders');
    for (let i = 0; i < 10; i += 1) {
      const order = await placeOrder(large, partnerOfLarge, (await addPet(large, staff)).id);
      if (i % 2 === 0) await act(large, staff, order.id, 'cancel');
    }
    const statements: Array<{ text: string; values: unknown[] }> = [];
    const { db } = large.dependencies;
    const query = db.query.bind(db);
    db.query = ((statement: { text: string; values?: unknown[] }) => {
      if (statement.text.includes('from orders')) statements.push({ text: statement.text, values: statement.values ?? [] });
      return query(statement as never);
    }) as typeof db.query;
    const counts: number[] = [];
    for (const filter of ['', '&status=placed', '&status=cancelled', '&status=expired'])
      counts.push((await large.call<OrderBody[]>('GET', `/v1/store/orders?limit=50${filter}`, { key: staff.key })).json.length);
    expect(counts).toEqual([10, 5, 5, 0]);
    // The plan that is made once and used for every shelter: it knows neither the client nor the shelter.
    await owner.query('set plan_cache_mode = force_generic_plan');
    for (const [i, { text, values }] of statements.entries()) {
      await owner.query(`prepare page_${i} as ${text}`);
      const args = values.map((value) => owner.escapeLiteral(String(value))).join(', ');
      const { rows } = await owner.query<{ 'QUERY PLAN': string }>(`explain (analyze, timing off) execute page_${i}(${args})`);
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan).toContain('orders_by_shelter');
      expect(plan).not.toContain('Seq Scan on orders');
      const removed = [...plan.matchAll(/Rows Removed by Filter: (\d+)/g)].map(([, count]) => Number(count));
      expect(Math.max(0, ...removed)).toBeLessThan(20);
    }
    expect(statements).toHaveLength(4);
    await owner.end();
  });
});
