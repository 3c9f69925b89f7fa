// One partner can't bury a shelter in applications, nor take all places of an animal, and one animal can't bury its staff.
import { describe, expect, test } from 'vitest';
import { planBounds } from '../../../src/access/rate-limit/plans.ts';
import { confirmByAdopter, findFull } from '../../../src/adoption/applications/submissions.ts';
import type { Pet } from '../../../src/animals/pets/pet-schemas.ts';
import { theService } from '../../../src/domain/actor.ts';
import { addPet, createManager } from '../../adoption-steps.ts';
import { apply, decide, decideAll, fill, readApplication, submit, submitUnconfirmed } from '../../application-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { createShelterKey } from '../../shelter-steps.ts';
import { openTestStore, type TestKey } from '../../test-store.ts';

const store = await openTestStore();
const manager = await createManager(store);
const ada = { name: 'Ada Lovelace', email: 'ada@example.org' };
const perAnimal = 100;
/** Of one client. */
const share = 80;

const pet = async () => (await addPet(store, manager)).id;
const spread = async (key: TestKey, count: number, status?: 'unconfirmed') => {
  // Not more for an animal than its shelter takes.
  for (let left = count; left > 0; left -= share) await fill(store, key, await pet(), Math.min(left, share), status);
};
const countOpen = async (petId: number) =>
  (await store.read("select from applications where pet_id = $1 and status in ('submitted', 'reviewing', 'accepted')", petId)).length;

describe('An adopter', () => {
  test('has at most 5 open applications with a client, in any spelling of the address', async () => {
    const key = await store.createKey();
    const first = await submit(store, key, await pet(), { adopter: ada });
    for (let i = 1; i < 5; i += 1) await submit(store, key, await pet(), { adopter: { ...ada, email: `Ada+${i}@example.org` } });
    const message = "This client has 5 open applications of this adopter's e-mail address; 5 are allowed.";
    expect(await apply(store, key, await pet(), { adopter: ada })).toMatchObject(errorResponse(409, 'open_application_limit', message));
    expect(await apply(store, await store.createKey(), await pet(), { adopter: ada })).toMatchObject({ status: 201 });
    await decideAll(store, key, first.id, 'withdraw');
    expect(await apply(store, key, await pet(), { adopter: ada })).toMatchObject({ status: 201 });
  });

  test('that applies for 12 animals at once has 5 open ones', async () => {
    const key = await store.createKey();
    const pets = [];
    for (let i = 0; i < 12; i += 1) pets.push(await pet());
    const send = async (petId: number) => {
      for (let tries = 0; ; tries += 1) {
        const { status } = await apply(store, key, petId, { adopter: ada });
        if (status !== 503 || tries === 20) return status;
      }
    };
    expect((await Promise.all(pets.map(send))).sort()).toEqual([...Array(5).fill(201), ...Array(7).fill(409)]);
  });
});

describe('An animal', () => {
  test('has at most 100 open applications; the next is 409, also of another client, until one has ended', async () => {
    const petId = await pet();
    await fill(store, await store.createKey(), petId, share);
    await fill(store, await store.createKey(), petId, perAnimal - share - 1);
    const last = await submit(store, manager, petId);
    const message = `Biscuit (id ${petId}) has 100 open applications; its shelter takes 100.`;
    expect(await apply(store, await store.createKey(), petId)).toMatchObject(errorResponse(409, 'applications_full', message));
    await decideAll(store, manager, last.id, 'decline');
    expect(await apply(store, await store.createKey(), petId)).toMatchObject({ status: 201 });
    // Reopening one is held by the bound too.
    expect(await decide(store, manager, last.id, 'reopen')).toMatchObject(errorResponse(409, 'applications_full', message));
  });

  test('that 30 clients apply for at once, with 10 places left, gets 10', async () => {
    const petId = await pet();
    await fill(store, await store.createKey(), petId, share);
    await fill(store, manager, petId, perAnimal - share - 10);
    const keys = [];
    for (let i = 0; i < 30; i += 1) keys.push(await store.createKey());
    const send = async (key: TestKey) => {
      for (let tries = 0; ; tries += 1) {
        const { status } = await apply(store, key, petId, { adopter: ada });
        if (status !== 503 || tries === 20) return status;
      }
    };
    const statuses = await Promise.all(keys.map(send));
    expect(statuses.sort()).toEqual([...Array(10).fill(201), ...Array(20).fill(409)]);
    expect(await countOpen(petId)).toBe(perAnimal);
  });

  test('has as many unconfirmed ones as its clients send: they take no place', async () => {
    const petId = await pet();
    await fill(store, await store.createKey(), petId, perAnimal, 'unconfirmed');
    expect(await apply(store, manager, petId)).toMatchObject({ status: 201 });
  });
});

describe('The places of an animal', () => {
  const ofClient = (own: number, petId: number) =>
    `This client has ${own} open applications for Biscuit (id ${petId}). Its shelter takes 100, at most 80 of one client.`;
  const enter = (petId: number, key = manager) => apply(store, key, petId, { adopter: ada, confirmed: true });
  const setSuspended = (key: TestKey, isSuspended: boolean) =>
    store.write(`update clients set suspended_at = ${isSuspended ? 'now()' : 'null'} where id = $1`, key.clientId);

  test('are not taken by one client: it gets 80 of 100, others the other 20, and staff enter whatever those have', async () => {
    const petId = await pet();
    const key = await store.createKey();
    const statuses = [];
    for (let i = 0; i < perAnimal; i += 1)
      statuses.push((await apply(store, key, petId, { adopter: { name: 'Bob', email: `bob.${i}@example.org` } })).status);
    expect(statuses).toEqual([...Array(share).fill(201), ...Array(perAnimal - share).fill(409)]);
    expect(await apply(store, key, petId)).toMatchObject(errorResponse(409, 'applications_full', ofClient(share, petId)));
    const other = await store.createKey();
    expect(await apply(store, other, petId)).toMatchObject({ status: 201 });
    expect(await enter(petId)).toMatchObject({ status: 201 });
    // Two together have all, and staff still enter.
    await fill(store, other, petId, perAnimal - share - 1);
    expect(await apply(store, await store.createKey(), petId)).toMatchObject({ status: 409, json: { code: 'applications_full' } });
    const staffOfShelter = await createShelterKey(store, 1);
    expect(await enter(petId, staffOfShelter)).toMatchObject({ status: 201 });
    expect(await countOpen(petId)).toBe(perAnimal + 2);
  });

  test('for staff are as many again, and theirs take none of the others', async () => {
    const petId = await pet();
    await fill(store, manager, petId, perAnimal);
    await store.write('update applications set is_entered = true where pet_id = $1', petId);
    const message = `Staff have entered 100 applications for Biscuit (id ${petId}) that are still open; 100 are allowed. Decide on some of them first.`;
    expect(await enter(petId)).toMatchObject(errorResponse(409, 'applications_full', message));
    expect(await apply(store, manager, petId)).toMatchObject({ status: 201 });
    expect(await apply(store, await store.createKey(), petId)).toMatchObject({ status: 201 });
  });

  test('are free while their client is suspended, and taken again when it is resumed', async () => {
    const petId = await pet();
    const [first, second, third] = [await store.createKey(), await store.createKey(), await store.createKey()];
    await fill(store, first, petId, share);
    await fill(store, second, petId, perAnimal - share);
    expect(await apply(store, third, petId)).toMatchObject({ status: 409 });
    await setSuspended(first, true);
    await submit(store, third, petId);
    expect(await countOpen(petId)).toBe(perAnimal + 1);
    await setSuspended(first, false);
    const full = `Biscuit (id ${petId}) has 101 open applications; its shelter takes 100.`;
    expect(await apply(store, third, petId, { adopter: ada })).toMatchObject(errorResponse(409, 'applications_full', full));
    await store.write(
      `update applications set status = 'declined' where id in (select id from applications where client_id = $1 limit 2)`,
      first.clientId,
    );
    expect(await apply(store, third, petId, { adopter: ada })).toMatchObject({ status: 201 });
  });

  test('of a suspended client hold what its adopters still confirm, and what staff reopen', async () => {
    const petId = await pet();
    const key = await store.createKey();
    const { id } = await submitUnconfirmed(store, key, petId, ada.email);
    await fill(store, key, petId, share);
    const [declined] = await store.write<{ id: bigint }>(
      `update applications set status = 'declined' where id = (select max(id) from applications where pet_id = $1) returning id`,
      petId,
    );
    const confirm = () => store.dependencies.db.transaction((tx) => confirmByAdopter(tx, id, async () => planBounds.free), theService);
    await setSuspended(key, true);
    await confirm();
    const message = ofClient(share, petId);
    expect(await decide(store, manager, Number(declined?.id), 'reopen')).toMatchObject(errorResponse(409, 'applications_full', message));
  });

  test.each([
    [9, 9],
    [10, 7],
    [15, 12],
    [16, 12],
    [500, 400],
  ])('are %i, of which a client has at most %i', (max, most) => {
    const holdings = (sent: number) => [{ clientId: 1n, isSuspended: false, sent, entered: 0 }];
    const full = (sent: number, clientId = 1n) =>
      findFull({ id: 1n, name: 'Biscuit' } as Pet, { max, holdings: holdings(sent) }, { clientId, isEntry: false });
    expect([full(most - 1), full(most)?.code, most < max && full(most, 2n)]).toEqual([
      undefined,
      'applications_full',
      most < max && undefined,
    ]);
  });
});

describe('A client', () => {
  const { openApplications: max } = planBounds.free;

  test('has at most 1,000 open applications on the Free plan', async () => {
    const key = await store.createKey({ plan: 'free' });
    await spread(key, max);
    const message = `This client has 1000 open applications; 1000 are allowed. Wait until the store has decided on some, or withdraw some.`;
    expect(await apply(store, key, await pet())).toMatchObject(errorResponse(409, 'open_application_limit', message));
  });

  test('has at most 1,000 unconfirmed ones', async () => {
    const key = await store.createKey({ plan: 'free' });
    await spread(key, max, 'unconfirmed');
    await expect(submitUnconfirmed(store, key, await pet())).rejects.toMatchObject({
      code: 'open_application_limit',
      message: expect.stringContaining('This client has 1000 applications that their adopters have not confirmed; 1000 are allowed.'),
    });
    // One that needs no confirmation is not held by them.
    expect(await apply(store, key, await pet())).toMatchObject({ status: 201 });
  });

  test('asks at most 1,000 adopters for confirmation a day (UTC), however many were confirmed or deleted since', async () => {
    const key = await store.createKey({ plan: 'free' });
    await store.write(
      "insert into application_counts (client_id, open_at_most, unconfirmed_at_most, day, confirmations) values ($1, 0, 0, (now() at time zone 'utc')::date, $2)",
      key.clientId,
      max - 1,
    );
    await submitUnconfirmed(store, key, await pet());
    await store.write('delete from applications where client_id = $1', key.clientId);
    await expect(submitUnconfirmed(store, key, await pet())).rejects.toMatchObject({
      message:
        'This client has caused mail to 1000 addresses today (UTC) that nobody had confirmed; 1000 are allowed. Submit more after midnight UTC.',
    });
    await store.write('update application_counts set day = day - 1 where client_id = $1', key.clientId);
    await submitUnconfirmed(store, key, await pet());
    expect(await store.read('select confirmations from application_counts where client_id = $1', key.clientId)).toEqual([
      { confirmations: 1n },
    ]);
  });
});

describe('A confirmation', () => {
  const confirm = (id: bigint) =>
    store.dependencies.db.transaction((tx) => confirmByAdopter(tx, id, async () => planBounds.free), theService);

  test('submits the application once, and staff see it from then on', async () => {
    const key = await store.createKey();
    const { id } = await submitUnconfirmed(store, key, await pet());
    expect((await confirm(id)).status).toBe('submitted');
    expect((await confirm(id)).status).toBe('submitted');
    expect(await readApplication(store, manager, Number(id))).toMatchObject({ status: 'submitted' });
    const rows = await store.read('select from_status, to_status, by, key_id from application_history where application_id = $1', id);
    expect(rows).toEqual([{ from_status: null, to_status: 'submitted', by: 'adopter', key_id: null }]);
  });

  test.each([
    [
      'the adopter has another open one for the animal',
      'application_exists',
      (key: TestKey, petId: number) => submit(store, key, petId, { adopter: ada }),
    ],
    ['the animal has no place left', 'applications_full', (_: TestKey, petId: number) => fill(store, manager, petId, perAnimal)],
    ['the client has its share of the places', 'applications_full', (key: TestKey, petId: number) => fill(store, key, petId, share)],
    [
      'the animal was sold',
      'pet_not_available',
      (_: TestKey, petId: number) => store.call('PATCH', `/v1/pets/${petId}`, { key: manager.key, body: { status: 'sold' } }),
    ],
    [
      'the animal was removed',
      'pet_not_found',
      (_: TestKey, petId: number) => store.call('DELETE', `/v1/pets/${petId}`, { key: manager.key }),
    ],
  ])('is rejected if %s, and the application stays unconfirmed', async (_, code, happen) => {
    const key = await store.createKey();
    const petId = await pet();
    const { id } = await submitUnconfirmed(store, key, petId, ada.email);
    await happen(key, petId);
    await expect(confirm(id)).rejects.toMatchObject({ code });
    expect(await readApplication(store, key, Number(id))).toMatchObject({ status: 'unconfirmed' });
  });
});
