import { describe, expect, test } from 'vitest';
import { createManager } from '../../adoption-steps.ts';
import { addDescribed, searchListings } from '../../listing-steps.ts';
import { openTestStore } from '../../test-store.ts';
import { negatedAnimals, negatedSearches } from './negated-searches.ts';

const store = await openTestStore();
const [key, manager] = [await store.createKey(), await createManager(store)];
for (const [id, name] of [
  [1, 'Dogs'],
  [2, 'Cats'],
  [3, 'Rabbits'],
]) {
  await store.call('PUT', `/v1/categories/${id}`, { key: manager.key, body: { name } });
}
for (const { key: name, categoryId, profile } of negatedAnimals) {
  await addDescribed(store, key, { name, categoryId, shelterId: 1 }, profile);
}

const find = async (query: string) => (await searchListings(store, key, query)).json.map(({ pet }) => pet.name);

describe('A search that says what is not meant', () => {
  test.each(negatedSearches)('"$typed" finds what is meant, and nothing that it rules out', async ({ typed, finds, never }) => {
    const response = await searchListings(store, key, `?q=${encodeURIComponent(typed)}&limit=100`);
    const found = response.json.map(({ pet }) => pet.name);
    expect(found).toEqual(expect.arrayContaining([...finds]));
    expect(found.filter((name) => never.includes(name))).toEqual([]);
    const location = String(response.headers['content-location']);
    expect(await find(location.slice(location.indexOf('?')))).toEqual(found);
  });
});
