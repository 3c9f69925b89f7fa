import { describe, expect, test } from 'vitest';
import { addPet, createManager } from '../../adoption-steps.ts';
import { type ApplicationBody, decideAll, fill, listApplications as list, submit, submitUnconfirmed } from '../../application-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { nextPage, walk } from '../../page-walk.ts';
import { addShelter, createShelterKey, moveToShelter } from '../../shelter-steps.ts';
import { openTestStore, type TestKey } from '../../test-store.ts';

const store = await openTestStore();
const manager = await createManager(store);

const petAt = async (shelterId?: number): Promise<number> => {
  const { id } = await addPet(store, manager);
  if (shelterId !== undefined) await moveToShelter(store, id, shelterId);
  return id;
};
const idsOf = ({ json }: { json: ApplicationBody[] }) => json.map(({ id }) => id);
const idsSeen = async (key: TestKey, query = '') => idsOf(await list(store, key, query));

describe('GET /v1/applications', () => {
  test('of a client without applications is an empty array', async () => {
    expect(await list(store, await store.createKey())).toMatchObject({ status: 200, text: '[]' });
  });

  test('shows a client its own, of all its keys, in ascending order of id, without answers and notes', async () => {
    const [one, two] = [await store.createKey({ client: 'Two keys' }), await store.createKey({ client: 'Two keys' })];
    const other = await store.createKey();
    const [first, , second] = [
      await submit(store, one, await petAt()),
      await submit(store, other, await petAt()),
      await submit(store, two, await petAt()),
    ];
    await store.call('PATCH', `/v1/applications/${first.id}`, { key: manager.key, body: { note: 'Has a garden.' } });
    const listed = [first, second].map(({ answers: _, ...application }) => application);
    expect((await list(store, one)).json).toEqual(listed);
    expect((await list(store, two)).json).toEqual(listed);
    expect(idsOf(await list(store, other))).not.toContain(first.id);
  });

  test("shows a shelter's staff those to their shelter, of every client, with notes, and their client's own elsewhere without", async () => {
    const [shelterId, otherShelter] = [await addShelter(store), await addShelter(store)];
    const staff = await createShelterKey(store, shelterId);
    const here = await submit(store, await store.createKey(), await petAt(shelterId));
    const elsewhere = await submit(store, await store.createKey(), await petAt(otherShelter));
    const own = await submit(store, staff, await petAt(otherShelter));
    for (const { id } of [here, own]) await store.call('PATCH', `/v1/applications/${id}`, { key: manager.key, body: { note: 'Called.' } });
    expect((await list(store, staff)).json.map(({ id, note }) => [id, note])).toEqual([
      [here.id, 'Called.'],
      [own.id, undefined],
    ]);
    expect(await idsSeen(staff, `?shelterId=${shelterId}`)).toEqual([here.id]);
    expect(await idsSeen(staff, `?shelterId=${otherShelter}`)).toEqual([own.id]);
    expect(await idsSeen(manager, `?shelterId=${otherShelter}`)).toEqual([elsewhere.id, own.id]);
  });

  test('shows an unconfirmed one to its client alone', async () => {
    const key = await store.createKey();
    const petId = await petAt();
    const { id } = await submitUnconfirmed(store, key, petId);
    for (const query of ['', '?status=unconfirmed', `?petId=${petId}`, `?petId=${petId}&status=unconfirmed`, '?shelterId=1']) {
      expect({ query, own: await idsSeen(key, query) }).toEqual({ query, own: [Number(id)] });
      for (const other of [manager, await createShelterKey(store, 1), await store.createKey()]) {
        expect(await idsSeen(other, `${query}${query ? '&' : '?'}limit=100`)).not.toContain(Number(id));
      }
    }
  });

  test.each([
    ['submitted', []],
    ['reviewing', ['review']],
    ['accepted', ['accept']],
    ['declined', ['decline']],
    ['withdrawn', ['withdraw']],
  ])('filtered by the status %s shows only that status', async (status, actions) => {
    const key = await store.createKey();
    const { id } = await submit(store, key, await petAt());
    await decideAll(store, manager, id, ...actions);
    await decideAll(store, manager, (await submit(store, key, await petAt())).id, ...(status === 'declined' ? ['review'] : ['decline']));
    expect(await idsSeen(key, `?status=${status}`)).toEqual([id]);
  });

  test('filtered by animal, shelter and status shows what has all of them, to each reader', async () => {
    const [key, shelterId] = [await store.createKey(), await addShelter(store)];
    const [petId, other] = [await petAt(shelterId), await petAt(shelterId)];
    const wanted = await submit(store, key, petId);
    await decideAll(store, manager, (await submit(store, manager, petId)).id, 'decline');
    await submit(store, key, other);
    const query = `?petId=${petId}&shelterId=${shelterId}&status=submitted`;
    for (const reader of [key, manager, await createShelterKey(store, shelterId)])
      expect(await idsSeen(reader, query)).toEqual([wanted.id]);
    expect(await idsSeen(key, `?petId=${petId}&shelterId=1`)).toEqual([]);
    expect(await idsSeen(await store.createKey(), query)).toEqual([]);
  });

  test.each(['own', 'shelter', 'store'] as const)(
    'read page by page shows every one once, in order, also across statuses: %s',
    async (who) => {
      const [key, shelterId] = [await store.createKey(), await addShelter(store)];
      const petId = await petAt(shelterId);
      const statuses = ['submitted', 'declined', 'reviewing', 'submitted', 'withdrawn', 'submitted', 'declined'] as const;
      for (const status of statuses) await fillOne(key, petId, status);
      const reader = { own: key, shelter: await createShelterKey(store, shelterId), store: manager }[who];
      const all = await idsSeen(reader, `?petId=${petId}&limit=100`);
      expect(all).toHaveLength(statuses.length);
      for (const filter of [`petId=${petId}`, `shelterId=${shelterId}`]) {
        const pages = (await walk(store, reader, `/v1/applications?limit=3&${filter}`)) as ApplicationBody[][];
        expect(pages.map((page) => page.length)).toEqual([3, 3, 1]);
        expect(pages.flat().map(({ id }) => id)).toEqual(all);
      }
    },
  );

  test('a page far behind is the same however it is reached, and one that is new follows', async () => {
    const key = await store.createKey();
    const petId = await petAt();
    await fill(store, key, petId, 250, 'declined');
    const pages = (await walk(store, key, '/v1/applications?limit=100&status=declined')) as ApplicationBody[][];
    expect(pages.map((page) => page.length)).toEqual([100, 100, 50]);
    const ids = pages.flat().map(({ id }) => id);
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
    expect(new Set(ids).size).toBe(250);
  });

  test('a cursor with other filters, and wrong parameters, are 400', async () => {
    const key = await store.createKey();
    const petId = await petAt();
    await fill(store, key, petId, 2);
    const cursor = /cursor=([^&]+)/.exec(nextPage(await list(store, key, '?limit=1')) ?? '')?.[1];
    expect(await list(store, key, `?limit=1&cursor=${cursor}`)).toMatchObject({ status: 200 });
    expect(await list(store, key, `?limit=1&status=submitted&cursor=${cursor}`)).toMatchObject(
      errorResponse(400, 'invalid_cursor', 'other filters'),
    );
    for (const [query, message] of [
      ['?status=open', 'status must be one of'],
      ['?petId=Biscuit', 'petId must be'],
      ['?limit=101', 'limit must be'],
      ['?closedReason=adopted', 'closedReason'],
    ]) {
      expect(await list(store, key, query)).toMatchObject(errorResponse(400, 'invalid_query', message ?? ''));
    }
  });

  test('needs orders:read', async () => {
    const writer = await store.createKey({ scopes: ['applications:write'] });
    expect(await list(store, writer)).toMatchObject(errorResponse(403, 'insufficient_scope', 'orders:read'));
  });
});

async function fillOne(key: TestKey, petId: number, status: 'submitted' | 'declined' | 'reviewing' | 'withdrawn'): Promise<void> {
  const rows = await store.read('select from applications where pet_id = $1', petId);
  await store.write(
    `insert into applications (client_id, pet_id, shelter_id, status, is_mailed, adopter_name, adopter_email, adopter_address, answers)
      select $1, id, shelter_id, $3::application_status, false, 'Bob', $4, $4, '[]' from pets where id = $2`,
    key.clientId,
    petId,
    status,
    `bob${rows.length}@example.org`,
  );
}
