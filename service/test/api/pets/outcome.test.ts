// How an animal leaves the store without being adopted here: staff record it, partners see a removal, and for 30 days it can be undone.

import { describe, expect, test } from 'vitest';
import { endUndoableOutcomes } from '../../../src/adoption/outcomes/outcomes.ts';
import { verifyHistory } from '../../../src/adoption/verify/verify.ts';
import { deleteRemoved } from '../../../src/animals/photos/removed-files.ts';
import { theService } from '../../../src/domain/actor.ts';
import { type OutcomeType, outcomeTypes, outcomeUndoing } from '../../../src/domain/outcomes.ts';
import { act, actAll, addPet, createManager, type PetBody, placeOrder, readPet } from '../../adoption-steps.ts';
import { decide, readApplication, submit } from '../../application-steps.ts';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import { errorResponse } from '../../error-response.ts';
import { publishAll } from '../../event-steps.ts';
import { addPetWithPhoto, createPhotoStore, filesIn, makeImage, processAll, readPhotos } from '../../photo-steps.ts';
import { readProfile, writeProfile } from '../../profile-steps.ts';
import { addShelter, createShelterKey } from '../../shelter-steps.ts';
import type { CallOptions, TestKey } from '../../test-store.ts';

const photos = disposeAfterAll(await createPhotoStore());
const { store } = photos;
const { db } = store.dependencies;
const [partner, manager] = [await store.createKey(), await createManager(store)];
const shelter = await addShelter(store);
const [staff, otherStaff] = [await createShelterKey(store, shelter), await createShelterKey(store, await addShelter(store))];

interface OutcomeBody {
  readonly petId: number;
  readonly type: OutcomeType;
  readonly recordedAt: string;
  readonly undoableUntil?: string;
}

const path = (id: number) => `/v1/pets/${id}/outcome`;
const record = (id: number, type: string = 'transferred', { key }: TestKey = manager, options: CallOptions = {}) =>
  store.call<OutcomeBody>('POST', path(id), { key, body: { type }, ...options });
const read = (id: number, { key }: TestKey = manager) => store.call<OutcomeBody>('GET', path(id), { key });
const undo = (id: number, { key }: TestKey = manager) => store.call<PetBody>('DELETE', path(id), { key });
/** As if the outcome were so much older. */
const age = (id: number, days: number) =>
  store.write(
    'update pets set removed_at = removed_at - make_interval(days => $2), undoable_until = undoable_until - make_interval(days => $2) where id = $1',
    id,
    days,
  );
const verify = () => verifyHistory(db, () => {});
const eventsOf = async (id: number) => {
  await publishAll(store);
  return (await store.read<{ type: string; data: string }>('select type, data from events where pet_id = $1 order by position', id)).map(
    ({ type, data }) => ({ type, data: JSON.parse(data) as unknown }),
  );
};

describe('POST /v1/pets/{petId}/outcome', () => {
  test.each(outcomeTypes)('%s takes the animal off every list, and staff read it', async (type) => {
    const pet = await addPet(store, partner);
    const response = await record(pet.id, type);
    expect(response).toMatchObject({ status: 201, json: { petId: pet.id, type }, headers: { location: path(pet.id) } });
    const { recordedAt, undoableUntil } = response.json;
    expect((Date.parse(undoableUntil ?? '') - Date.parse(recordedAt)) / 86_400_000).toBeCloseTo(outcomeUndoing.days, 1);
    expect(await readPet(store, partner, pet.id)).toBeUndefined();
    expect((await store.call<Array<{ pet: PetBody }>>('GET', `/v1/listings?id=${pet.id}`, { key: partner.key })).json).toEqual([]);
    expect((await readProfile(store, partner, pet.id)).status).toBe(404);
    expect(await read(pet.id)).toMatchObject({ status: 200, json: response.json });
  });

  test('tells partners no more than a removal', async () => {
    const pet = await addPet(store, partner);
    await record(pet.id, 'euthanised');
    expect((await eventsOf(pet.id)).at(-1)).toEqual({ type: 'pet.removed', data: { pet } });
    expect(await read(pet.id, partner)).toMatchObject(errorResponse(403, 'insufficient_scope'));
    expect((await store.call('GET', '/v1/events?limit=100', { key: partner.key })).text).not.toContain('euthanised');
  });

  test('is a row of history with its type', async () => {
    const { id } = await addPet(store, partner, { status: 'pending' });
    await record(id, 'died');
    const rows = await store.read(
      'select from_status, to_status, kind, outcome, client_id from history where pet_id = $1 order by id desc limit 1',
      id,
    );
    expect(rows).toEqual([
      { from_status: 'pending', to_status: 'removed', kind: 'pet_outcome', outcome: 'died', client_id: manager.clientId },
    ]);
  });

  test('of an animal with an open order is 409 and changes nothing, until the order is cancelled', async () => {
    const pet = await addPet(store, partner);
    const order = await placeOrder(store, partner, pet.id);
    expect(await record(pet.id)).toMatchObject(
      errorResponse(409, 'pet_has_open_order', `is reserved by order ${order.id}, so it can't get an outcome.`),
    );
    expect(await readPet(store, partner, pet.id)).toEqual({ ...pet, status: 'pending' });
    await act(store, partner, order.id, 'cancel');
    expect((await record(pet.id)).status).toBe(201);
  });

  test('of an animal that is sold is 409, until its order is returned', async () => {
    const { id } = await addPet(store, partner);
    const order = await placeOrder(store, partner, id);
    await actAll(store, manager, order.id, 'approve', 'complete');
    expect(await record(id)).toMatchObject(errorResponse(409, 'pet_is_sold'));
    await actAll(store, manager, order.id, 'return');
    expect((await record(id)).status).toBe(201);
  });

  test('again is 409 and names the first one', async () => {
    const { id } = await addPet(store, partner);
    await record(id, 'escaped');
    expect(await record(id, 'died')).toMatchObject(errorResponse(409, 'outcome_recorded', 'has the outcome escaped already'));
  });

  test('of an animal that was added by mistake and removed is 404', async () => {
    const { id } = await addPet(store, partner);
    await store.call('DELETE', `/v1/pets/${id}`, { key: manager.key });
    expect([await record(id), await read(id), await undo(id)]).toMatchObject(
      Array(3).fill(errorResponse(404, 'pet_not_found', String(id))),
    );
  });

  test('ends a hold, and undoing it does not hold the animal again', async () => {
    const pet = await addPet(store, partner);
    const hold = `/v1/pets/${pet.id}/hold`;
    expect((await store.call('PUT', hold, { key: manager.key, body: { reason: 'medical' } })).status).toBe(200);
    expect((await record(pet.id, 'died')).status).toBe(201);
    expect((await eventsOf(pet.id)).map(({ type }) => type).slice(-2)).toEqual(['pet.hold_ended', 'pet.removed']);
    await undo(pet.id);
    expect((await store.call('GET', hold, { key: manager.key })).status).toBe(404);
    const available = await store.call<PetBody>('PATCH', `/v1/pets/${pet.id}`, { key: manager.key, body: { status: 'available' } });
    expect(available.json).toEqual(pet);
  });

  test('closes the open applications as unavailable, which staff may reopen when it is undone', async () => {
    const { id } = await addPet(store, partner);
    const application = await submit(store, partner, id);
    await record(id);
    expect(await readApplication(store, partner, application.id)).toMatchObject({ status: 'closed', closedReason: 'unavailable' });
    await undo(id);
    expect((await decide(store, manager, application.id, 'reopen')).status).toBe(200);
  });

  test('with an ETag from before a change is 412', async () => {
    const { id } = await addPet(store, partner);
    expect(await record(id, 'other', manager, { headers: { 'if-match': '"old"' } })).toMatchObject(
      errorResponse(412, 'precondition_failed'),
    );
    expect(await readPet(store, partner, id)).toBeDefined();
  });

  test('again with its Idempotency-Key is the first response, also after it was undone', async () => {
    const { id } = await addPet(store, partner);
    const headers = { 'idempotency-key': `outcome-${id}` };
    const first = await record(id, 'died', manager, { headers });
    await undo(id);
    const second = await record(id, 'died', manager, { headers });
    expect([second.status, second.text, second.headers['idempotent-replayed']]).toEqual([201, first.text, 'true']);
    expect((await readPet(store, partner, id))?.status).toBe('pending');
  });

  test.each(['adopted', 'sold', '', 'Died', null])('with the type %j is 400', async (type) => {
    const { id } = await addPet(store, partner);
    expect(await store.call('POST', path(id), { key: manager.key, body: { type } })).toMatchObject(errorResponse(400, 'invalid_body'));
  });

  test('twice at once records one', async () => {
    const { id } = await addPet(store, partner);
    const responses = await Promise.all(outcomeTypes.map((type) => record(id, type)));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    expect(responses.filter(({ status }) => status === 409)).toMatchObject(Array(5).fill(errorResponse(409, 'outcome_recorded')));
    expect(await store.read('select count(*)::int from history where pet_id = $1 and outcome is not null', id)).toEqual([{ count: 1 }]);
  });
});

describe('An outcome in a shelter', () => {
  test('is for its staff: staff of another shelter can not record it, and then find no animal', async () => {
    const { id } = await addPet(store, staff);
    expect(await record(id, 'died', otherStaff)).toMatchObject(errorResponse(403, 'insufficient_scope', `belongs to shelter ${shelter}`));
    expect((await record(id, 'died', staff)).status).toBe(201);
    expect([await read(id, otherStaff), await undo(id, otherStaff), await record(id, 'died', otherStaff)]).toMatchObject(
      Array(3).fill(errorResponse(404, 'pet_not_found')),
    );
    expect([(await read(id, staff)).status, (await undo(id, staff)).status]).toEqual([200, 200]);
  });
});

describe('DELETE /v1/pets/{petId}/outcome', () => {
  test('lists the animal again, as pending, and tells partners', async () => {
    const pet = await addPet(store, partner);
    await writeProfile(store, manager, 'PUT', pet.id, { sex: 'female' });
    await record(pet.id);
    const back = { ...pet, status: 'pending' };
    const response = await undo(pet.id);
    expect([response.status, response.json]).toEqual([200, back]);
    expect(await readPet(store, partner, pet.id)).toEqual(back);
    expect((await readProfile(store, partner, pet.id)).json).toMatchObject({ sex: 'female' });
    expect((await eventsOf(pet.id)).slice(-3)).toEqual([
      { type: 'pet.removed', data: { pet } },
      { type: 'pet.created', data: { pet: back } },
      { type: 'pet.profile_changed', data: { pet: back } },
    ]);
    expect([await read(pet.id), await undo(pet.id)]).toMatchObject(Array(2).fill(errorResponse(404, 'outcome_not_found')));
  });

  test('returns an ETag for the next change', async () => {
    const { id } = await addPet(store, partner);
    await record(id);
    const etag = String((await undo(id)).headers['etag']);
    const available = { body: { status: 'available' }, key: manager.key, headers: { 'if-match': etag } };
    expect((await store.call('PATCH', `/v1/pets/${id}`, available)).status).toBe(200);
  });

  test('after 30 days is 409, whether or not a worker has seen that', async () => {
    const { id } = await addPet(store, partner);
    await record(id, 'escaped');
    await age(id, outcomeUndoing.days);
    const final = errorResponse(409, 'outcome_final', 'recorded more than 30 days ago');
    expect(await undo(id)).toMatchObject(final);
    await endUndoableOutcomes(db, 100);
    expect(await undo(id)).toMatchObject(final);
    const { json } = await read(id);
    expect([json.type, json.undoableUntil]).toEqual(['escaped', undefined]);
  });

  test('is 409 if its externalId was given to another animal, and works when that has another one', async () => {
    const [first, second] = [await addPet(store, partner), await addPet(store, partner, { name: 'Rex' })];
    await writeProfile(store, manager, 'PUT', first.id, { externalId: `A-${first.id}` });
    await record(first.id);
    await writeProfile(store, manager, 'PUT', second.id, { externalId: `A-${first.id}` });
    expect(await undo(first.id)).toMatchObject(
      errorResponse(409, 'external_id_taken', `Rex (id ${second.id}) has got the externalId "A-${first.id}" meanwhile`),
    );
    expect(await readPet(store, partner, first.id)).toBeUndefined();
    await writeProfile(store, manager, 'PUT', second.id, {});
    expect((await undo(first.id)).status).toBe(200);
  });

  test('shows the animal again in the profiles of those that it is bonded with, also on cached pages', async () => {
    const [one, bonded] = [await addPet(store, partner), await addPet(store, partner)];
    await writeProfile(store, manager, 'PUT', one.id, { bondedWith: [bonded.id], sex: 'male', breeds: { primary: `Bond ${one.id}` } });
    const shown = async () => {
      const listings = `/v1/listings?sex=male&breed=${encodeURIComponent(`Bond ${one.id}`)}&status=available`;
      const { json } = await store.call<Array<{ profile: { bondedWith: number[] } }>>('GET', listings, { key: partner.key });
      return json.map(({ profile }) => profile.bondedWith);
    };
    expect([await shown(), await shown()]).toEqual([[[bonded.id]], [[bonded.id]]]);
    await record(bonded.id);
    expect([await shown(), await shown()]).toEqual([[[]], [[]]]);
    await undo(bonded.id);
    expect(await shown()).toEqual([[bonded.id]]);
  });
});

describe('Photos of an animal with an outcome', () => {
  const tomorrow = -60;
  const deleteFiles = async () => {
    for (let count = 1; count > 0; ) count = await deleteRemoved(db, photos.files, tomorrow);
  };
  const countFiles = async () => (await filesIn(photos.folder, 'photos')).length;
  const showsPhotos = async (id: number, photoId: number) => [
    (await store.call('GET', `/v1/pets/${id}/photos`, { key: manager.key })).status,
    (await store.call('GET', `/v1/pets/${id}/photos/${photoId}`, { key: manager.key })).status,
  ];

  test('are hidden and stay while it can be undone', async () => {
    const id = await addPetWithPhoto(store, manager, await makeImage('red'));
    await processAll(photos);
    const [photo] = await readPhotos(store, manager, id);
    const files = await countFiles();
    await record(id);
    expect(await showsPhotos(id, photo?.id ?? 0)).toEqual([404, 404]);
    await age(id, outcomeUndoing.days - 1);
    expect(await endUndoableOutcomes(db, 100)).toBe(0);
    await deleteFiles();
    expect(await countFiles()).toBe(files);
    await undo(id);
    expect(await readPhotos(store, manager, id)).toEqual([photo]);
    expect((await eventsOf(id)).map(({ type }) => type).slice(-2)).toEqual(['pet.created', 'pet.photos_changed']);
  });

  test('are deleted with their files when it can not be undone any more', async () => {
    await deleteFiles();
    const before = await countFiles();
    const id = await addPetWithPhoto(store, manager, await makeImage('green'));
    await processAll(photos);
    expect(await countFiles()).toBeGreaterThan(before);
    await record(id);
    await age(id, outcomeUndoing.days);
    expect(await endUndoableOutcomes(db, 100)).toBe(1);
    expect(await store.read('select from photos where pet_id = $1', id)).toEqual([]);
    await deleteFiles();
    expect(await countFiles()).toBe(before);
  });

  test('that are processed meanwhile are ready when it is undone', async () => {
    const id = await addPetWithPhoto(store, manager, await makeImage('blue'));
    await record(id);
    await processAll(photos);
    expect((await eventsOf(id)).at(-1)?.type).toBe('pet.removed');
    await undo(id);
    expect(await readPhotos(store, manager, id)).toMatchObject([{ status: 'ready' }]);
  });
});

test('A worker ends a batch at a time, and leaves animals that are locked to the next', async () => {
  const ids: number[] = [];
  for (let i = 0; i < 5; i += 1) {
    const { id } = await addPet(store, partner);
    await record(id);
    await age(id, outcomeUndoing.days + i);
    ids.push(id);
  }
  const counts = await db.transaction(async (tx) => {
    await tx.query({ text: 'select from pets where id = $1 for update', values: [ids[4]] });
    return [await endUndoableOutcomes(db, 3), await endUndoableOutcomes(db, 3)];
  }, theService);
  expect([...counts, await endUndoableOutcomes(db, 3), await endUndoableOutcomes(db, 3)]).toEqual([3, 1, 1, 0]);
});

test('The history of all that is legal', async () => {
  expect((await verify()).violation).toBeUndefined();
});
