import { describe, expect, test } from 'vitest';
import { act, addPet, adopter, createManager, placeOrder, readPet } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const [key, manager] = [await store.createKey(), await createManager(store)];

const remove = (id: number | string) => store.call('DELETE', `/v1/pets/${id}`, { key: manager.key });

describe('DELETE /v1/pets/{petId}', () => {
  test('is 204 without a body, and the animal disappears from every list', async () => {
    const pet = await addPet(store, key);
    expect(await remove(pet.id)).toMatchObject({ status: 204, text: '' });
    expect(await readPet(store, key, pet.id)).toBeUndefined();
    expect((await store.call('GET', '/v1/pets?limit=100', { key: key.key })).json).not.toContainEqual(pet);
  });

  test('keeps the history, which ends with who removed the animal', async () => {
    const { id } = await addPet(store, key);
    await remove(id);
    const rows = await store.read(
      'select client_id, from_status, to_status, why from history where pet_id = $1 order by id desc limit 1',
      id,
    );
    expect(rows).toEqual([{ client_id: manager.clientId, from_status: 'available', to_status: 'removed', why: 'taken back by staff' }]);
  });

  test('again is 404', async () => {
    const { id } = await addPet(store, key);
    await remove(id);
    expect(await remove(id)).toMatchObject(errorResponse(404, 'pet_not_found', String(id)));
  });

  test('leaves an animal that can neither be changed nor ordered', async () => {
    const { id } = await addPet(store, key);
    await remove(id);
    const changed = await store.call('PATCH', `/v1/pets/${id}`, { key: manager.key, body: { name: 'Back' } });
    const ordered = await store.call('POST', '/v1/store/orders', { key: key.key, body: { petId: id, adopter } });
    expect([changed, ordered]).toMatchObject([errorResponse(404, 'pet_not_found'), errorResponse(404, 'pet_not_found')]);
  });

  test('of an animal with an open order is 409, names the order and changes nothing', async () => {
    const pet = await addPet(store, key);
    const order = await placeOrder(store, key, pet.id);
    expect(await remove(pet.id)).toMatchObject(
      errorResponse(
        409,
        'pet_has_open_order',
        `is reserved by order ${order.id}, so it can't be removed. Cancel or complete the order first.`,
      ),
    );
    expect(await readPet(store, key, pet.id)).toEqual({ ...pet, status: 'pending' });
  });

  test('of an animal whose order was cancelled is 204', async () => {
    const { id } = await addPet(store, key);
    await act(store, key, (await placeOrder(store, key, id)).id, 'cancel');
    expect((await remove(id)).status).toBe(204);
  });

  test('with the key of a partner that has not added it is 403 and changes nothing', async () => {
    const pet = await addPet(store, manager);
    expect(await store.call('DELETE', `/v1/pets/${pet.id}`, { key: key.key })).toMatchObject(
      errorResponse(403, 'insufficient_scope', `Animal ${pet.id} belongs to shelter 1.`),
    );
    expect(await readPet(store, key, pet.id)).toEqual(pet);
  });

  test.each(['9007199254740990', 'abc'])('with the id %s is 404', async (id) => {
    expect(await remove(id)).toMatchObject(errorResponse(404, 'pet_not_found', id));
  });
});
