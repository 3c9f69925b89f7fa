import { describe, expect, test } from 'vitest';
import { applicationJson, idOf, withStatusUrl } from '../../../src/adoption/applications/application-schemas.ts';
import { addPet, createManager, readPet } from '../../adoption-steps.ts';
import { apply, readApplication, submit, submitUnconfirmed } from '../../application-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const [partner, manager] = [await store.createKey(), await createManager(store)];
const adopter = { name: 'Ada Lovelace', email: 'ada@example.org', phone: '+43 1 555 01 23' };

const countApplications = async (petId: number) => (await store.read('select id from applications where pet_id = $1', petId)).length;

describe('POST /v1/applications', () => {
  test('is 201 with the application and its Location, and leaves the animal available', async () => {
    const { id: petId } = await addPet(store, partner);
    const { status, headers, json } = await apply(store, partner, petId, { adopter });
    expect({ status, json }).toEqual({
      status: 201,
      json: {
        id: json.id,
        petId,
        shelterId: 1,
        status: 'submitted',
        closedReason: null,
        orderId: null,
        createdAt: json.createdAt,
        updatedAt: json.createdAt,
        adopter,
        answers: [],
        message: null,
      },
    });
    expect(headers.location).toBe(`/v1/applications/${json.id}`);
    expect((await store.call('GET', String(headers.location), { key: partner.key })).json).toEqual(json);
    expect(await readPet(store, partner, petId)).toMatchObject({ status: 'available' });
    const rows = await store.read(
      'select from_status, to_status, by, client_id, key_id, order_id from application_history where application_id = $1',
      json.id,
    );
    const by = { by: 'client', client_id: partner.clientId, key_id: partner.id };
    expect(rows).toEqual([{ from_status: null, to_status: 'submitted', order_id: null, ...by }]);
  });

  test('of a pending animal is 201, and leaves it pending', async () => {
    const { id } = await addPet(store, partner, { status: 'pending' });
    expect(await apply(store, partner, id)).toMatchObject({ status: 201, json: { status: 'submitted' } });
    expect(await readPet(store, partner, id)).toMatchObject({ status: 'pending' });
  });

  test('of a sold animal is 409, of one that was removed or never existed 404; nothing is stored', async () => {
    const sold = await addPet(store, partner, { name: 'Rex', status: 'sold' });
    const removed = await addPet(store, partner);
    await store.call('DELETE', `/v1/pets/${removed.id}`, { key: manager.key });
    expect(await apply(store, partner, sold.id)).toMatchObject(
      errorResponse(409, 'pet_not_available', `Rex (id ${sold.id}) is sold. Adopters can apply only for an available or pending animal.`),
    );
    for (const id of [removed.id, 4_711]) {
      expect(await apply(store, partner, id)).toMatchObject(errorResponse(404, 'pet_not_found', `There is no animal with id ${id}.`));
      expect(await countApplications(id)).toBe(0);
    }
    expect(await countApplications(sold.id)).toBe(0);
  });

  test.each([
    ['Ada@Example.org', 'in another case'],
    ['ada+dogs@example.org', 'with a tag'],
    ['ADA+x+y@EXAMPLE.org', 'with both'],
  ])('a second one of the address %s for the animal is 409, %s', async (email) => {
    const partner = await store.createKey();
    const { id: petId } = await addPet(store, partner);
    const first = await submit(store, partner, petId, { adopter });
    expect(await apply(store, partner, petId, { adopter: { name: 'Ada', email } })).toMatchObject(
      errorResponse(
        409,
        'application_exists',
        `Application ${first.id} of this adopter's e-mail address for Biscuit (id ${petId}) is still open.`,
      ),
    );
    // Other clients learn nothing of it, and other addresses are others.
    expect(await apply(store, await store.createKey(), petId, { adopter })).toMatchObject({ status: 201 });
    expect(await apply(store, partner, petId, { adopter: { name: 'Ada', email: 'ada@example.net' } })).toMatchObject({ status: 201 });
  });

  test('stores the address as it was given', async () => {
    const { id: petId } = await addPet(store, partner);
    const email = 'Ada+Dogs@Example.org';
    const { id } = await submit(store, partner, petId, { adopter: { name: 'Ada', email } });
    expect(await readApplication(store, partner, id)).toMatchObject({ adopter: { email, phone: null } });
  });

  test.each([
    [{ adopter: { email: 'ada@example.org' } }, 'adopter.name'],
    [{ adopter: { name: 'Ada', email: 'ada' } }, 'adopter.email must be an e-mail address'],
    [
      { adopter: { name: 'Ada', email: 'ada@example.org', phone: 'x'.repeat(41) } },
      'adopter.phone must be a string of at most 40 characters',
    ],
    [{ adopter: { name: 'Ada', email: 'ada@example.org', phone: '1\n2' } }, 'adopter.phone must be'],
    [{ confirmd: true }, 'confirmd'],
    [{ adopter: { name: 'Ada', email: 'ada@example.org', fone: '1' } }, 'adopter.fone'],
    [{ petId: 'Biscuit' }, 'petId must be'],
  ])('with %j is 400 and names what is wrong', async (given, message) => {
    const { id: petId } = await addPet(store, partner);
    expect(await apply(store, partner, petId, given)).toMatchObject(errorResponse(400, 'invalid_body', message));
    expect(await countApplications(petId)).toBe(0);
  });

  test('confirmed: true is for staff of the animal alone', async () => {
    const { id: petId } = await addPet(store, partner);
    expect(await apply(store, partner, petId, { confirmed: true })).toMatchObject(
      errorResponse(403, 'insufficient_scope', 'To decide on its orders and applications'),
    );
    expect(await countApplications(petId)).toBe(0);
    const { id } = await submit(store, manager, petId, { confirmed: true });
    expect(await store.read('select by from application_history where application_id = $1', id)).toEqual([{ by: 'staff' }]);
    expect(await apply(store, partner, petId, { confirmed: false })).toMatchObject({ status: 201 });
  });

  test.each([['applications:write'], ['orders:write']] as const)('needs %s or the other', async (scope) => {
    const { id: petId } = await addPet(store, partner);
    const [writer, reader] = [await store.createKey({ scopes: [scope] }), await store.createKey({ scopes: ['orders:read'] })];
    expect(await apply(store, writer, petId)).toMatchObject({ status: 201 });
    expect(await apply(store, reader, petId)).toMatchObject(
      errorResponse(403, 'insufficient_scope', 'needs the scope applications:write or orders:write'),
    );
  });

  test('a retry with the same Idempotency-Key gets the first response, and another body is 422', async () => {
    const { id: petId } = await addPet(store, partner);
    const headers = { 'idempotency-key': `apply-${petId}` };
    const first = await apply(store, partner, petId, {}, { headers });
    const retried = await apply(store, partner, petId, {}, { headers });
    expect({ status: retried.status, text: retried.text }).toEqual({ status: 201, text: first.text });
    expect(retried.headers).toMatchObject({ 'idempotent-replayed': 'true', location: first.headers.location });
    expect(await countApplications(petId)).toBe(1);
    expect(await apply(store, partner, petId, { adopter }, { headers })).toMatchObject({ status: 422 });
  });

  test('submitted 20 times at once for the same animal and address, exactly one is open', async () => {
    const { id: petId } = await addPet(store, partner);
    const responses = await Promise.all(Array.from({ length: 20 }, () => apply(store, partner, petId)));
    // A request that gets no connection in time is 503, and has no effect.
    const statuses = responses.map(({ status }) => status).filter((status) => status !== 503);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status !== 201 && status !== 409)).toEqual([]);
    expect(await countApplications(petId)).toBe(1);
  });
});

describe('An application whose adopter has to confirm the address', () => {
  test('is unconfirmed, without history and events, and does not depend on the address', async () => {
    const { id: petId } = await addPet(store, partner);
    const { adopter } = await submit(store, partner, petId);
    // One for this animal is open already, which is said to the adopter alone.
    const { id, status } = await submitUnconfirmed(store, partner, petId, adopter?.email);
    expect(status).toBe('unconfirmed');
    expect(await store.read('select from application_history where application_id = $1', id)).toEqual([]);
    expect(await store.read("select from outbox where pet_id = $1 and type like 'application.%'", petId)).toHaveLength(1);
  });
});

describe("The address of the adopter's page", () => {
  const url = 'https://adopt.example/a/"7"';

  test('is added to the stored text of a response, and to none if there is no page', () => {
    const now = new Date();
    const application = {
      ...{ id: 7n, petId: 1n, shelterId: 1n, clientId: partner.clientId, orderId: null, isMailed: false },
      ...{ isConfirmed: false, linkNumber: 0n, isReopenable: false },
      ...({ status: 'submitted', closedReason: null, adopter: { name: 'Ada', email: 'ada@example.org', phone: null } } as const),
      ...{ answers: [], note: 'secret', message: null, createdAt: now, updatedAt: now },
    };
    const text = applicationJson(application, false);
    expect(text).not.toContain('secret');
    expect(withStatusUrl(text, undefined)).toBe(text);
    expect(JSON.parse(withStatusUrl(text, url))).toEqual({ ...JSON.parse(text), statusUrl: url });
    expect(idOf(text)).toBe(7n);
    expect(JSON.parse(applicationJson(application, true))).toMatchObject({ note: 'secret' });
    expect(() => idOf('{"petId":1}')).toThrow('does not begin with its id');
  });
});
