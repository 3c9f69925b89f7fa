// Every filter of the table, with the same checks: a filter that any part of a search forgets fails here.
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { ListFacets } from '../../../src/search/listings/listing-schemas.ts';
import { createManager } from '../../adoption-steps.ts';
import { addDescribed, addShelter, type ListingBody, searchListings } from '../../listing-steps.ts';
import { nextPage, walk } from '../../page-walk.ts';
import { openTestStore } from '../../test-store.ts';

interface Sample {
  readonly query: string | ((matching: readonly number[]) => string);
  /** What matching animals have, and what another one has. */
  readonly matching: Animal;
  readonly other: Animal;
  /** A request after which an animal that matched doesn't, and one that undoes it. */
  readonly leave: Request;
  readonly enter?: Request;
  /** Whether an animal matches only after `enter`. */
  readonly mustEnter?: true;
}
interface Animal {
  readonly pet?: Parameters<typeof addDescribed>[2];
  /** Columns of its profile. */
  readonly profile?: Readonly<Record<string, unknown>>;
}
type Request = readonly [method: 'PATCH' | 'PUT' | 'DELETE', path: '' | '/profile' | '/shelter' | '/hold', body?: object];

const store = await openTestStore();
const [key, manager] = [await store.createKey(), await createManager(store)];
const shelters: { readonly here: number; readonly near: number; readonly far: number } = {
  here: await addShelter(store, { latitude: 50, longitude: 50, town: 'Sankt Pölten', postcode: 'AB1 2CD' }),
  near: await addShelter(store, { latitude: 50.5, longitude: 50 }),
  far: await addShelter(store, { latitude: 60, longitude: 60 }),
};

const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
/** The date that is so many months before today, and so many days after it. */
function monthsBefore(months: number, days = 0): string {
  const now = new Date();
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth() - months];
  // February may not have the day: PostgreSQL takes its last one.
  const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return new Date(Date.UTC(year, month, Math.min(now.getUTCDate(), last) + days)).toISOString().slice(0, 10);
}
const profile = (columns: Animal['profile'] = {}): Animal => ({ profile: columns });
const change = (body: object): Request => ['PATCH', '/profile', body];
const move = (shelterId: number): Request => ['PUT', '/shelter', { shelterId }];
const categories = { scope: 600, own: 700, another: 701 };

const samples: Readonly<Record<keyof ListFacets, () => Sample>> = {
  status: () => ({
    query: 'status=sold',
    matching: { pet: { status: 'sold' } },
    other: {},
    leave: ['PATCH', '', { status: 'available' }],
    enter: ['PATCH', '', { status: 'sold' }],
  }),
  hold: () => ({
    query: 'hold=other',
    matching: {},
    other: { pet: { status: 'pending' } },
    leave: ['DELETE', '/hold'],
    enter: ['PUT', '/hold', { reason: 'behaviour' }],
    mustEnter: true,
  }),
  categoryId: () => ({
    query: `categoryId=${categories.own}`,
    matching: { pet: { categoryId: categories.own } },
    other: { pet: { categoryId: categories.another } },
    leave: ['PATCH', '', { categoryId: categories.another }],
    enter: ['PATCH', '', { categoryId: categories.own }],
  }),
  shelterId: () => ({
    query: `shelterId=${shelters.here}`,
    matching: { pet: { shelterId: shelters.here } },
    other: { pet: { shelterId: shelters.near } },
    leave: move(shelters.near),
    enter: move(shelters.here),
  }),
  id: () => ({ query: (ids) => ids.map((id) => `id=${id}`).join('&'), matching: {}, other: {}, leave: ['DELETE', ''] }),
  q: () => ({
    query: 'q=%22quillon%22',
    matching: { pet: { name: 'Quillon' } },
    other: { pet: { name: 'Rex' } },
    leave: ['PATCH', '', { name: 'Rex' }],
    enter: ['PATCH', '', { name: 'Quillon' }],
  }),
  spelling: () => ({
    query: 'q=quillan&spelling=exact',
    matching: { pet: { name: 'Quillan' } },
    other: { pet: { name: 'Quillon' } },
    leave: ['PATCH', '', { name: 'Rex' }],
    enter: ['PATCH', '', { name: 'Quillan' }],
  }),
  name: () => ({
    query: 'name=quincy',
    matching: { pet: { name: 'Little Quincy' } },
    other: { pet: { name: 'Rex' } },
    leave: ['PATCH', '', { name: 'Rex' }],
    enter: ['PATCH', '', { name: 'Quincy' }],
  }),
  orNamed: () => ({
    query: 'q=nothing&orNamed=quirin',
    matching: { pet: { name: 'Quirin' } },
    other: { pet: { name: 'Quirin the other' } },
    leave: ['PATCH', '', { name: 'Rex' }],
    enter: ['PATCH', '', { name: 'quirin' }],
  }),
  breed: () => ({
    query: 'breed=beagle',
    matching: profile({ breed_primary: 'Beagle' }),
    other: profile({ breed_primary: 'Poodle' }),
    leave: change({ breeds: { primary: 'Poodle' } }),
    enter: change({ breeds: { primary: 'Beagle' } }),
  }),
  color: () => ({
    query: 'color=Gray&color=white',
    matching: profile({ colors: ['Light grey', 'white'] }),
    other: profile({ colors: ['white'] }),
    leave: change({ colors: ['grey', 'black'] }),
    enter: change({ colors: ['white/grey'] }),
  }),
  age: () => ({
    query: 'age=senior',
    matching: profile({ birth_date: '2010-05-01' }),
    other: profile({ birth_date: yesterday }),
    leave: change({ birthDate: yesterday }),
    enter: change({ birthDate: '2010-05-01' }),
  }),
  ageMonthsMin: () => ({
    query: 'ageMonthsMin=24',
    matching: profile({ birth_date: monthsBefore(24) }),
    other: profile({ birth_date: monthsBefore(24, 1) }),
    leave: change({ birthDate: yesterday }),
    enter: change({ birthDate: monthsBefore(25) }),
  }),
  ageMonthsMax: () => ({
    query: 'ageMonthsMax=23',
    matching: profile({ birth_date: monthsBefore(24, 1) }),
    other: profile({ birth_date: monthsBefore(24) }),
    leave: change({ birthDate: '2010-05-01' }),
    enter: change({ birthDate: yesterday }),
  }),
  sex: () => ({
    query: 'sex=female',
    matching: profile({ sex: 'female' }),
    other: profile(),
    leave: change({ sex: 'unknown' }),
    enter: change({ sex: 'female' }),
  }),
  size: () => ({
    query: 'size=large',
    matching: profile({ size: 'large' }),
    other: profile({ size: 'small' }),
    leave: change({ size: 'small' }),
    enter: change({ size: 'large' }),
  }),
  sizeMin: () => ({
    query: 'sizeMin=large',
    matching: profile({ size: 'extra_large' }),
    other: profile({ size: 'medium' }),
    leave: change({ size: 'small' }),
    enter: change({ size: 'large' }),
  }),
  sizeMax: () => ({
    query: 'sizeMax=medium',
    matching: profile({ size: 'small' }),
    other: profile({ size: 'large' }),
    leave: change({ size: 'extra_large' }),
    enter: change({ size: 'medium' }),
  }),
  coat: () => ({
    query: 'coat=wire',
    matching: profile({ coat: 'wire' }),
    other: profile(),
    leave: change({ coat: null }),
    enter: change({ coat: 'wire' }),
  }),
  goodWith: () => ({
    query: 'goodWith=cats&goodWith=dogs',
    matching: profile({ good_with_cats: 'yes', good_with_dogs: 'yes' }),
    other: profile({ good_with_cats: 'yes' }),
    leave: change({ goodWith: { dogs: 'unknown' } }),
    enter: change({ goodWith: { dogs: 'yes' } }),
  }),
  not: () => ({
    query: 'not=size:large&not=sex:male,size:small',
    matching: profile({ size: 'small', sex: 'female' }),
    other: profile({ size: 'large' }),
    leave: change({ size: 'large' }),
    enter: change({ size: 'medium' }),
  }),
  town: () => ({
    query: 'town=sankt-polten',
    matching: { pet: { shelterId: shelters.here } },
    other: { pet: { shelterId: shelters.near } },
    leave: move(shelters.near),
    enter: move(shelters.here),
  }),
  postcode: () => ({
    query: 'postcode=ab12cd',
    matching: { pet: { shelterId: shelters.here } },
    other: { pet: { shelterId: shelters.near } },
    leave: move(shelters.near),
    enter: move(shelters.here),
  }),
  near: () => ({
    query: 'near=50,50',
    matching: { pet: { shelterId: shelters.near } },
    other: { pet: { shelterId: shelters.far } },
    leave: move(shelters.far),
    enter: move(shelters.near),
  }),
  withinKm: () => ({
    query: 'near=50,50&withinKm=20',
    matching: { pet: { shelterId: shelters.here } },
    other: { pet: { shelterId: shelters.near } },
    leave: move(shelters.near),
    enter: move(shelters.here),
  }),
};

/** Animals of a category of their own, or of those that the sample has. */
async function setUp(name: keyof ListFacets): Promise<Sample & { path: string; ids: readonly number[] }> {
  const sample = samples[name]();
  const scope = categories.scope + Object.keys(samples).indexOf(name);
  const add = async ({ pet, profile: columns }: Animal) =>
    (await addDescribed(store, key, { categoryId: scope, ...pet }, { size: 'medium', ...columns })).id;
  const ids = [await add(sample.matching)];
  await add(sample.other);
  ids.unshift(await add(sample.matching));
  await add(sample.other);
  if (sample.mustEnter) for (const id of ids) await send(id, sample.enter);
  const query = typeof sample.query === 'string' ? sample.query : sample.query(ids);
  return { ...sample, ids, path: `?${query}${name === 'categoryId' ? '' : `&categoryId=${scope}`}` };
}

async function send(id: number | undefined, [method, target, body]: Request = ['DELETE', '']) {
  const { status } = await store.call(method, `/v1/pets/${id}${target}`, { key: manager.key, ...(body && { body }) });
  expect(status).toBeLessThan(300);
}

const idsOf = (listings: readonly ListingBody[]) => listings.map(({ pet }) => pet.id).sort((a, b) => b - a);
const read = async (path: string) => idsOf((await searchListings(store, key, path)).json);

const triesMax = 5;

/** Reads a page until it is served without a search. */
async function readUntilCached(path: string): Promise<number[]> {
  const searches = vi.spyOn(store.dependencies.db, 'search');
  try {
    for (let tries = 0; tries < triesMax; tries += 1) {
      searches.mockClear();
      const ids = await read(path);
      if (searches.mock.calls.length === 0) return ids;
    }
    throw new Error(`${path} is not cached after ${triesMax} reads`);
  } finally {
    searches.mockRestore();
  }
}

describe.each(Object.keys(samples) as Array<keyof ListFacets>)('The filter %s', (name) => {
  let path: string;
  let ids: readonly number[];
  let sample: Sample;
  beforeAll(async () => {
    ({ path, ids, ...sample } = await setUp(name));
  });

  test('finds the animals that match and no others, on every page, and is in the link to the next page', async () => {
    const first = await searchListings(store, key, `${path}&limit=1`);
    const [asked, linked] = [path, nextPage(first) ?? ''].map((url) => new URL(url, 'http://store').searchParams);
    expect(linked?.getAll(name)).toEqual(asked?.getAll(name));
    const pages = (await walk(store, key, `/v1/listings${path}&limit=1`)) as ListingBody[][];
    expect(idsOf(pages.flat())).toEqual(ids);
  });

  test('counts the animals that match, by the index of words and filters', async () => {
    const { json } = await store.call<{ sizes: Array<{ count: number }> }>('GET', `/v1/listings/facets${path}`, { key: key.key });
    expect(json.sizes).toMatchObject([{ count: ids.length }]);
  });

  test('on a cached page shows at once that an animal has changed', async () => {
    const [changed, unchanged] = ids;
    expect(await readUntilCached(path)).toEqual(ids);
    await send(changed, sample.leave);
    expect(await readUntilCached(path)).toEqual([unchanged]);
    if (!sample.enter) return;
    await send(changed, sample.enter);
    expect(await read(path)).toEqual(ids);
  });
});
