import { describe, expect, test } from 'vitest';
import { addPet } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { addDescribed, addShelter, type ListingBody, searchListings } from '../../listing-steps.ts';
import { nextPage, walk } from '../../page-walk.ts';
import { openTestStore } from '../../test-store.ts';

const category = 30;

/** Of five shelters, three at the same place, with animals that have a profile and others that don't. */
const store = await openTestStore();
const key = await store.createKey();
const places = [
  { latitude: 48.2, longitude: 16.4 },
  { latitude: 48.2, longitude: 16.4 },
  { latitude: 48.2, longitude: 16.4 },
  { latitude: 48.3, longitude: 16.4 },
  { latitude: 48.1, longitude: 16.1 },
];
const shelters = await Promise.all(places.map((place) => addShelter(store, place)));
for (let i = 0; i < 30; i += 1) {
  const shelterId = shelters[(i * 7) % shelters.length] ?? 1;
  const pet = { name: i % 3 === 0 ? 'Walker' : 'Walker Walker', categoryId: category, shelterId };
  const profile = { sex: i % 2 ? 'male' : 'female', breed_primary: 'Beagle', description: i % 4 ? 'walker' : null };
  if (i % 5) await addDescribed(store, key, pet, profile);
  else {
    const { id } = await addPet(store, key, { name: pet.name, categoryId: category });
    await store.write('update pets set shelter_id = $1 where id = $2', shelterId, id);
  }
}

const queries = [
  ['', 30],
  ['&status=available', 30],
  ['&sort=newest&near=48.2,16.4', 30],
  ['&sex=male', 12],
  ['&breed=beagle', 24],
  ['&q=walker', 30],
  ['&q=walker&sort=newest', 30],
  ['&q=walker&sex=female', 12],
  ['&q=walker&near=48.2,16.4', 30],
  ['&q=walker&near=48.2,16.4&sort=distance', 30],
  ['&near=48.2,16.4', 30],
  ['&near=48.2,16.4&sex=male', 12],
  ['&near=48.2,16.4&breed=beagle', 24],
  ['&near=48.2,16.4&status=available&sort=distance', 30],
] as const;

describe('GET /v1/listings in pages', () => {
  test.each(queries)('%s shows each of the %i animals once, in the order of a single page', async (query, count) => {
    const path = `/v1/listings?categoryId=${category}${query}`;
    const whole = (await walk(store, key, `${path}&limit=100`)) as ListingBody[][];
    expect(whole).toHaveLength(1);
    const ids = (pages: readonly ListingBody[][]) => pages.flat().map(({ pet }) => pet.id);
    expect(new Set(ids(whole)).size).toBe(count);
    for (const limit of [1, 7]) expect(ids((await walk(store, key, `${path}&limit=${limit}`)) as ListingBody[][])).toEqual(ids(whole));
  });

  test('by distance is in the order of the distances', async () => {
    const { json } = await searchListings(store, key, `?categoryId=${category}&near=48.2,16.4&limit=100`);
    const distances = json.map(({ distanceKm }) => distanceKm ?? Number.NaN);
    expect(distances).toEqual([...distances].sort((a, b) => a - b));
    expect([...new Set(distances)]).toEqual([0, 11.1, 24.9]);
  });

  test('links to the next page with the place rounded', async () => {
    const { headers } = await searchListings(store, key, '?limit=1&near=48.2049,16.3951');
    expect(headers.link).toMatch(/^<\/v1\/listings\?limit=1&near=48.2%2C16.4&cursor=[\w-]+>; rel="next"$/);
  });

  test('with a cursor of another search or another order is 400', async () => {
    const link = nextPage(await searchListings(store, key, '?limit=1&near=48.2,16.4')) ?? '';
    const cursor = new URL(link, 'http://x').searchParams.get('cursor');
    for (const query of ['near=48.2,16.4&sort=newest', 'near=48.2,16.5', 'sex=male', '']) {
      expect(await searchListings(store, key, `?${query}&cursor=${cursor}`)).toMatchObject(errorResponse(400, 'invalid_cursor'));
    }
  });

  test.each(['', 'x', 'MS5hYWFhYWFhYQ', '%00', Buffer.from('NaN,1,2.aaaaaaaa').toString('base64url')])(
    'with the cursor %j that it has not made is 400',
    async (cursor) => {
      const response = await searchListings(store, key, `?near=48.2,16.4&cursor=${cursor}`);
      expect(response).toMatchObject(errorResponse(400, 'invalid_cursor'));
    },
  );
});
