import { expect, test } from 'vitest';
import { addPet, createManager } from '../../adoption-steps.ts';
import { searchListings } from '../../listing-steps.ts';
import { everything, readProfile, writeProfile } from '../../profile-steps.ts';
import { createTestStore } from '../../test-store.ts';

test('a listing has the profile of its animal without the attributes, also of an animal of which nothing is known', async () => {
  await using store = await createTestStore();
  const manager = await createManager(store);
  const pets = [await addPet(store, manager), await addPet(store, manager), await addPet(store, manager)];
  const [first, unknown, last] = pets.map(({ id }) => id) as [number, number, number];
  await writeProfile(store, manager, 'PUT', first, { ...everything, bondedWith: [last, unknown] });
  await writeProfile(store, manager, 'PUT', last, { sex: 'female' });
  const { json } = await searchListings(store, manager, '');
  expect(json.map(({ pet }) => pet.id)).toEqual([last, unknown, first]);
  for (const { pet, profile } of json) {
    const { attributes, ...listed } = (await readProfile(store, manager, pet.id)).json;
    expect(JSON.stringify(profile)).toBe(JSON.stringify(listed));
  }
});

test('the photos of a listing are in their order, with ids that no number of JavaScript has', async () => {
  await using store = await createTestStore();
  const manager = await createManager(store);
  const pet = await addPet(store, manager);
  const add = (id: bigint, position: number) =>
    store.write(
      `insert into photos (id, pet_id, client_id, position, original_hash, original_name, status, width, height, placeholder, files)
        overriding system value values ($1::bigint, $2, (select min(id) from clients), $3, lpad($1::bigint::text, 64, '0'), 'originals/1', 'ready', 320, 240, 'x', '[]')`,
      id,
      pet.id,
      position,
    );
  await add(9_007_199_254_740_993n, 1);
  await add(9_007_199_254_740_995n, 0);
  const { text } = await searchListings(store, manager, '');
  expect([...text.matchAll(/"id":(9007\d+)/g)].map(([, id]) => id)).toEqual(['9007199254740995', '9007199254740993']);
});
