// What a client may do with the animals that it has added without a shelter, until staff place them in one.
import { describe, expect, test } from 'vitest';
import type { Scope } from '../../../src/domain/scopes.ts';
import { act, addPet, createManager, placeOrder, readPet } from '../../adoption-steps.ts';
import { decideAll, readApplication, submit } from '../../application-steps.ts';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import { errorResponse } from '../../error-response.ts';
import { holdLocks } from '../../lock-waits.ts';
import { createPhotoStore, makeImage, sendPhoto } from '../../photo-steps.ts';
import { writeProfile } from '../../profile-steps.ts';
import { addShelter, createShelterKey } from '../../shelter-steps.ts';
import type { TestKey } from '../../test-store.ts';

const { store } = disposeAfterAll(await createPhotoStore());
const [manager, shelter] = [await createManager(store), await addShelter(store)];
const image = await makeImage('tan');
const partner = await store.createKey({ client: 'partner' });
const stranger = await store.createKey();

const call = <Body>(method: string, path: string, { key }: TestKey, body?: object, headers: Record<string, string> = {}) =>
  store.call<Body>(method, path, { key, headers, ...(body && { body }) });
const place = (petId: number, shelterId: number) => call('PUT', `/v1/pets/${petId}/shelter`, manager, { shelterId });

/** The statuses of everything that the client of an animal may do with it, the removal last. */
async function tryAll(key: TestKey, petId: number): Promise<number[]> {
  const path = `/v1/pets/${petId}`;
  return [
    (await writeProfile(store, key, 'PUT', petId, { sex: 'male' })).status,
    (await writeProfile(store, key, 'PATCH', petId, { size: 'small' })).status,
    (await sendPhoto(store, key, petId, image)).status,
    (await call('PATCH', path, key, { name: 'Renamed', categoryId: 2 })).status,
    (await call('DELETE', path, key)).status,
  ];
}

const allowed = [200, 200, 202, 200, 204];
const forbidden = [403, 403, 403, 403, 403];

const lastRow = async (petId: number) =>
  (await store.read('select client_id, key_id, kind, why from history where pet_id = $1 order by id desc limit 1', petId))[0];

describe('An animal that was added without a shelter', () => {
  test('is described, renamed, recategorised and removed by its client, with any of its keys without a shelter', async () => {
    const second = await store.createKey({ client: 'partner', scopes: ['pets:write'] });
    for (const key of [partner, second]) expect(await tryAll(key, (await addPet(store, partner)).id)).toEqual(allowed);
  });

  test('has its client in the history of what it does', async () => {
    const { id } = await addPet(store, partner);
    const who = { client_id: partner.clientId, key_id: partner.id };
    await call('PATCH', `/v1/pets/${id}`, partner, { name: 'Renamed' });
    expect(await lastRow(id)).toEqual({ ...who, kind: 'pet_edited', why: 'edited by its client' });
    await call('DELETE', `/v1/pets/${id}`, partner);
    expect(await lastRow(id)).toEqual({ ...who, kind: 'pet_removed', why: 'taken back by its client' });
  });

  test.each<readonly [string, () => Promise<TestKey>]>([
    ['another client', async () => stranger],
    ['a key of its client that is bound to a shelter', () => store.createKey({ client: 'partner', shelterId: BigInt(shelter) })],
    ['a key of its client without pets:write', () => store.createKey({ client: 'partner', scopes: ['pets:read', 'orders:write'] })],
  ])('is closed to %s', async (_, keyOf) => {
    const pet = await addPet(store, partner);
    expect(await tryAll(await keyOf(), pet.id)).toEqual(forbidden);
    expect(await readPet(store, manager, pet.id)).toEqual(pet);
  });

  test('keeps its status: a request for another one is 403, says what to do, and changes nothing', async () => {
    const pet = await addPet(store, partner);
    const response = await call('PATCH', `/v1/pets/${pet.id}`, partner, { name: 'Rex', status: 'sold' });
    const words = `Biscuit (id ${pet.id}) is available, and only staff can set it to sold: use a key with store:manage, or one that is bound to the animal's shelter and has shelter:manage. Without a status the request can be made again. To take the animal off every list, send DELETE /v1/pets/${pet.id}.`;
    expect(response).toMatchObject(errorResponse(403, 'insufficient_scope', words));
    expect(await readPet(store, manager, pet.id)).toEqual(pet);
    expect((await call('PATCH', `/v1/pets/${pet.id}`, partner, { ...pet, name: 'Rex' })).json).toEqual({ ...pet, name: 'Rex' });
  });

  test('is changed only as the version that If-Match names', async () => {
    const { id } = await addPet(store, partner);
    for (const [method, body] of [['PATCH', { name: 'Rex' }], ['DELETE']] as const)
      expect(await call(method, `/v1/pets/${id}`, partner, body, { 'if-match': '"old"' })).toMatchObject(
        errorResponse(412, 'precondition_failed'),
      );
  });

  test('with an open order of another client is not removed, and that order is not named', async () => {
    const { id } = await addPet(store, partner);
    const order = await placeOrder(store, stranger, id);
    const response = await call<{ message: string }>('DELETE', `/v1/pets/${id}`, partner);
    expect(response).toMatchObject(errorResponse(409, 'pet_has_open_order', 'is reserved by an order'));
    expect(response.json.message).not.toContain(`order ${order.id}`);
    expect((await act(store, partner, order.id, 'cancel')).status).toBe(404);
    await act(store, stranger, order.id, 'cancel');
    expect((await call('DELETE', `/v1/pets/${id}`, partner)).status).toBe(204);
  });

  test('leaves the orders and applications for it to others', async () => {
    const { id } = await addPet(store, partner);
    const application = await submit(store, stranger, id);
    const order = await placeOrder(store, stranger, id);
    for (const action of ['approve', 'complete']) expect((await act(store, partner, order.id, action)).status).toBe(403);
    expect((await call('POST', `/v1/applications/${application.id}/accept`, partner)).status).toBe(403);
    await act(store, stranger, order.id, 'cancel');
    await call('DELETE', `/v1/pets/${id}`, partner);
    expect(await readApplication(store, stranger, application.id)).toMatchObject({ status: 'closed', closedReason: 'unavailable' });
    await expect(decideAll(store, partner, application.id, 'reopen')).rejects.toThrow('403');
  });

  test('gets no more new categories than its client may register in a day', async () => {
    const free = await store.createKey({ plan: 'free' });
    const { id } = await addPet(store, free);
    const statuses: number[] = [];
    for (let i = 1; i <= 21; i += 1) statuses.push((await call('PATCH', `/v1/pets/${id}`, free, { categoryId: 7_000 + i })).status);
    expect(statuses).toEqual([...Array<number>(20).fill(200), 400]);
  });
});

describe('It is no longer its client’s', () => {
  test('once staff place it in another shelter', async () => {
    const { id } = await addPet(store, partner);
    expect((await place(id, shelter)).status).toBe(200);
    expect(await tryAll(partner, id)).toEqual(forbidden);
    await place(id, 1);
    expect(await tryAll(partner, id)).toEqual(forbidden);
  });

  test('once staff place it where it is, which the history has and no event', async () => {
    const { id } = await addPet(store, partner);
    expect((await place(id, 1)).status).toBe(200);
    expect(await lastRow(id)).toMatchObject({ client_id: manager.clientId, kind: 'pet_edited', why: 'placed in shelter 1, where it was' });
    expect(await store.read('select type from outbox where pet_id = $1', id)).toEqual([{ type: 'pet.created' }]);
    expect(await tryAll(partner, id)).toEqual(forbidden);
  });
});

test('an animal that was added for a shelter, or by hand, is of no client', async () => {
  const bound = await createShelterKey(store, shelter, ['pets:write']);
  const ofShelter = await addPet(store, bound);
  const [before] = await store.write<{ id: bigint }>(
    `insert into pets (name, category_id, status) values ('Rex', 1, 'available') returning id`,
  );
  for (const id of [ofShelter.id, Number(before?.id)]) expect(await tryAll(partner, id)).toEqual(forbidden);
  expect(await store.read('select client_id from pets where id = any($1)', [ofShelter.id, before?.id])).toEqual([
    { client_id: null },
    { client_id: null },
  ]);
});

test('a key that may not change an animal does not wait for those who do', async () => {
  const { id } = await addPet(store, partner);
  const held = await holdLocks(store, 'select from pets where id = $1 for update', [id]);
  const response = await call('PATCH', `/v1/pets/${id}`, stranger, { name: 'Rex' });
  await held.release();
  expect(response).toMatchObject(errorResponse(403, 'insufficient_scope'));
});

test('an animal that staff add without a shelter is of their client too, and of no other', async () => {
  const scopes: readonly Scope[] = ['pets:write', 'pets:read', 'store:manage'];
  const staff = await store.createKey({ client: 'partner', scopes });
  const pet = await addPet(store, staff);
  expect(await tryAll(stranger, pet.id)).toEqual(forbidden);
  expect(await tryAll(partner, pet.id)).toEqual(allowed);
  expect(await readPet(store, manager, pet.id)).toBeUndefined();
});
