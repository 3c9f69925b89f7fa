// Orders for animals of a shelter that takes applications: only staff place them.
import { describe, expect, test, vi } from 'vitest';
import { addPet, adopterOf, createManager, type OrderBody, placeOrder, readPet } from '../../../adoption-steps.ts';
import { errorResponse } from '../../../error-response.ts';
import { countLockWaits, holdLocks } from '../../../lock-waits.ts';
import { addShelter, createShelterKey, moveToShelter } from '../../../shelter-steps.ts';
import { openTestStore, type TestKey } from '../../../test-store.ts';

const store = await openTestStore();
const [partner, manager] = [await store.createKey(), await createManager(store)];
const [shelter, other] = [await addShelter(store), await addShelter(store, 'Other')];
const [staff, staffOfOther] = [await createShelterKey(store, shelter), await createShelterKey(store, other)];
const bound = await createShelterKey(store, shelter, ['pets:read', 'pets:write', 'orders:read', 'orders:write']);

const adopt = async (adoption: 'order' | 'application', of = shelter) =>
  store.call('PATCH', `/v1/shelters/${of}`, { key: manager.key, body: { adoption } });
const order = (key: TestKey, petId: number, headers: Record<string, string> = {}) =>
  store.call<OrderBody>('POST', '/v1/store/orders', { key: key.key, body: { petId, adopter: adopterOf(petId) }, headers });
const byApplication = (petId: number) =>
  errorResponse(
    409,
    'orders_by_application',
    `Biscuit (id ${petId}) is adopted by application: the staff of shelter ${shelter} choose among those who apply. Send POST /v1/applications in place of an order.`,
  );
const storedOf = (petId: number) =>
  store.read(
    'select id from orders where pet_id = $1 union all select id from outbox where pet_id = $1 and type <> $2',
    petId,
    'pet.created',
  );

await adopt('application');

describe('POST /v1/store/orders for an animal of a shelter that takes applications', () => {
  test('of a partner is 409 and changes nothing', async () => {
    const pet = await addPet(store, staff);
    expect(await order(partner, pet.id)).toMatchObject(byApplication(pet.id));
    expect(await readPet(store, partner, pet.id)).toEqual(pet);
    expect(await storedOf(pet.id)).toEqual([]);
  });

  test.each(['pending', 'sold'] as const)('that is %s says the same: a partner can apply for it, but never order it', async (status) => {
    const { id } = await addPet(store, staff, { status });
    expect(await order(partner, id)).toMatchObject(byApplication(id));
    expect(await order(staff, id)).toMatchObject(errorResponse(409, 'pet_not_available', `Biscuit (id ${id}) is ${status}.`));
  });

  test.each([
    ['a key that is bound to the shelter, without the scope of its staff', bound],
    ["another shelter's staff", staffOfOther],
  ])('of %s is 409', async (_, key) => {
    const { id } = await addPet(store, staff);
    expect(await order(key, id)).toMatchObject(byApplication(id));
  });

  test.each([
    ["the shelter's staff", staff],
    ["the store's staff", manager],
  ])('of %s is 201', async (_, key) => {
    const { id } = await addPet(store, staff);
    expect(await order(key, id)).toMatchObject({ status: 201, json: { petId: id, status: 'placed' } });
  });

  test('of an animal that does not exist is 404', async () => {
    expect(await order(partner, 4_711)).toMatchObject(errorResponse(404, 'pet_not_found', '4711'));
  });

  test('is decided by the shelter where the animal is now', async () => {
    const [here, there] = [await addPet(store, staff), await addPet(store, staffOfOther)];
    await moveToShelter(store, here.id, other);
    await moveToShelter(store, there.id, shelter);
    expect((await order(partner, here.id)).status).toBe(201);
    expect(await order(partner, there.id)).toMatchObject(byApplication(there.id));
  });

  test('in a rush is 409 for all partners with the same words, and 201 for the staff among them', async () => {
    const { id } = await addPet(store, staff);
    const edit = await holdLocks(store, 'select from pets where id = $1 for update', [id]);
    const partners = await Promise.all(Array.from({ length: 4 }, () => store.createKey()));
    // The first one's statement waits for the animal; the others wait for the first.
    const first = order(manager, id);
    await vi.waitUntil(async () => (await countLockWaits(store)) === 1n);
    const others = Array.from({ length: 20 }, (_, i) => order(partners[i % partners.length] ?? partner, id));
    const late = order(staff, id);
    await edit.release();
    expect((await first).status).toBe(201);
    for (const response of await Promise.all(others)) expect(response).toMatchObject(byApplication(id));
    expect(await late).toMatchObject(errorResponse(409, 'pet_not_available', `Biscuit (id ${id}) is pending.`));
  });

  test('in a rush, staff who come after partners still get an available animal', async () => {
    const { id } = await addPet(store, staff);
    const responses = Array.from({ length: 10 }, () => order(partner, id));
    const ofStaff = order(staff, id);
    for (const response of await Promise.all(responses)) expect(response).toMatchObject(byApplication(id));
    expect((await ofStaff).status).toBe(201);
  });

  test('is 409 from the response of the PATCH on, though orders are placed at the same time; those keep their promise', async () => {
    await adopt('order', other);
    const pets = await Promise.all(Array.from({ length: 20 }, () => addPet(store, staffOfOther)));
    const key = { 'idempotency-key': 'before' };
    const [before = { id: 0 }, ...rest] = pets;
    const first = await order(partner, before.id, key);
    const during = rest.map(({ id }) => order(partner, id));
    await adopt('application', other);
    const after = await addPet(store, staffOfOther);
    expect(await order(partner, after.id)).toMatchObject({ status: 409, json: { code: 'orders_by_application' } });
    for (const { status, json } of await Promise.all(during)) {
      const expected = status === 201 ? { status: 'placed' } : { code: 'orders_by_application' };
      expect(json).toMatchObject(expected);
    }
    expect(await order(partner, before.id, key)).toMatchObject({ status: 201, text: first.text });
    expect((await store.call('POST', `/v1/store/orders/${first.json.id}/cancel`, { key: partner.key })).status).toBe(200);
    await adopt('order', other);
    await placeOrder(store, partner, after.id);
  });
});
