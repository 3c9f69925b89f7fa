import { describe, expect, test } from 'vitest';
import { addPet, createManager } from '../../adoption-steps.ts';
import { findInDump } from '../../applicant-steps.ts';
import { decideAll, submit } from '../../application-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { addUnconfirmed, applyUnconfirmed, statusOf } from '../../page/page-steps.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const [partner, manager] = [await store.createKey({ client: 'the partner' }), await createManager(store)];
const remove = (id: number | bigint, { key } = partner) => store.call('DELETE', `/v1/applications/${id}`, { key });

describe('DELETE of an application', () => {
  test('that is not confirmed leaves nothing of it and of its adopter', async () => {
    const adopter = { name: 'Ada Quetzalcoatlus', email: 'ada.quetzalcoatlus@example.org' };
    const id = await applyUnconfirmed(store, partner, (await addPet(store, partner)).id, adopter);
    expect(await remove(id)).toMatchObject({ status: 204, text: '' });
    expect(await statusOf(store, id)).toBeUndefined();
    expect(await findInDump(store, 'uetzalcoatlus')).toEqual([]);
    expect(await store.read('select state from mail where subject_id = $1', id)).toEqual([]);
    expect(await remove(id)).toMatchObject(errorResponse(404, 'application_not_found'));
  });

  test.each([[[]], [['review']], [['accept']], [['decline']], [['withdraw']]])('after %j is 409', async (actions) => {
    const { id, status } = await submit(store, partner, (await addPet(store, partner)).id);
    expect(status).toBe('submitted');
    await decideAll(store, manager, id, ...actions);
    const before = await statusOf(store, id);
    expect(await remove(id)).toMatchObject(errorResponse(409, 'application_state_conflict', `Application ${id} is ${before}, and only`));
    expect(await statusOf(store, id)).toBe(before);
  });

  test('of another client is 404, also for staff, and needs a scope that submits', async () => {
    const id = await addUnconfirmed(store, partner);
    for (const key of [await store.createKey(), manager])
      expect(await remove(id, key)).toMatchObject(errorResponse(404, 'application_not_found'));
    const reader = await store.createKey({ client: 'the partner', scopes: ['orders:read'] });
    expect(await remove(id, reader)).toMatchObject(errorResponse(403, 'insufficient_scope'));
    expect(await statusOf(store, id)).toBe('unconfirmed');
  });
});
