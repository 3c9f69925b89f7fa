import { describe, expect, test } from 'vitest';
import { expireDueOrders, findOrderedPets } from '../../../src/adoption/orders/orders.ts';
import { verifyHistory } from '../../../src/adoption/verify/verify.ts';
import { endOverHolds } from '../../../src/animals/pets/holds.ts';
import { act, actAll, addPet, adopterOf, createManager, letExpire, placeOrder, readPet } from '../../adoption-steps.ts';
import { apply, decide, decideAll, submit } from '../../application-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { publishAll } from '../../event-steps.ts';
import { searchListings } from '../../listing-steps.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const [partner, manager] = [await store.createKey(), await createManager(store)];

interface HoldBody {
  readonly reason: string;
  readonly until: string | null;
  readonly note: string | null;
}
const tomorrow = new Date(Math.floor(Date.now() / 1_000) * 1_000 + 86_400_000).toISOString();

const hold = (id: number, body: object = { reason: 'medical' }, key = manager) =>
  store.call<HoldBody>('PUT', `/v1/pets/${id}/hold`, { key: key.key, body });
const endHold = (id: number, key = manager) => store.call('DELETE', `/v1/pets/${id}/hold`, { key: key.key });
const readHold = (id: number, key = manager) => store.call<HoldBody>('GET', `/v1/pets/${id}/hold`, { key: key.key });
const statusOf = async (id: number) => (await readPet(store, partner, id))?.status;
const shownHold = async (id: number) =>
  ((await searchListings(store, partner, `?id=${id}`)).json[0] as { hold?: { reason: string; text: string; until?: string } }).hold;
const order = (petId: number, key = partner) =>
  store.call('POST', '/v1/store/orders', { key: key.key, body: { petId, adopter: adopterOf(petId) } });
const { db, catalogue } = store.dependencies;
const work = () => endOverHolds(db, catalogue, findOrderedPets, 100);
/** Makes the time of a hold pass. */
const letPass = (id: number) => store.write(`update pets set hold_until = now() - interval '1 second' where id = $1`, id);

async function heldPet(body: object = { reason: 'medical' }): Promise<number> {
  const { id } = await addPet(store, partner);
  expect((await hold(id, body)).status).toBe(200);
  return id;
}

/** The events of an animal since it was added, with their status before. */
async function eventsOf(id: number): Promise<string[]> {
  await publishAll(store);
  const rows = await store.read<{ type: string; data: string }>('select type, data from events where pet_id = $1 order by position', id);
  return rows.slice(1).map(({ type, data }) => {
    const { pet, previousStatus, hold: held } = JSON.parse(data);
    return [type, previousStatus && `${previousStatus} → ${pet.status}`, held?.reason].filter(Boolean).join(' ');
  });
}

async function expectLegal(): Promise<void> {
  expect((await verifyHistory(db, () => {})).violation).toBeUndefined();
}

describe('PUT /v1/pets/{petId}/hold', () => {
  test('makes an available animal pending, and listings say why', async () => {
    const { id } = await addPet(store, partner);
    const body = { reason: 'medical', until: tomorrow, note: 'Stitches.' };
    expect((await hold(id, body)).json).toEqual(body);
    expect(await statusOf(id)).toBe('pending');
    expect(await shownHold(id)).toEqual({ reason: 'medical', text: 'is being treated', until: tomorrow });
    expect((await readHold(id)).json).toEqual(body);
    expect(await eventsOf(id)).toEqual(['pet.status_changed available → pending', 'pet.held medical']);
    await expectLegal();
  });

  test('tells the public neither the note nor that the reason is behaviour', async () => {
    const id = await heldPet({ reason: 'behaviour', note: 'Bites.' });
    expect(await shownHold(id)).toEqual({ reason: 'other', text: 'not ready yet' });
    await publishAll(store);
    const events = await store.read<{ data: string }>('select data from events where pet_id = $1', id);
    expect(JSON.stringify(events)).not.toMatch(/behaviour|Bites/);
    expect((await readHold(id)).json).toEqual({ reason: 'behaviour', until: null, note: 'Bites.' });
  });

  test('again with the same hold changes nothing, with another note tells nobody, with another reason is an event', async () => {
    const id = await heldPet();
    const count = async () => (await store.read('select from history where pet_id = $1', id)).length;
    const rows = await count();
    expect((await hold(id)).status).toBe(200);
    expect(await count()).toBe(rows);
    expect((await hold(id, { reason: 'medical', note: 'Stitches.' })).json.note).toBe('Stitches.');
    expect((await hold(id, { reason: 'trial', until: tomorrow })).json).toEqual({ reason: 'trial', until: tomorrow, note: null });
    expect(await shownHold(id)).toEqual({ reason: 'trial', text: 'is trying a home', until: tomorrow });
    expect(await eventsOf(id)).toEqual(['pet.status_changed available → pending', 'pet.held medical', 'pet.held trial']);
    await endHold(id);
    expect(await statusOf(id)).toBe('available');
    await expectLegal();
  });

  test.each([
    [{ reason: 'foster' }, 'reason must be'],
    [{ reason: 'medical', until: '2020-01-01T00:00:00Z' }, 'until must be a time in the future'],
    [{ reason: 'medical', until: 'tomorrow' }, 'until must be a time such as'],
    [{ reason: 'medical', until: '2030-13-41T00:00:00Z' }, 'until must be a time that exists'],
    [{ reason: 'medical', until: '2030-02-30T00:00:00Z' }, 'until must be a time that exists; got "2030-02-30T00:00:00Z".'],
    [{ reason: 'medical', until: '2030-02-28T25:00:00Z' }, 'until must be a time that exists'],
    [{ reason: 'medical', untill: tomorrow }, 'untill'],
  ])('with %j is 400', async (body, message) => {
    const { id } = await addPet(store, partner);
    const { status, json } = await store.call<{ message: string }>('PUT', `/v1/pets/${id}/hold`, { key: manager.key, body });
    expect({ status, says: json.message }).toEqual({ status: 400, says: expect.stringContaining(message) });
    expect(await statusOf(id)).toBe('available');
  });

  test('of a sold animal is 409, of an absent one 404, and without the scope 403', async () => {
    const { id } = await addPet(store, partner, { status: 'sold' });
    expect(await hold(id)).toMatchObject(
      errorResponse(409, 'pet_not_available', `Biscuit (id ${id}) is sold. Only an available or pending animal can be held.`),
    );
    expect((await hold(4_711_000)).status).toBe(404);
    expect((await hold(id, { reason: 'medical' }, partner)).status).toBe(403);
    expect((await readHold(id, partner)).status).toBe(403);
    expect((await readHold(id)).json).toMatchObject({ code: 'hold_not_found' });
  });
});

describe('While an animal is held', () => {
  test('it can neither be ordered nor be made available, but renamed', async () => {
    const id = await heldPet();
    const until = '(is being treated)';
    expect(await order(id)).toMatchObject(
      errorResponse(
        409,
        'pet_on_hold',
        `Biscuit (id ${id}) is on hold ${until}, so it can't be ordered. Adopters can apply for it with POST /v1/applications, or wait for the event pet.hold_ended.`,
      ),
    );
    const patch = (body: object) => store.call('PATCH', `/v1/pets/${id}`, { key: manager.key, body });
    expect(await patch({ status: 'available' })).toMatchObject(
      errorResponse(
        409,
        'pet_on_hold',
        `Biscuit (id ${id}) is on hold ${until}, so it can't be made available. End the hold first, with DELETE /v1/pets/${id}/hold.`,
      ),
    );
    expect((await patch({ name: 'Rex' })).json).toMatchObject({ name: 'Rex', status: 'pending' });
    await expectLegal();
  });

  test.each(['cancel', 'expire'])(
    'the end of its order by %s leaves it pending, and the end of the hold makes it available',
    async (how) => {
      const { id } = await addPet(store, partner);
      const placed = await placeOrder(store, partner, id);
      await hold(id);
      if (how === 'cancel') await actAll(store, partner, placed.id, 'cancel');
      else {
        await letExpire(store, placed.id);
        await expireDueOrders(db, catalogue, 100);
      }
      expect(await statusOf(id)).toBe('pending');
      await expectLegal();
      expect((await endHold(id)).status).toBe(204);
      expect(await statusOf(id)).toBe('available');
      expect((await eventsOf(id)).slice(-2)).toEqual(['pet.status_changed pending → available', 'pet.hold_ended']);
      await expectLegal();
    },
  );

  test('staff accept an application, approve and complete, and the sale ends the hold', async () => {
    const id = await heldPet();
    const { id: applied } = await submit(store, partner, id);
    const accepted = await decide(store, manager, applied, 'accept');
    expect(accepted).toMatchObject({ status: 200, json: { status: 'accepted' } });
    const other = await submit(store, await store.createKey(), id);
    expect((await decide(store, manager, other.id, 'accept')).json).toMatchObject({ code: 'pet_not_available' });
    await actAll(store, manager, accepted.json.orderId ?? 0, 'complete');
    expect(await statusOf(id)).toBe('sold');
    expect(await shownHold(id)).toBeUndefined();
    expect(await eventsOf(id)).toContain('pet.hold_ended');
    await expectLegal();
  });

  test('an accepted application that is withdrawn leaves it held', async () => {
    const id = await heldPet();
    const { id: applied } = await submit(store, partner, id);
    await decideAll(store, manager, applied, 'accept', 'withdraw');
    expect(await statusOf(id)).toBe('pending');
    await endHold(id);
    expect(await statusOf(id)).toBe('available');
    await expectLegal();
  });

  test('the hold can end before the order of an accepted application, which leaves it pending', async () => {
    const id = await heldPet();
    const { id: applied } = await submit(store, partner, id);
    await decideAll(store, manager, applied, 'accept');
    await endHold(id);
    expect(await statusOf(id)).toBe('pending');
    await decideAll(store, manager, applied, 'withdraw');
    expect(await statusOf(id)).toBe('available');
    await expectLegal();
  });

  test('applications are taken', async () => {
    expect((await apply(store, partner, await heldPet())).status).toBe(201);
  });
});

describe('A hold ends', () => {
  test('and leaves an animal pending that was so before', async () => {
    const { id } = await addPet(store, partner, { status: 'pending' });
    await hold(id);
    await endHold(id);
    expect(await statusOf(id)).toBe('pending');
    expect(await eventsOf(id)).toEqual(['pet.held medical', 'pet.hold_ended']);
    expect((await endHold(id)).status).toBe(204);
    await expectLegal();
  });

  test.each([
    ['PATCH', { status: 'sold' }],
    ['DELETE', undefined],
  ])('when staff %s the animal with %j', async (method, body) => {
    const id = await heldPet();
    await store.call(method, `/v1/pets/${id}`, { key: manager.key, ...(body && { body }) });
    expect(await eventsOf(id)).toContain('pet.hold_ended');
    expect(await store.read('select hold, hold_until from pets where id = $1', id)).toEqual([{ hold: null, hold_until: null }]);
    await expectLegal();
  });

  test('at its time: it reads as over at once, and the worker makes the animal available', async () => {
    const id = await heldPet({ reason: 'medical', until: tomorrow });
    const other = await heldPet({ reason: 'medical', until: tomorrow });
    await letPass(id);
    expect(await shownHold(id)).toBeUndefined();
    expect((await readHold(id)).status).toBe(404);
    expect((await searchListings(store, partner, `?hold=medical&id=${id}&id=${other}`)).json.map(({ pet }) => pet.id)).toEqual([other]);
    expect(await work()).toBe(1);
    expect(await work()).toBe(0);
    expect(await statusOf(id)).toBe('available');
    expect((await eventsOf(id)).slice(-2)).toEqual(['pet.status_changed pending → available', 'pet.hold_ended']);
    await expectLegal();
  });

  test.each<[string, (id: number) => Promise<{ readonly status: number }>, number]>([
    ['be ordered', (id) => order(id), 201],
    ['be made available', (id) => store.call('PATCH', `/v1/pets/${id}`, { key: manager.key, body: { status: 'available' } }), 200],
    ['be held again', (id) => hold(id, { reason: 'trial' }), 200],
    ['be released', (id) => endHold(id), 204],
    ['be chosen for an adopter', async (id) => decide(store, manager, (await submit(store, partner, id)).id, 'accept'), 200],
  ])('at its time, and the animal can %s before the worker comes', async (_, use, status) => {
    const id = await heldPet({ reason: 'medical', until: tomorrow });
    await letPass(id);
    expect((await use(id)).status).toBe(status);
    expect(await eventsOf(id)).toContain('pet.hold_ended');
    await expectLegal();
  });

  test('at its time while an order is open, which it leaves alone', async () => {
    const { id } = await addPet(store, partner);
    const placed = await placeOrder(store, partner, id);
    await hold(id, { reason: 'medical', until: tomorrow });
    await letPass(id);
    expect(await work()).toBe(1);
    expect(await statusOf(id)).toBe('pending');
    expect((await act(store, partner, placed.id, 'cancel')).status).toBe(200);
    expect(await statusOf(id)).toBe('available');
    await expectLegal();
  });
});
