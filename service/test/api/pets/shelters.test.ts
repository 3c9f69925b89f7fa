// Whose animals a key may change, and where those are that it adds.
import { describe, expect, test } from 'vitest';
import { addPet, createManager, type PetBody, placeOrder, readPet } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { holdLocks } from '../../lock-waits.ts';
import { addShelter, createShelterKey, shelterOf } from '../../shelter-steps.ts';
import { openTestStore, type TestKey } from '../../test-store.ts';

const store = await openTestStore();
const [manager, partner] = [await createManager(store), await store.createKey()];
const [one, other] = [await addShelter(store, 'One'), await addShelter(store, 'Other')];
const [ofOne, ofOther] = [await createShelterKey(store, one), await createShelterKey(store, other)];

const call = <Body = PetBody>(method: string, path: string, { key }: TestKey, body?: unknown, headers: Record<string, string> = {}) =>
  store.call<Body>(method, path, { key, headers, ...(body !== undefined && { body }) });

describe('POST /v1/pets', () => {
  test('with a bound key adds to its shelter, with any other to the first; the animal is the same', async () => {
    const [own, others, unbound] = [await addPet(store, ofOne), await addPet(store, ofOther), await addPet(store, partner)];
    const shelters = await Promise.all([own, others, unbound].map(({ id }) => shelterOf(store, 'pets', id)));
    expect(shelters).toEqual([one, other, 1]);
    const { text } = await call('GET', `/v1/pets?id=${own.id}`, partner);
    expect(text).toBe(`[{"id":${own.id},"name":"Biscuit","categoryId":1,"status":"available"}]`);
  });

  test('with an Idempotency-Key or a new category adds to the same shelter', async () => {
    const bodies = [
      { name: 'A', categoryId: 1 },
      { name: 'B', categoryId: 9_001 },
    ];
    for (const body of bodies) {
      const { json } = await call('POST', '/v1/pets', ofOne, body, { 'idempotency-key': `add-${body.name}` });
      expect(await shelterOf(store, 'pets', json.id)).toBe(one);
    }
  });

  test('a key that is bound to a shelter needs no shelter:manage to add to it', async () => {
    const bound = await createShelterKey(store, other, ['pets:write']);
    const { json } = await call('POST', '/v1/pets', bound, { name: 'Bound', categoryId: 1 });
    expect(await shelterOf(store, 'pets', json.id)).toBe(other);
  });
});

describe('PATCH and DELETE /v1/pets/{petId} with shelter:manage', () => {
  test('change and remove animals of the own shelter', async () => {
    const { id } = await addPet(store, ofOne);
    expect((await call('PATCH', `/v1/pets/${id}`, ofOne, { name: 'Renamed', status: 'sold' })).json).toMatchObject({ name: 'Renamed' });
    expect((await call('DELETE', `/v1/pets/${id}`, ofOne)).status).toBe(204);
  });

  test("another shelter's animal is 403, names both, and stays as it is", async () => {
    const pet = await addPet(store, ofOther);
    const words = `Animal ${pet.id} belongs to shelter ${other}`;
    for (const [method, body] of [['PATCH', { name: 'Stolen' }], ['DELETE']] as const) {
      expect(await call(method, `/v1/pets/${pet.id}`, ofOne, body)).toMatchObject(errorResponse(403, 'insufficient_scope', words));
    }
    expect(await readPet(store, partner, pet.id)).toEqual(pet);
  });

  test('an animal that does not exist is 404', async () => {
    for (const [method, body] of [['PATCH', { name: 'A' }], ['DELETE']] as const)
      expect(await call(method, '/v1/pets/999999', ofOne, body)).toMatchObject(errorResponse(404, 'pet_not_found'));
  });

  test('a key that is bound but has no shelter:manage is 403', async () => {
    const bound = await createShelterKey(store, one, ['pets:write', 'pets:read']);
    const { id } = await addPet(store, ofOne);
    const response = await call('PATCH', `/v1/pets/${id}`, bound, { name: 'A' });
    expect(response).toMatchObject(
      errorResponse(403, 'insufficient_scope', `This key is bound to shelter ${one} and has pets:write, pets:read.`),
    );
  });

  test('registers categories up to the limit of its plan, as a partner', async () => {
    const shelterKey = await store.createKey({ scopes: ['pets:write', 'shelter:manage'], shelterId: BigInt(one), plan: 'free' });
    const statuses = [];
    for (let i = 1; i <= 21; i += 1)
      statuses.push((await call('POST', '/v1/pets', shelterKey, { name: 'A', categoryId: 8_000 + i })).status);
    expect(statuses).toEqual([...Array<number>(20).fill(201), 400]);
  });
});

describe('PUT /v1/pets/{petId}/shelter', () => {
  const move = (petId: number | string, shelterId: unknown, by = manager) =>
    call<{ shelterId: number }>('PUT', `/v1/pets/${petId}/shelter`, by, { shelterId });

  test('moves the animal with its orders, in the history; the animal itself is the same', async () => {
    const pet = await addPet(store, ofOne);
    const order = await placeOrder(store, partner, pet.id);
    expect(await move(pet.id, other)).toMatchObject({ status: 200, json: { shelterId: other } });
    expect([await shelterOf(store, 'pets', pet.id), await shelterOf(store, 'orders', order.id)]).toEqual([other, other]);
    const rows = await store.read(
      'select client_id, from_status, to_status, why from history where pet_id = $1 order by id desc limit 1',
      pet.id,
    );
    const why = `moved from shelter ${one} to shelter ${other}`;
    expect(rows).toEqual([{ client_id: manager.clientId, from_status: 'pending', to_status: 'pending', why }]);
    expect(await readPet(store, partner, pet.id)).toEqual({ ...pet, status: 'pending' });
    const events = await store.read('select type from outbox where pet_id = $1 order by id desc limit 1', pet.id);
    expect(events).toEqual([{ type: 'pet.moved' }]);
    expect((await call('GET', `/v1/store/orders/${order.id}`, ofOther)).status).toBe(200);
    expect((await call('GET', `/v1/store/orders/${order.id}`, ofOne)).status).toBe(404);
  });

  test('to the shelter that it is in changes nothing and records nothing', async () => {
    const { id } = await addPet(store, ofOne);
    expect((await move(id, one)).status).toBe(200);
    const rows = await store.read('select why from history where pet_id = $1', id);
    expect(rows).toEqual([{ why: 'added' }]);
  });

  test.each([
    ['an unknown shelter', 4_711, 404, 'shelter_not_found'],
    ['no int64', '2', 400, 'invalid_body'],
    ['nothing', undefined, 400, 'invalid_body'],
  ] as const)('with %s is rejected and changes nothing', async (_, shelterId, status, code) => {
    const { id } = await addPet(store, ofOne);
    expect(await move(id, shelterId)).toMatchObject(errorResponse(status, code));
    expect(await shelterOf(store, 'pets', id)).toBe(one);
  });

  test('of an animal that does not exist, or was removed, is 404', async () => {
    const { id } = await addPet(store, ofOne);
    await call('DELETE', `/v1/pets/${id}`, manager);
    for (const petId of [id, 999_999, 'abc']) expect(await move(petId, other)).toMatchObject(errorResponse(404, 'pet_not_found'));
  });

  test("with a key of the animal's shelter is 403", async () => {
    const { id } = await addPet(store, ofOne);
    expect(await move(id, other, ofOne)).toMatchObject(errorResponse(403, 'insufficient_scope', 'store:manage;'));
  });

  test('takes the profile along; if the new shelter has the externalId already, it is 409 and nothing moves', async () => {
    const [pet, clashing] = [await addPet(store, ofOne), await addPet(store, ofOther)];
    const insert = `insert into profiles (pet_id, shelter_id, external_id) values ($1, $2, 'A-1'), ($3, $4, 'A-1')`;
    await store.asOwner(insert, pet.id, one, clashing.id, other);
    const words = `Biscuit (id ${clashing.id}) of shelter ${other} already has the externalId "A-1"`;
    expect(await move(pet.id, other)).toMatchObject(errorResponse(409, 'external_id_taken', words));
    expect(await shelterOf(store, 'pets', pet.id)).toBe(one);
    await store.asOwner('update profiles set external_id = null where pet_id = $1', clashing.id);
    expect((await move(pet.id, other)).status).toBe(200);
    const rows = await store.read('select shelter_id from profiles where pet_id = $1', pet.id);
    expect(rows).toEqual([{ shelter_id: BigInt(other) }]);
  });

  test('while an order is being changed does not wait for it, which could be a deadlock: 503, and a retry succeeds', async () => {
    const pet = await addPet(store, ofOne);
    const order = await placeOrder(store, partner, pet.id);
    const held = await holdLocks(store, 'select from orders where id = $1 for update', [order.id]);
    const blocked = await move(pet.id, other);
    await held.release();
    expect(blocked).toMatchObject(errorResponse(503, 'unavailable', 'is being changed. Retry in 1 s.'));
    expect((await move(pet.id, other)).status).toBe(200);
  });
});
