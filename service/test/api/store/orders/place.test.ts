import { beforeEach, describe, expect, test } from 'vitest';
import { actAll, addPet, adopter, createManager, type OrderBody, placeOrder, readPet } from '../../../adoption-steps.ts';
import { errorResponse } from '../../../error-response.ts';
import { openTestStore, type TestKey } from '../../../test-store.ts';

let key: TestKey;
const store = await openTestStore({ env: { HOMEWARD_ORDER_EXPIRY: '3600' } });
// A new client for each, so that none reaches the bound on one adopter's open orders.
beforeEach(async () => {
  key = await store.createKey();
});

const place = (body: unknown, { key: sent } = key) => store.call<OrderBody>('POST', '/v1/store/orders', { key: sent, body });

async function countOrders(): Promise<bigint> {
  const rows = await store.read<{ count: bigint }>('select count(*) from orders');
  return rows[0]?.count ?? -1n;
}

describe('POST /v1/store/orders', () => {
  test('of an available animal is 201 with the order and its Location', async () => {
    const pet = await addPet(store, key);
    const { status, headers, json } = await place({ petId: pet.id, adopter });
    expect({ status, json }).toEqual({
      status: 201,
      json: {
        id: json.id,
        petId: pet.id,
        status: 'placed',
        adopter,
        createdAt: json.createdAt,
        updatedAt: json.createdAt,
        expiresAt: json.expiresAt,
        applicationId: null,
      },
    });
    expect(headers['location']).toBe(`/v1/store/orders/${json.id}`);
  });

  test('expires after the time that the store has configured', async () => {
    const { createdAt, expiresAt } = await placeOrder(store, key, (await addPet(store, key)).id);
    expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(3_600_000);
  });

  test('makes the animal pending', async () => {
    const pet = await addPet(store, key);
    await placeOrder(store, key, pet.id);
    expect(await readPet(store, key, pet.id)).toEqual({ ...pet, status: 'pending' });
  });

  test('records the order and the animal in the history, without the adopter', async () => {
    const { id } = await addPet(store, key);
    const order = await placeOrder(store, key, id);
    const rows = await store.read(
      'select order_id, client_id, key_id, from_status, to_status, why from history where pet_id = $1 order by id',
      id,
    );
    const who = { client_id: key.clientId, key_id: key.id };
    expect(rows.slice(1)).toEqual([
      { order_id: BigInt(order.id), ...who, from_status: null, to_status: 'placed', why: 'placed' },
      { order_id: null, ...who, from_status: 'available', to_status: 'pending', why: `order ${order.id} placed` },
    ]);
  });

  test('of an animal that another order has reserved is 409, says so and stores nothing', async () => {
    const pet = await addPet(store, key);
    await placeOrder(store, key, pet.id);
    const before = await countOrders();
    const other = await store.createKey();
    expect(await place({ petId: pet.id, adopter }, other)).toMatchObject(
      errorResponse(409, 'pet_not_available', `Biscuit (id ${pet.id}) is pending. Only an available animal can be ordered.`),
    );
    expect(await countOrders()).toBe(before);
  });

  test.each(['pending', 'sold'] as const)('of an animal that staff have set to %s is 409', async (status) => {
    const pet = await addPet(store, key, { status });
    expect(await place({ petId: pet.id, adopter })).toMatchObject(errorResponse(409, 'pet_not_available', `is ${status}`));
  });

  test('by twenty concurrent requests is 201 for one and 409 for the others', async () => {
    const pet = await addPet(store, key);
    const responses = await Promise.all(Array.from({ length: 20 }, () => place({ petId: pet.id, adopter })));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)]);
  });

  test('of an animal whose order was cancelled is 201', async () => {
    const pet = await addPet(store, key);
    await actAll(store, key, (await placeOrder(store, key, pet.id)).id, 'cancel');
    expect((await place({ petId: pet.id, adopter })).status).toBe(201);
  });

  test.each([['9007199254740990'], ['9223372036854775807'], ['-1']])('of the animal %s, which does not exist, is 404', async (petId) => {
    const raw = `{"petId":${petId},"adopter":${JSON.stringify(adopter)}}`;
    const response = await store.call('POST', '/v1/store/orders', { key: key.key, raw });
    expect(response).toMatchObject(errorResponse(404, 'pet_not_found', `There is no animal with id ${petId}.`));
  });

  test('ignores a client, a status and a time in the body', async () => {
    const other = await store.createKey();
    const pet = await addPet(store, key);
    const { json } = await place({
      petId: pet.id,
      adopter,
      id: 77_777,
      clientId: Number(other.clientId),
      status: 'approved',
      expiresInSeconds: 1,
      expiresAt: '2000-01-01T00:00:00Z',
    });
    expect(json).toMatchObject({ status: 'placed' });
    expect(Date.parse(json.expiresAt) - Date.parse(json.createdAt)).toBe(3_600_000);
    expect((await store.call('GET', `/v1/store/orders/${json.id}`, { key: other.key })).status).toBe(404);
  });

  test('without the scope orders:write is 403 and leaves the animal available', async () => {
    const reader = await store.createKey({ scopes: ['orders:read', 'pets:read'] });
    const pet = await addPet(store, key);
    expect(await place({ petId: pet.id, adopter }, reader)).toMatchObject(
      errorResponse(403, 'insufficient_scope', 'needs the scope orders:write; this key has orders:read, pets:read.'),
    );
    expect(await readPet(store, key, pet.id)).toEqual(pet);
  });

  test("with the store's own key is 201", async () => {
    const manager = await createManager(store);
    expect((await place({ petId: (await addPet(store, key)).id, adopter }, manager)).status).toBe(201);
  });
});

describe('POST /v1/store/orders with an invalid body', () => {
  test.each([
    ['no petId', { petId: undefined }, 'petId is required.'],
    ['a text as petId', { petId: '1' }, 'petId must be an integer (int64); got "1".'],
    ['no adopter', { adopter: undefined }, 'adopter is required.'],
    ['null as adopter', { adopter: null }, 'adopter must be an object; got null.'],
    ['an adopter without a name', { adopter: { email: adopter.email } }, 'adopter.name is required.'],
    ['an adopter without an e-mail address', { adopter: { name: adopter.name } }, 'adopter.email is required.'],
    ['a blank name of the adopter', { adopter: { ...adopter, name: '  ' } }, 'adopter.name must be a string of 1–200 characters'],
    ['a name with a line feed', { adopter: { ...adopter, name: 'Ada\nLovelace' } }, 'adopter.name must be'],
    ['no e-mail address', { adopter: { ...adopter, email: 'ada' } }, 'adopter.email must be an e-mail address'],
    ['two e-mail addresses', { adopter: { ...adopter, email: 'a@b@c' } }, 'adopter.email must be an e-mail address'],
    ['an e-mail address with a blank', { adopter: { ...adopter, email: 'ada @example.org' } }, 'adopter.email must be'],
    ['an e-mail address without a top level', { adopter: { ...adopter, email: 'x@x' } }, 'such as ada@example.org; got "x@x".'],
    ['a name with an override', { adopter: { ...adopter, name: 'Ada\u202eecalevoL' } }, 'It contains U+202E.'],
    ['an e-mail address with a line feed', { adopter: { ...adopter, email: 'ada@example.org\nBcc: x@y' } }, 'adopter.email must be'],
    ['an e-mail address of 255 characters', { adopter: { ...adopter, email: `a@${'b'.repeat(248)}.test` } }, 'adopter.email must be'],
  ])('%s is 400, and the animal stays available', async (_, wrong, words) => {
    const pet = await addPet(store, key);
    expect(await place({ petId: pet.id, adopter, ...wrong })).toMatchObject(errorResponse(400, 'invalid_body', words));
    expect(await readPet(store, key, pet.id)).toEqual(pet);
  });

  test('an e-mail address of 254 characters is stored unchanged', async () => {
    const email = `a@${'b'.repeat(247)}.test`;
    const { json } = await place({ petId: (await addPet(store, key)).id, adopter: { ...adopter, email } });
    expect(json.adopter?.email).toBe(email);
  });
});
