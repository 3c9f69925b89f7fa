import { expect, test } from 'vitest';
import { profileJson } from '../../src/profiles/profile-json.ts';
import { getProfiles } from '../../src/profiles/profiles.ts';
import { addPet, createManager } from '../adoption-steps.ts';
import { everything, readProfile, writeProfile } from '../profile-steps.ts';
import { createTestStore } from '../test-store.ts';

test('several profiles are read at once, with the bytes of the API, also of an animal of which nothing is known', async () => {
  await using store = await createTestStore();
  const manager = await createManager(store);
  const pets = [await addPet(store, manager), await addPet(store, manager), await addPet(store, manager)];
  const [first, unknown, last] = pets.map(({ id }) => id) as [number, number, number];
  await writeProfile(store, manager, 'PUT', first, { ...everything, bondedWith: [last, unknown] });
  await writeProfile(store, manager, 'PUT', last, { sex: 'female' });
  const profiles = await getProfiles(store.dependencies.db, [last, unknown, first].map(BigInt));
  expect([...profiles.keys()]).toEqual([last, unknown, first].map(BigInt));
  for (const [id, profile] of profiles) {
    expect(profileJson(profile, '2026-11-16')).toBe((await readProfile(store, manager, String(id))).text);
  }
});
