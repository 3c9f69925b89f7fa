import { describe, expect, test } from 'vitest';
import { act, addPet, createManager, readPet } from '../../adoption-steps.ts';
import { type ApplicationBody, apply, decide, decideAll, readApplication, submit } from '../../application-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const [partner, manager] = [await store.createKey(), await createManager(store)];

/** An application of the partner after these actions of staff. */
async function applicationAfter(...actions: string[]): Promise<ApplicationBody> {
  const { id } = await submit(store, partner, (await addPet(store, partner)).id);
  await decideAll(store, manager, id, ...actions);
  return readApplication(store, partner, id);
}

const petStatus = async ({ petId }: ApplicationBody) => (await readPet(store, partner, petId))?.status;

describe('POST /v1/applications/{applicationId}/{action}', () => {
  test.each([
    ['review', [], 'reviewing', 'available'],
    ['accept', [], 'accepted', 'pending'],
    ['accept', ['review'], 'accepted', 'pending'],
    ['decline', ['review'], 'declined', 'available'],
    ['reopen', ['decline'], 'reviewing', 'available'],
    ['withdraw', [], 'withdrawn', 'available'],
    ['withdraw', ['accept'], 'withdrawn', 'available'],
  ])('%s after %j makes the application %s and the animal %s', async (action, before, status, pet) => {
    const application = await applicationAfter(...before);
    const { status: code, json } = await decide(store, manager, application.id, action);
    const { note, ...seen } = json;
    expect({ code, note }).toEqual({ code: 200, note: null });
    expect(seen).toEqual({ ...application, status, orderId: json.orderId, updatedAt: json.updatedAt });
    expect(await petStatus(application)).toBe(pet);
  });

  test.each([
    ['review', ['accept'], "is already accepted, so it can't be reviewed. It can only be withdrawn."],
    ['accept', ['decline'], "is declined, so it can't be accepted yet. It can only be reopened."],
    ['decline', ['accept'], "is already accepted, so it can't be declined. It can only be withdrawn."],
    ['reopen', [], "is still submitted, so it can't be reopened yet. Review, accept, decline or withdraw it."],
    ['withdraw', ['decline'], "is declined, so it can't be withdrawn yet. It can only be reopened."],
  ])('%s after %j is 409, says what is allowed and changes nothing', async (action, before, words) => {
    const application = await applicationAfter(...before);
    expect(await decide(store, manager, application.id, action)).toMatchObject(
      errorResponse(409, 'application_state_conflict', `Application ${application.id} ${words}`),
    );
    expect(await readApplication(store, partner, application.id)).toEqual(application);
  });

  test('accept places an approved order of the same client and adopter, which names the application', async () => {
    const { id, orderId, petId, adopter } = await applicationAfter('accept');
    const order = await store.call('GET', `/v1/store/orders/${orderId}`, { key: partner.key });
    expect(order.json).toMatchObject({
      petId,
      status: 'approved',
      applicationId: id,
      adopter: { name: adopter?.name, email: adopter?.email },
    });
    const rows = await store.read('select order_id, from_status, to_status from history where pet_id = $1 order by id', petId);
    expect(rows).toMatchObject([
      { to_status: 'available' },
      { from_status: null, to_status: 'placed' },
      { from_status: 'available', to_status: 'pending' },
      { from_status: 'placed', to_status: 'approved' },
    ]);
  });

  test('accept of a second application is 409 and leaves both as they are', async () => {
    const first = await applicationAfter('accept');
    const second = await submit(store, partner, first.petId, { adopter: { name: 'Bob', email: 'bob@example.org' } });
    expect(await decide(store, manager, second.id, 'accept')).toMatchObject(
      errorResponse(
        409,
        'pet_not_available',
        `Biscuit (id ${first.petId}) is pending. An application can be accepted only while the animal is available.`,
      ),
    );
    expect(await readApplication(store, partner, second.id)).toEqual(second);
  });

  test('decline needs no body, and the other actions reject one: a message would be lost', async () => {
    const [first, second] = [await applicationAfter(), await applicationAfter()];
    const response = await store.call('POST', `/v1/applications/${first.id}/decline`, { key: manager.key });
    expect(response).toMatchObject({ status: 200, json: { status: 'declined', message: null } });
    expect(await decide(store, manager, second.id, 'accept', { body: { message: 'Welcome!' } })).toMatchObject(
      errorResponse(400, 'invalid_body', '"message" is not a field of accept, which takes none. Only decline takes a message.'),
    );
    expect((await readApplication(store, partner, second.id)).status).toBe('submitted');
  });

  test('decline tells the adopter the message, which is gone when the application is reopened', async () => {
    const { id } = await applicationAfter();
    const declined = await decide(store, manager, id, 'decline', { body: { message: 'Needs a garden.' } });
    expect(declined.json).toMatchObject({ status: 'declined', message: 'Needs a garden.' });
    expect((await decide(store, manager, id, 'reopen')).json).toMatchObject({ status: 'reviewing', message: null });
  });

  test('the client may withdraw its own, and only that', async () => {
    const application = await applicationAfter('accept');
    for (const action of ['review', 'accept', 'decline', 'reopen']) {
      expect(await decide(store, partner, application.id, action)).toMatchObject({ status: 403 });
    }
    expect(await decide(store, await store.createKey(), application.id, 'withdraw')).toMatchObject({ status: 404 });
    expect((await decide(store, partner, application.id, 'withdraw')).json).toMatchObject({ status: 'withdrawn' });
    const order = await store.call('GET', `/v1/store/orders/${application.orderId}`, { key: partner.key });
    expect(order.json).toMatchObject({ status: 'cancelled' });
  });

  test('reopen is 409 while another one of the adopter for the animal is open', async () => {
    const { id: petId } = await addPet(store, partner);
    const first = await submit(store, partner, petId);
    await decideAll(store, manager, first.id, 'decline');
    const second = await submit(store, partner, petId);
    const message = `Application ${second.id} of this adopter's e-mail address for Biscuit (id ${petId}) is still open. Decide on that one.`;
    expect(await decide(store, manager, first.id, 'reopen')).toMatchObject(errorResponse(409, 'application_exists', message));
    await decideAll(store, manager, second.id, 'withdraw');
    expect(await decide(store, manager, first.id, 'reopen')).toMatchObject({ status: 200 });
  });

  test('accept and withdraw at the same moment, twenty times: one order or none, and one winner', async () => {
    for (let i = 0; i < 20; i += 1) {
      const { id, petId } = await applicationAfter();
      const statuses = (await Promise.all(['accept', 'withdraw'].map((name) => decide(store, manager, id, name)))).map(
        ({ status }) => status,
      );
      const { status } = await readApplication(store, partner, id);
      // Accepted and then withdrawn is possible too: then both have succeeded, one after the other.
      expect(status).toBe('withdrawn');
      expect(statuses[1]).toBe(200);
      expect(await petStatus({ petId } as ApplicationBody)).toBe('available');
    }
  });

  test('accept of two applications for an animal at the same moment: one is accepted, the other is 409', async () => {
    const { id: petId } = await addPet(store, partner);
    const [one, two] = [
      await submit(store, partner, petId),
      await submit(store, partner, petId, { adopter: { name: 'Bob', email: 'bob@example.net' } }),
    ];
    const responses = await Promise.all([one, two].map(({ id }) => decide(store, manager, id, 'accept')));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(responses.find(({ status }) => status === 409)?.json).toMatchObject({ code: 'pet_not_available' });
  });

  test('a retry with the same Idempotency-Key gets the first response', async () => {
    const { id } = await applicationAfter();
    const headers = { 'idempotency-key': `accept ${id}`.replaceAll(' ', '-') };
    const first = await decide(store, manager, id, 'accept', { headers });
    expect((await decide(store, manager, id, 'accept', { headers })).text).toBe(first.text);
  });
});

describe('An application follows its order and its animal', () => {
  async function three() {
    const { id: petId } = await addPet(store, partner);
    const of = (name: string) => submit(store, partner, petId, { adopter: { name, email: `${name}.${petId}@example.org` } });
    return { petId, applications: [await of('ada'), await of('bob'), await of('eve')] as const };
  }
  const states = (applications: readonly ApplicationBody[]) =>
    Promise.all(
      applications.map(async ({ id }) => {
        const { status, closedReason } = await readApplication(store, partner, id);
        return closedReason ?? status;
      }),
    );

  test('completing the order completes its application and closes the others', async () => {
    const { applications } = await three();
    const { json } = await decide(store, manager, applications[1].id, 'accept');
    await act(store, manager, json.orderId ?? 0, 'complete');
    expect(await states(applications)).toEqual(['adopted', 'completed', 'adopted']);
    await act(store, manager, json.orderId ?? 0, 'return');
    expect(await states(applications)).toEqual(['adopted', 'completed', 'adopted']);
  });

  test('cancelling the order closes its application alone', async () => {
    const { applications } = await three();
    const { json } = await decide(store, manager, applications[0].id, 'accept');
    await act(store, partner, json.orderId ?? 0, 'cancel');
    expect(await states(applications)).toEqual(['cancelled', 'submitted', 'submitted']);
    expect((await decide(store, manager, applications[0].id, 'reopen')).json).toMatchObject({ status: 'reviewing', closedReason: null });
    expect((await decide(store, manager, applications[0].id, 'accept')).json.orderId).toBeGreaterThan(json.orderId ?? 0);
  });

  test('an animal that is set to sold or removed closes all', async () => {
    const [sold, removed] = [await three(), await three()];
    await store.call('PATCH', `/v1/pets/${sold.petId}`, { key: manager.key, body: { status: 'sold' } });
    expect(await states(sold.applications)).toEqual(['adopted', 'adopted', 'adopted']);
    await store.call('DELETE', `/v1/pets/${removed.petId}`, { key: manager.key });
    expect(await states(removed.applications)).toEqual(['unavailable', 'unavailable', 'unavailable']);
    expect((await decide(store, manager, sold.applications[0].id, 'reopen')).json).toMatchObject({ code: 'pet_not_available' });
    expect((await decide(store, manager, removed.applications[0].id, 'reopen')).json).toMatchObject({ code: 'pet_not_found' });
    expect(await apply(store, partner, sold.petId)).toMatchObject({ status: 409, json: { code: 'pet_not_available' } });
  });
});
