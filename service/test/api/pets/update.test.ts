import { describe, expect, test } from 'vitest';
import { actAll, addPet, createManager, type PetBody, placeOrder, readPet } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { createTestStore, openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const [key, manager] = [await store.createKey(), await createManager(store)];

const update = (id: number | string, body: unknown, headers: Record<string, string> = {}) =>
  store.call<PetBody>('PATCH', `/v1/pets/${id}`, { key: manager.key, body, headers });

describe('PATCH /v1/pets/{petId}', () => {
  test('changes only the name', async () => {
    const pet = await addPet(store, key);
    expect(await update(pet.id, { name: 'Biscuit II' })).toMatchObject({ status: 200, json: { ...pet, name: 'Biscuit II' } });
    expect(await readPet(store, key, pet.id)).toEqual({ ...pet, name: 'Biscuit II' });
  });

  test('changes the category, and registers a new one', async () => {
    const pet = await addPet(store, key);
    expect((await update(pet.id, { categoryId: 555 })).json).toEqual({ ...pet, categoryId: 555 });
    expect((await store.call('GET', '/v1/categories?limit=100', { key: key.key })).json).toContainEqual({ id: 555 });
  });

  test.each(['pending', 'sold', 'available'])('changes the status of an animal without an order to %s', async (status) => {
    const pet = await addPet(store, key);
    expect((await update(pet.id, { status })).json).toEqual({ ...pet, status });
  });

  test('records in the history who changed what', async () => {
    const pet = await addPet(store, key);
    await update(pet.id, { status: 'sold' });
    await update(pet.id, { name: 'Biscuit III' });
    const rows = await store.read('select client_id, from_status, to_status, why from history where pet_id = $1 order by id', pet.id);
    expect(rows.slice(1)).toEqual([
      { client_id: manager.clientId, from_status: 'available', to_status: 'sold', why: 'status set by staff' },
      { client_id: manager.clientId, from_status: 'sold', to_status: 'sold', why: 'edited by staff' },
    ]);
  });

  test('with the id of another animal in its body changes neither the ids nor the other animal', async () => {
    const [pet, other] = [await addPet(store, key), await addPet(store, key, { name: 'Other' })];
    expect((await update(pet.id, { id: other.id, name: 'Same' })).json).toEqual({ ...pet, name: 'Same' });
    expect(await readPet(store, key, other.id)).toEqual(other);
  });

  test('with the key of a partner that has not added it is 403 and changes nothing', async () => {
    const pet = await addPet(store, manager);
    const response = await store.call('PATCH', `/v1/pets/${pet.id}`, { key: key.key, body: { name: 'Mine' } });
    expect(response).toMatchObject(errorResponse(403, 'insufficient_scope', `Animal ${pet.id} belongs to shelter 1.`));
    expect(await readPet(store, key, pet.id)).toEqual(pet);
  });

  test.each(['9007199254740990', 'abc'])('with the id %s is 404', async (id) => {
    expect(await update(id, { name: 'A' })).toMatchObject(errorResponse(404, 'pet_not_found', id));
  });

  test.each([
    ['nothing', {}, 'an object with name, categoryId or status'],
    ['only fields that it does not know', { nmae: 'Typo' }, 'an object with name, categoryId or status'],
    ['a blank name', { name: ' ' }, 'name must be'],
    ['no int64 as category', { categoryId: '1' }, 'categoryId must be an integer (int64); got "1".'],
    ['an unknown status', { status: 'adopted' }, 'status must be one of available, pending, sold; got "adopted".'],
    ['null', null, 'The request body is empty or null. Send an object with name, categoryId or status.'],
  ])('with %s is 400 and changes nothing', async (_, body, words) => {
    const pet = await addPet(store, key);
    expect(await update(pet.id, body)).toMatchObject(errorResponse(400, 'invalid_body', words));
    expect(await readPet(store, key, pet.id)).toEqual(pet);
  });

  test('with closed categories rejects an unknown one and changes nothing', async () => {
    await using closed = await createTestStore({ env: { HOMEWARD_CATEGORIES: 'closed' } });
    const staff = await createManager(closed);
    const pet = await addPet(closed, staff);
    const response = await closed.call('PATCH', `/v1/pets/${pet.id}`, { key: staff.key, body: { name: 'New', categoryId: 99 } });
    expect(response).toMatchObject(errorResponse(400, 'category_not_found', '99'));
    expect(await readPet(closed, staff, pet.id)).toEqual(pet);
  });
});

describe('PATCH /v1/pets/{petId} of an animal with an open order', () => {
  test.each(['available', 'sold'])('to the status %s is 409, names the order and changes nothing', async (status) => {
    const pet = await addPet(store, key);
    const order = await placeOrder(store, key, pet.id);
    expect(await update(pet.id, { name: 'Both or neither', status })).toMatchObject(
      errorResponse(409, 'pet_has_open_order', `is reserved by order ${order.id}, so its status can't be set to ${status}.`),
    );
    expect(await readPet(store, key, pet.id)).toEqual({ ...pet, status: 'pending' });
  });

  test('of its name is 200', async () => {
    const pet = await addPet(store, key);
    await placeOrder(store, key, pet.id);
    expect((await update(pet.id, { name: 'Renamed', status: 'pending' })).json).toEqual({ ...pet, name: 'Renamed', status: 'pending' });
  });

  test('is possible again once the order is completed', async () => {
    const pet = await addPet(store, key);
    await actAll(store, manager, (await placeOrder(store, key, pet.id)).id, 'approve', 'complete');
    expect((await update(pet.id, { status: 'available' })).json.status).toBe('available');
  });
});
