// What one shelter could do to everybody's searches by what it says of where it is.
import { expect, test } from 'vitest';
import { createManager } from '../../adoption-steps.ts';
import { addDescribed, idsOf, searchListings } from '../../listing-steps.ts';
import { addShelter, createShelterKey } from '../../shelter-steps.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const [reader, manager] = [await store.createKey(), await createManager(store)];
const shelterId = await addShelter(store);
const shelter = await createShelterKey(store, shelterId);
const cuddly = (await addDescribed(store, reader, { name: 'Rex' }, { description: 'A cuddly dog, one of the 101.' })).id;
const elsewhere = (await addDescribed(store, reader, { name: 'Wolf', shelterId })).id;

const patch = async (key: { readonly key: string }, body: object) =>
  expect((await store.call('PATCH', `/v1/shelters/${shelterId}`, { key: key.key, body })).status).toBe(200);
const find = async (q: string) => idsOf(await searchListings(store, reader, `?q=${encodeURIComponent(q)}`));

test('a shelter takes no word from the searches of others by its town or postcode', async () => {
  expect([await find('cuddly'), await find('101')]).toEqual([[cuddly], [cuddly]]);
  await patch(shelter, { town: 'cuddly', postcode: '101' });
  expect([await find('cuddly'), await find('101')]).toEqual([[cuddly], [cuddly]]);
});

test.each(['dog in need', 'ok around cats', 'happy at home', 'calm, at ease', 'from germany'])(
  'nor from "%s", where a word for a place comes before it',
  async (q) => {
    const understood = async () => (await searchListings(store, reader, `?q=${encodeURIComponent(q)}`)).headers['content-location'];
    const before = await understood();
    await patch(shelter, { town: q.split(' ').at(-1), postcode: null });
    expect(await understood()).toBe(before);
  },
);

test('what store staff write, or write again, is read as a place at once, also where the search was cached, until the shelter says something else', async () => {
  await patch(shelter, { town: 'Gaming', postcode: '3292' });
  expect([await find('gaming'), await find('3292')]).toEqual([[], []]);
  await patch(manager, { town: 'Gaming', postcode: '3292' });
  expect([await find('gaming'), await find('3292')]).toEqual([[elsewhere], [elsewhere]]);
  await patch(shelter, { town: 'Gamin', phone: '+43 1' });
  expect(await find('gaming')).toEqual([]);
  await patch(shelter, { town: 'Gaming' });
  expect(await find('gaming')).toEqual([elsewhere]);
});
