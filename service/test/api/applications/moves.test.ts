import { expect, test, vi } from 'vitest';
import { addPet, createManager } from '../../adoption-steps.ts';
import { decide, decideAll, readApplication, submit } from '../../application-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { countLockWaits, holdLocks } from '../../lock-waits.ts';
import { addShelter, createShelterKey, moveToShelter } from '../../shelter-steps.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const [partner, manager] = [await store.createKey(), await createManager(store)];
const other = await addShelter(store);
const [firstStaff, otherStaff] = [await createShelterKey(store, 1), await createShelterKey(store, other)];
const move = 'update pets set shelter_id = $2 where id = $1';

async function application() {
  return submit(store, partner, (await addPet(store, manager)).id);
}

test('an open application follows its animal without its note, and the staff before no longer see it', async () => {
  const { id, petId } = await application();
  await store.call('PATCH', `/v1/applications/${id}`, { key: manager.key, body: { note: 'Has a garden.' } });
  await moveToShelter(store, petId, other);
  expect(await readApplication(store, otherStaff, id)).toMatchObject({ shelterId: other, note: null });
  expect(await decide(store, firstStaff, id, 'review')).toMatchObject(errorResponse(404, 'application_not_found', String(id)));
});

test.each([
  ['review', []],
  ['accept', []],
  ['decline', []],
  ['withdraw', ['accept']],
])('%s by staff whose shelter gives the animal away meanwhile is 404 and changes nothing', async (action, before) => {
  const { id, petId } = await application();
  await decideAll(store, manager, id, ...before);
  const was = await readApplication(store, manager, id);
  const moving = await holdLocks(store, move, [petId, other]);
  const decided = decide(store, firstStaff, id, action);
  await vi.waitUntil(async () => (await countLockWaits(store)) === 1n);
  await moving.release();
  expect(await decided).toMatchObject(errorResponse(404, 'application_not_found', String(id)));
  expect(await readApplication(store, manager, id)).toEqual({ ...was, shelterId: other });
});

test('one that has ended stays with the shelter that decided, which can no longer reopen it', async () => {
  const { id, petId } = await application();
  await decideAll(store, firstStaff, id, 'decline');
  await moveToShelter(store, petId, other);
  for (const key of [firstStaff, manager]) {
    expect(await decide(store, key, id, 'reopen')).toMatchObject(
      errorResponse(
        409,
        'application_state_conflict',
        `Application ${id} is declined, and Biscuit (id ${petId}) belongs to another shelter`,
      ),
    );
  }
  expect(await readApplication(store, firstStaff, id)).toMatchObject({ shelterId: 1, status: 'declined' });
  expect(await decide(store, otherStaff, id, 'reopen')).toMatchObject({ status: 404 });
});
