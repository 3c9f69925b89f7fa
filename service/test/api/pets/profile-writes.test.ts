// Writes at the same time, their events, and what they leave alone.
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { Publisher } from '../../../src/changes/events/publisher.ts';
import { addPet, createManager, type PetBody, placeOrder, readPet } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { petIdOf, readOn, typesOf } from '../../event-steps.ts';
import { countLockWaits, holdLocks } from '../../lock-waits.ts';
import { readProfile, writeProfile } from '../../profile-steps.ts';
import { openTestStore } from '../../test-store.ts';

let pet: PetBody;
let next: string;
const store = await openTestStore();
const [reader, manager] = [await store.createKey(), await createManager(store)];
beforeEach(async () => {
  pet = await addPet(store, manager);
  ({ next } = await readOn(store, reader));
});

const write = (method: 'PUT' | 'PATCH', body: unknown, headers: Record<string, string> = {}) =>
  writeProfile(store, manager, method, pet.id, body, headers);
const etag = async () => (await readProfile(store, reader, pet.id)).headers.etag ?? '';
const newEvents = async () => (await readOn(store, reader, next)).events.filter((event) => petIdOf(event) === pet.id);

describe.each(['PUT', 'PATCH'] as const)('If-Match of %s', (method) => {
  test.each([
    ['the ETag of an empty profile', (current: string) => current],
    ['that of a compressed response', (current: string) => `${current.slice(0, -1)}-gzip"`],
    ['it among others', (current: string) => `"a", ${current}`],
    ['any', () => '*'],
  ])('with %s writes', async (_, given) => {
    const response = await write(method, { sex: 'male' }, { 'if-match': given(await etag()) });
    expect(response).toMatchObject({ status: 200, headers: { etag: await etag() } });
  });

  test('with a stale ETag is 412, names the current one and writes nothing', async () => {
    const stale = await etag();
    await write('PUT', { sex: 'male' });
    expect(await write(method, { sex: 'female' }, { 'if-match': stale })).toMatchObject(
      errorResponse(412, 'precondition_failed', `The profile of Biscuit (id ${pet.id}) has changed: its ETag is now ${await etag()}.`),
    );
    expect((await readProfile(store, reader, pet.id)).json.sex).toBe('male');
  });

  test("with the animal's own ETag is 412", async () => {
    const { headers } = await store.call('GET', `/v1/pets?id=${pet.id}`, { key: reader.key });
    expect((await write(method, {}, { 'if-match': headers.etag ?? '' })).status).toBe(412);
  });

  test('lets one of three writers at once through', async () => {
    const current = await etag();
    const responses = await Promise.all(
      Array.from({ length: 3 }, (_, i) => write(method, { weightGrams: i + 1 }, { 'if-match': current })),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
    const winner = responses.findIndex(({ status }) => status === 200);
    expect((await readProfile(store, reader, pet.id)).json.weightGrams).toBe(winner + 1);
  });
});

describe('Writes at once', () => {
  test('of different fields by PATCH are all kept', async () => {
    const bodies = [{ sex: 'male' }, { goodWith: { cats: 'yes' } }, { goodWith: { dogs: 'no' } }];
    const statuses = (await Promise.all(bodies.map((body) => write('PATCH', body)))).map(({ status }) => status);
    expect(statuses).toEqual(bodies.map(() => 200));
    expect((await readProfile(store, reader, pet.id)).json).toMatchObject({
      sex: 'male',
      goodWith: { children: 'unknown', cats: 'yes', dogs: 'no' },
    });
  });

  test('of animals that are bonded with each other are both kept', async () => {
    const other = await addPet(store, manager);
    for (let round = 0; round < 5; round += 1) {
      const responses = await Promise.all([
        write('PUT', { bondedWith: [other.id], weightGrams: round + 1 }),
        writeProfile(store, manager, 'PUT', other.id, { bondedWith: [pet.id], weightGrams: round + 1 }),
      ]);
      expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    }
  });

  test('with a removal are 404 once the animal is removed', async () => {
    const removal = await holdLocks(store, 'update pets set removed_at = now() where id = $1', [pet.id]);
    const writing = write('PUT', { sex: 'male' });
    await vi.waitUntil(async () => (await countLockWaits(store)) === 1n, { timeout: 1_500, interval: 10 });
    await removal.release();
    expect(await writing).toMatchObject(errorResponse(404, 'pet_not_found', String(pet.id)));
    expect(await store.read('select from profiles where pet_id = $1', pet.id)).toEqual([]);
    expect(typesOf(await newEvents())).toEqual([]);
  });
});

describe('pet.profile_changed', () => {
  test('is recorded for each change, with the animal', async () => {
    await write('PUT', { sex: 'male' });
    await write('PATCH', { attributes: { a: '1' } });
    expect(await newEvents()).toMatchObject([
      { type: 'pet.profile_changed', data: { pet } },
      { type: 'pet.profile_changed', data: { pet } },
    ]);
    expect((await newEvents()).map(({ data }) => Object.keys(data))).toEqual([['pet'], ['pet']]);
  });

  test('is selected by its type', async () => {
    await write('PUT', { sex: 'male' });
    const { events } = await readOn(store, reader, '/v1/events?type=pet.profile_changed&limit=100');
    expect(new Set(typesOf(events))).toEqual(new Set(['pet.profile_changed']));
    expect(events.at(-1)?.data.pet).toEqual(pet);
  });

  test.each([
    ['an empty profile of an animal without one', {}, {}],
    ['what it has already', { sex: 'male', attributes: { a: '1' } }, { attributes: { a: '1' }, sex: 'male' }],
  ])('is not recorded for %s', async (_, first, second) => {
    if (Object.keys(first).length > 0) await write('PUT', first);
    const before = await newEvents();
    expect((await write('PUT', second)).status).toBe(200);
    expect((await write('PATCH', second)).status).toBe(200);
    expect(await newEvents()).toEqual(before);
  });

  test('is recorded if only the order of attributes has changed', async () => {
    await write('PUT', { attributes: { a: '1', b: '2' } });
    await write('PUT', { attributes: { b: '2', a: '1' } });
    expect(typesOf(await newEvents())).toEqual(['pet.profile_changed', 'pet.profile_changed']);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['an invalid body', () => write('PUT', { sex: 7 })],
    ['a stale ETag', () => write('PUT', { sex: 'male' }, { 'if-match': '"old"' })],
    ['a key that may not write', () => writeProfile(store, reader, 'PUT', pet.id, { sex: 'male' })],
  ])('is not recorded for %s', async (_, act) => {
    await act();
    expect(await newEvents()).toEqual([]);
  });

  test('comes after the events before it, for an animal with an order', async () => {
    await placeOrder(store, reader, pet.id);
    await write('PUT', { sex: 'male' });
    const events = await newEvents();
    expect(typesOf(events)).toEqual(['order.placed', 'pet.status_changed', 'pet.profile_changed']);
    expect(events.at(-1)?.data.pet).toEqual({ ...pet, status: 'pending' });
  });
});

describe('A write leaves alone', () => {
  test('the animal and its ETag', async () => {
    const before = await store.call('GET', `/v1/pets?id=${pet.id}`, { key: reader.key });
    await write('PUT', { description: 'New.' });
    const after = await store.call('GET', `/v1/pets?id=${pet.id}`, { key: reader.key });
    expect([after.text, after.headers.etag]).toEqual([before.text, before.headers.etag]);
    expect(await readPet(store, reader, pet.id)).toEqual(pet);
  });

  test('cached pages of animals: when it is written, and when its event is published', async () => {
    const list = async () => (await store.call<PetBody[]>('GET', `/v1/pets?limit=1&id=${pet.id}`, { key: reader.key })).json;
    await list();
    await list();
    // Bypasses the service, so that only a page that is read again shows it.
    await store.write("update pets set name = 'Unseen' where id = $1", pet.id);
    await write('PUT', { sex: 'male' });
    const announced: string[] = [];
    const publisher = new Publisher({
      db: store.dependencies.db,
      batchSizeMax: 500,
      beforePublishing: async (ids) => {
        announced.push(...ids);
        await store.dependencies.catalogue.announceMissing(ids);
      },
    });
    expect(await publisher.publish()).toBe(1);
    // It was announced as a change of listings when it was written, so nothing is invalidated now.
    expect(announced).toHaveLength(1);
    expect(await list()).toEqual([pet]);
  });
});
