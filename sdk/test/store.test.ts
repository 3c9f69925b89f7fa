import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { defaultScopes } from '../../service/src/domain/scopes.ts';
import { createManager } from '../../service/test/adoption-steps.ts';
import { addDescribed, addShelter } from '../../service/test/listing-steps.ts';
import { createPhotoStore, makeImage, processAll } from '../../service/test/photo-steps.ts';
import { createTestStore, type TestStore } from '../../service/test/test-store.ts';
import { createStore, HomewardError } from '../src/index.ts';

let service: TestStore;
beforeAll(async () => {
  service = await createTestStore();
});
afterAll(() => service[Symbol.asyncDispose]());
afterEach(() => void vi.restoreAllMocks());

const partner = async (plan?: { perMinute: number; perDay: number }) =>
  createStore({ url: service.url, key: (await service.createKey(plan ? { plan } : {})).key });
const staff = async () =>
  createStore({ url: service.url, key: (await service.createKey({ scopes: [...defaultScopes, 'store:manage'] })).key });

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

describe('lists', () => {
  test('are read to the end, page by page or item by item, with filters', async () => {
    const store = await partner();
    for (let i = 0; i < 7; i += 1) await store.pets.add({ name: `Walk ${i}`, categoryId: 77, status: i % 2 ? 'sold' : 'available' });
    const walk = store.pets.list({ categoryId: 77, limit: 3 });
    expect((await all(walk)).map(({ name }) => name)).toEqual([0, 1, 2, 3, 4, 5, 6].map((i) => `Walk ${i}`));
    expect((await all(walk.pages())).map(({ items }) => items.length)).toEqual([3, 3, 1]);
    expect(await all(store.pets.list({ categoryId: 77, status: 'sold' }))).toHaveLength(3);
    const first = await walk.page();
    const second = await store.pets.list({ categoryId: 77, limit: 3, ...(first.cursor && { cursor: first.cursor }) }).page();
    expect(second.items.map(({ name }) => name)).toEqual(['Walk 3', 'Walk 4', 'Walk 5']);
    expect((await store.pets.list({ categoryId: 404 }).page()).cursor).toBeUndefined();
  });

  test('of listings are searched near a place, and counted', async () => {
    const store = await partner();
    const shelterId = await addShelter(service, { latitude: 60, longitude: 25 });
    const key = await service.createKey();
    const animals = [];
    for (const name of ['Near', 'Nearer']) {
      animals.push(await addDescribed(service, key, { name, shelterId }, { sex: 'female', good_with_cats: 'yes', good_with_dogs: 'yes' }));
    }
    const near = { latitude: 60.001, longitude: 25.001 };
    const found = await all(store.listings.search({ near, goodWith: ['cats', 'dogs'], limit: 1 }));
    expect(found.map(({ pet, distanceKm }) => [pet.name, distanceKm])).toEqual([
      ['Nearer', 0],
      ['Near', 0],
    ]);
    expect((await store.listings.search({ near: '60,25', sex: 'male' }).page()).items).toEqual([]);
    expect(await store.listings.facets({ near })).toMatchObject({ isExact: true, sexes: [{ value: 'female', count: animals.length }] });
  });

  test('of typed words say what was understood, as a query that finds the same', async () => {
    const manager = await createManager(service);
    await service.call('PUT', '/v1/categories/31', { key: manager.key, body: { name: 'Quokkas' } });
    const key = await service.createKey();
    await addDescribed(service, key, { name: 'Tom', categoryId: 31 }, { good_with_dogs: 'yes', description: 'He is shy.' });
    const store = createStore({ url: service.url, key: key.key });
    const page = await store.listings.search({ q: 'shy quokka good with dogs', limit: 5 }).page();
    expect(page.understoodAs).toEqual({ categoryId: 31, goodWith: ['dogs'], q: '"shy"', sort: 'relevance' });
    expect(page.items.map(({ pet }) => pet.name)).toEqual(['Tom']);
    expect((await store.listings.search(page.understoodAs).page()).items).toEqual(page.items);
    expect(await store.listings.search({ categoryId: 31 }).page()).not.toHaveProperty('understoodAs');
  });

  test('send no request before they are read, and no more than needed', async () => {
    const { key } = await service.createKey();
    const requests: string[] = [];
    const counted: typeof fetch = (input, init) => {
      requests.push((input as string | URL).toString());
      return fetch(input, init);
    };
    const store = createStore({ url: service.url, key, fetch: counted });
    const walk = store.pets.list({ categoryId: 77, limit: 3 });
    expect(requests).toEqual([]);
    for await (const _ of walk) break;
    expect(requests).toEqual([`${service.url}/v1/pets?limit=3&categoryId=77`]);
  });
});

describe('ids', () => {
  test('beyond 2^53 are exact in bodies, queries and responses', async () => {
    const store = await partner();
    const added = await store.pets.add({ name: 'Far', categoryId: 9_007_199_254_740_993n });
    expect(added).toMatchObject({ categoryId: 9_007_199_254_740_993n, id: expect.any(Number) });
    expect(await all(store.pets.list({ categoryId: 9_007_199_254_740_993n }))).toEqual([added]);
    expect(await all(store.pets.list({ categoryId: 9_007_199_254_740_992n }))).toEqual([]);
    await expect(store.pets.find(2 ** 53)).rejects.toThrow(RangeError);
  });
});

describe('animals and orders', () => {
  test('a shelter from its creation to an animal that is moved to it', async () => {
    const [store, staffs] = [await partner(), await staff()];
    const created = await staffs.shelters.create({ name: 'Danube Shelter', latitude: 48.22, longitude: 16.4 });
    expect(await store.shelters.get(created.id)).toEqual(created);
    expect(await staffs.shelters.update(created.id, { phone: '123', latitude: null, longitude: null })).toEqual({
      ...created,
      phone: '123',
      latitude: null,
      longitude: null,
    });
    const stale = staffs.shelters.update(created.id, { phone: '4' }, { ifMatch: '"stale"' });
    await expect(stale).rejects.toMatchObject({ code: 'precondition_failed' });
    expect((await all(store.shelters.list())).map(({ id }) => id)).toEqual(expect.arrayContaining([1, created.id]));
    const { id } = await store.pets.add({ name: 'Biscuit', categoryId: 1 });
    expect(await staffs.pets.move(id, { shelterId: created.id })).toEqual({ shelterId: created.id });
    const key = (await service.createKey({ scopes: ['shelter:manage'], shelterId: BigInt(created.id) })).key;
    expect((await createStore({ url: service.url, key }).pets.update(id, { name: 'Strudel' })).name).toBe('Strudel');
  });

  test('an adoption from adding the animal to its return', async () => {
    const [store, shelter] = [await partner(), await staff()];
    const pet = await store.pets.add({ name: 'Biscuit', categoryId: 1 });
    const order = await store.orders.place({ petId: pet.id, adopter: { name: 'Ada', email: 'ada@example.org' } });
    expect(await store.pets.find(pet.id)).toEqual({ ...pet, status: 'pending' });
    expect((await shelter.orders.approve(order.id)).status).toBe('approved');
    expect((await shelter.orders.complete(order.id)).status).toBe('completed');
    expect((await shelter.orders.return(order.id)).status).toBe('returned');
    expect(await all(store.orders.list({ petId: pet.id }))).toEqual([await store.orders.get(order.id)]);
    const second = await store.orders.place({ petId: pet.id, adopter: { name: 'Bob', email: 'bob@example.org' } });
    expect((await store.orders.cancel(second.id)).status).toBe('cancelled');
    expect((await shelter.pets.update(pet.id, { name: 'Rex' })).name).toBe('Rex');
    expect(await shelter.pets.remove(pet.id)).toBeUndefined();
    expect(await store.pets.find(pet.id)).toBeUndefined();
    await shelter.categories.name(77, 'Otters');
    expect((await all(store.categories.list())).find(({ id }) => id === 77)?.name).toBe('Otters');
    const { id } = await shelter.pets.add({ name: 'Stray', categoryId: 79 });
    await shelter.pets.update(id, { categoryId: 77 });
    expect(await shelter.categories.remove(79)).toBeUndefined();
    expect((await all(store.categories.list())).find((one) => one.id === 79)).toBeUndefined();
  });

  test('applications for an animal, from submitting them to the choice of staff', async () => {
    const [store, shelter] = [await partner(), await staff()];
    const { id: petId } = await store.pets.add({ name: 'Biscuit', categoryId: 1 });
    const submit = (name: string) => store.applications.submit({ petId, adopter: { name, email: `${name}@example.org` } });
    const [ada, bob, eve] = [await submit('ada'), await submit('bob'), await submit('eve')];
    expect(await shelter.applications.note(bob.id, 'Has a garden.')).toMatchObject({ note: 'Has a garden.' });
    expect(await shelter.applications.note(bob.id, null)).toMatchObject({ note: null });
    const declined = await shelter.applications.decline(ada.id, { message: 'Needs a garden.' });
    expect(declined).toMatchObject({ status: 'declined', message: 'Needs a garden.' });
    expect((await shelter.applications.reopen(ada.id)).status).toBe('reviewing');
    expect((await shelter.applications.decline(ada.id)).message).toBeNull();
    expect((await shelter.applications.review(bob.id)).status).toBe('reviewing');
    const { orderId } = await shelter.applications.accept(bob.id);
    expect(await store.orders.get(orderId ?? 0)).toMatchObject({ status: 'approved', applicationId: bob.id });
    expect((await store.applications.withdraw(bob.id)).status).toBe('withdrawn');
    expect(await all(store.applications.list({ petId, status: 'submitted' }))).toMatchObject([{ id: eve.id }]);
    expect(await store.applications.get(eve.id)).toEqual(eve);
    expect((await shelter.applications.accept(eve.id, { idempotencyKey: 'choice' })).orderId).not.toBe(orderId);
    expect((await shelter.applications.accept(eve.id, { idempotencyKey: 'choice' })).status).toBe('accepted');
  });

  test('a retry with the same idempotency key takes effect once; two calls without one take effect twice', async () => {
    const store = await partner();
    const pet = { name: 'Twice', categoryId: 78 };
    const [first, retried] = [await store.pets.add(pet, { idempotencyKey: 'mine' }), await store.pets.add(pet, { idempotencyKey: 'mine' })];
    expect(retried).toEqual(first);
    await store.pets.add(pet);
    expect(await all(store.pets.list({ categoryId: 78 }))).toHaveLength(2);
  });

  test('a change with a different ETag is rejected', async () => {
    const [store, shelter] = [await partner(), await staff()];
    const { id } = await store.pets.add({ name: 'Held', categoryId: 1 });
    await expect(shelter.pets.update(id, { name: 'Lost' }, { ifMatch: '"other"' })).rejects.toMatchObject({ code: 'precondition_failed' });
  });
});

describe('the profile of an animal', () => {
  test('is read, replaced and changed', async () => {
    const [store, shelter] = [await partner(), await staff()];
    const [pet, friend] = [await store.pets.add({ name: 'Biscuit', categoryId: 1 }), await store.pets.add({ name: 'Zoe', categoryId: 1 })];
    expect(await store.pets.profile(pet.id).get()).toMatchObject({ description: null, sex: 'unknown', age: null, bondedWith: [] });
    const profile = shelter.pets.profile(pet.id);
    const written = await profile.put({
      description: 'Loves walks.',
      birthDate: '2015-05-01',
      goodWith: { dogs: 'yes' },
      bondedWith: [friend.id],
      attributes: { Toy: 'ball' },
    });
    expect(written).toMatchObject({ description: 'Loves walks.', age: 'senior', bondedWith: [friend.id], attributes: { Toy: 'ball' } });
    expect(await profile.patch({ description: null, goodWith: { cats: 'no' }, attributes: { Toy: null } })).toEqual({
      ...written,
      description: null,
      goodWith: { children: 'unknown', dogs: 'yes', cats: 'no' },
      attributes: {},
    });
    expect((await profile.put({})).bondedWith).toEqual([]);
  });

  test('is not overwritten if it has changed since its ETag was read', async () => {
    const shelter = await staff();
    const { id } = await shelter.pets.add({ name: 'Held', categoryId: 1 });
    const profile = shelter.pets.profile(id);
    const read = await profile.getWithEtag();
    expect(read).toEqual({ profile: await profile.get(), etag: expect.stringMatching(/^".+"$/) });
    await profile.put({ sex: 'male' }, { ifMatch: read.etag });
    for (const write of [profile.put, profile.patch]) {
      await expect(write({ sex: 'female' }, { ifMatch: read.etag })).rejects.toMatchObject({ code: 'precondition_failed' });
    }
    expect((await profile.get()).sex).toBe('male');
  });

  test('of an animal that does not exist is an error, and an id that was rounded too', async () => {
    const store = await partner();
    await expect(store.pets.profile(999_999).get()).rejects.toMatchObject({ code: 'pet_not_found' });
    await expect(store.pets.profile(2 ** 53).get()).rejects.toThrow(RangeError);
  });
});

describe('endpoints', () => {
  test('are added, changed, tested and removed', async () => {
    const store = await partner();
    const added = await store.webhooks.add({ url: 'https://example.org/hooks', types: ['pet.created'] });
    expect(added.secret).toMatch(/^whsec_/);
    expect((await store.webhooks.rotateSecret(added.id)).secret).not.toBe(added.secret);
    const test = await store.webhooks.test(added.id);
    expect((await store.webhooks.delivery(added.id, test.id)).attempts).toEqual([]);
    expect(await all(store.webhooks.deliveries(added.id, { status: 'pending' }))).toHaveLength(1);
    expect(await store.webhooks.replay(added.id, { deliveryId: test.id })).toEqual({ count: 1 });
    expect((await store.webhooks.update(added.id, { status: 'disabled' })).status).toBe('disabled');
    expect(await all(store.webhooks.list())).toEqual([await store.webhooks.get(added.id)]);
    await store.webhooks.remove(added.id);
    expect(await all(store.webhooks.list())).toEqual([]);
  });
});

describe('errors', () => {
  test('have the code, the request id, the help page and the quota', async () => {
    const store = await partner({ perMinute: 50, perDay: 1_000 });
    const error: unknown = await store.orders.get(404).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(HomewardError);
    expect(error).toMatchObject({
      code: 'order_not_found',
      status: 404,
      message: 'You have no order with id 404.',
      requestId: expect.stringMatching(/^req_/),
      helpUrl: `${service.url}/docs/errors/order_not_found`,
      retryAfterSeconds: undefined,
      rateLimit: { limit: 50, remaining: 49, resetAt: expect.any(Date) },
    });
    expect(store.rateLimit).toEqual((error as HomewardError).rateLimit);
  });

  test('from something other than a store have the code unexpected_response', async () => {
    const store = createStore({ url: service.url, key: 'x', fetch: async () => new Response('<h1>No</h1>', { status: 404 }) });
    await expect(store.pets.find(1)).rejects.toMatchObject({ code: 'unexpected_response', status: 404 });
  });
});

describe('a deprecated call', () => {
  test('warns once, with the removal date and a link; other calls do not', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const store = await partner();
    const pet = await store.pets.add({ name: 'Old', categoryId: 1 });
    for (let calls = 0; calls < 2; calls += 1) {
      // oxlint-disable-next-line typescript/no-deprecated -- this is what is tested
      expect(await store.pets.get(pet.id)).toEqual(pet);
    }
    await store.pets.find(pet.id);
    expect(warn.mock.calls).toEqual([
      [`Homeward: GET /pets/{petId} is deprecated, and will be removed on 2030-12-05. See ${service.url}/docs/deprecations`],
    ]);
  });
});

describe('photos', () => {
  test('are added from a Blob, listed, described, moved and removed', async () => {
    await using photos = await createPhotoStore();
    const { key } = await photos.store.createKey({ scopes: [...defaultScopes, 'store:manage'] });
    const store = createStore({ url: photos.store.url, key });
    const { id } = await store.pets.add({ name: 'Biscuit', categoryId: 1 });
    // More than the store accepts at once.
    const colors = ['red', 'green', 'blue', 'white', 'black'];
    const added = await Promise.all(colors.map(async (color) => store.pets.photos.add(id, new Blob([await makeImage(color)]))));
    expect(added.map(({ status }) => status)).toEqual(Array(5).fill('processing'));
    await processAll(photos);
    const first = added[0]?.id ?? 0;
    expect(await store.pets.photos.get(id, first)).toMatchObject({ status: 'ready', urls: [{ width: 320 }] });
    expect(await store.pets.photos.update(id, first, { alt: 'Red', position: 4 })).toMatchObject({ alt: 'Red' });
    expect((await store.pets.photos.list(id)).at(-1)).toMatchObject({ id: first, alt: 'Red' });
    expect(await store.pets.photos.remove(id, first)).toBeUndefined();
    expect(await store.pets.photos.list(id)).toHaveLength(4);
    const heic = new Blob(['\0\0\0\x18ftypheic and more'], { type: 'image/heic' });
    await expect(store.pets.photos.add(id, heic)).rejects.toMatchObject({ code: 'unsupported_image', status: 415 });
  });
});
