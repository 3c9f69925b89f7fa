import { describe, expect, test } from 'vitest';
import { addPet, createManager } from '../../adoption-steps.ts';
import { readApplication, submit, submitUnconfirmed } from '../../application-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { addShelter, createShelterKey, moveToShelter } from '../../shelter-steps.ts';
import { openTestStore, type TestKey } from '../../test-store.ts';

const store = await openTestStore();
const manager = await createManager(store);
const [shelterId, otherShelter] = [await addShelter(store), await addShelter(store)];
const [staff, otherStaff] = [await createShelterKey(store, shelterId), await createShelterKey(store, otherShelter)];
const partner = await store.createKey({ client: 'Happy Tails' });

const get = (key: TestKey, id: number | bigint | string) => store.call('GET', `/v1/applications/${id}`, { key: key.key });
const setNote = (key: TestKey, id: number, note: unknown) =>
  store.call('PATCH', `/v1/applications/${id}`, { key: key.key, body: { note } });
const petAtShelter = async () => {
  const { id } = await addPet(store, manager);
  await moveToShelter(store, id, shelterId);
  return id;
};
const notFound = (id: unknown) => errorResponse(404, 'application_not_found', `You have no application with id ${id}.`);

describe('GET /v1/applications/{applicationId}', () => {
  test("is for its client's keys, the animal's shelter and the store; for others it does not exist", async () => {
    const submitted = await submit(store, partner, await petAtShelter());
    const readers: Array<[TestKey, object]> = [
      [await store.createKey({ client: 'Happy Tails', scopes: ['orders:read'] }), submitted],
      [staff, { ...submitted, note: null }],
      [manager, { ...submitted, note: null }],
    ];
    for (const [key, expected] of readers) expect(await get(key, submitted.id)).toMatchObject({ status: 200, json: expected });
    for (const key of [otherStaff, await store.createKey()]) expect(await get(key, submitted.id)).toMatchObject(notFound(submitted.id));
  });

  test('unconfirmed is for its client alone', async () => {
    const { id } = await submitUnconfirmed(store, partner, await petAtShelter());
    expect(await get(partner, id)).toMatchObject({ status: 200, json: { status: 'unconfirmed', answers: [] } });
    for (const key of [staff, manager, otherStaff]) expect(await get(key, id)).toMatchObject(notFound(id));
    for (const action of ['review', 'accept', 'withdraw']) {
      const acted = await store.call('POST', `/v1/applications/${id}/${action}`, { key: manager.key });
      expect(acted).toMatchObject(notFound(id));
    }
    expect(await setNote(manager, Number(id), 'Called.')).toMatchObject(notFound(id));
    expect(await store.call('POST', `/v1/applications/${id}/withdraw`, { key: partner.key })).toMatchObject(
      errorResponse(409, 'application_state_conflict', `Application ${id} is unconfirmed, so it can't be withdrawn yet.`),
    );
  });

  test.each(['4711', '1.5', 'latest', '99999999999999999999'])('%s is 404', async (id) => {
    expect(await get(manager, id)).toMatchObject(notFound(id));
  });

  test('of an animal that was moved is of its new shelter while it is open, without the note; afterwards it stays', async () => {
    const petId = await petAtShelter();
    const [open, declined] = [
      await submit(store, partner, petId),
      await submit(store, partner, petId, { adopter: { name: 'Bob', email: 'bob@example.org' } }),
    ];
    for (const { id } of [open, declined]) await setNote(staff, id, 'Called.');
    await store.call('POST', `/v1/applications/${declined.id}/decline`, { key: staff.key, body: {} });
    await moveToShelter(store, petId, otherShelter);
    expect((await get(otherStaff, open.id)).json).toMatchObject({ shelterId: otherShelter, note: null, status: 'submitted' });
    expect(await get(staff, open.id)).toMatchObject({ status: 404 });
    expect((await get(staff, declined.id)).json).toMatchObject({ shelterId, note: 'Called.' });
    expect(await get(otherStaff, declined.id)).toMatchObject({ status: 404 });
  });
});

describe('PATCH /v1/applications/{applicationId}', () => {
  test('sets the note of staff, and null or an empty text removes it; nobody else sees it', async () => {
    const { id, updatedAt } = await submit(store, partner, await petAtShelter());
    expect(await setNote(staff, id, 'Has a garden.')).toMatchObject({ status: 200, json: { note: 'Has a garden.', updatedAt } });
    expect((await get(manager, id)).json).toMatchObject({ note: 'Has a garden.' });
    expect(await get(partner, id)).toMatchObject({ status: 200, text: expect.not.stringContaining('note') });
    for (const none of [null, '']) {
      await setNote(staff, id, 'Has a garden.');
      expect((await setNote(staff, id, none)).json).toMatchObject({ note: null });
    }
    expect(await store.read("select from outbox where type like 'application.%' and data::text like '%garden%'")).toEqual([]);
  });

  test('is 403 for the client that submitted it, and 404 for others', async () => {
    const { id } = await submit(store, partner, await petAtShelter());
    expect(await setNote(partner, id, 'Mine.')).toMatchObject({ status: 403 });
    expect(await setNote(otherStaff, id, 'Mine.')).toMatchObject(notFound(id));
    const ownElsewhere = await submit(store, otherStaff, await petAtShelter());
    expect(await setNote(otherStaff, ownElsewhere.id, 'Mine.')).toMatchObject(
      errorResponse(403, 'insufficient_scope', 'To decide on its orders and applications'),
    );
  });

  test.each([
    [{}, 'note'],
    [{ note: 1 }, 'note must be a string of at most 2,000 characters, or null'],
    [{ note: 'x'.repeat(2_001) }, 'note must be'],
    [{ note: 'a\u0007' }, 'note must'],
    [{ nota: 'x', note: 'x' }, 'nota'],
  ])('with %j is 400', async (body, message) => {
    const { id } = await submit(store, partner, await petAtShelter());
    const response = await store.call('PATCH', `/v1/applications/${id}`, { key: staff.key, body });
    expect(response).toMatchObject(errorResponse(400, 'invalid_body', message));
    expect(await readApplication(store, staff, id)).toMatchObject({ note: null });
  });

  test('of one whose adopter was erased is 409: the note would outlive the erasure', async () => {
    const { id } = await submit(store, partner, await petAtShelter());
    await store.call('POST', `/v1/applications/${id}/decline`, { key: staff.key, body: {} });
    const erased = 'adopter_name = null, adopter_email = null, adopter_address = null, adopter_phone = null, answers = null';
    await store.asOwner(`update applications set ${erased} where id = $1`, id);
    expect((await get(staff, id)).json).toMatchObject({ adopter: null, answers: null });
    const message = `The adopter's data was erased from application ${id}, so it can't`;
    expect(await setNote(staff, id, 'Ada.')).toMatchObject(errorResponse(409, 'application_state_conflict', message));
    expect(await store.call('POST', `/v1/applications/${id}/reopen`, { key: staff.key })).toMatchObject(
      errorResponse(409, 'application_state_conflict', message),
    );
  });
});
