// Every statement of a search, on a store that is large enough for the planner to choose: none reads all animals.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { fillListings } from '../../../../testkit/listings-fill.ts';
import type { Db, Searcher } from '../../../src/platform/db/handles.ts';
import { countFacets } from '../../../src/search/listings/facet-queries.ts';
import { byIndexOnly, findNearest, findNewest, findRelevant } from '../../../src/search/listings/listing-queries.ts';
import { selectListings } from '../../../src/search/listings/listing-rows-queries.ts';
import type { ListingSearch, Position } from '../../../src/search/listings/listing-search.ts';
import { countListings } from '../../../src/search/listings/listings.ts';
import { findNamed } from '../../../src/search/listings/match-queries.ts';
import { correctWords } from '../../../src/search/listings/understanding.ts';
import { isDescribed, selectPlaces, selectSimilarTowns } from '../../../src/search/phrases/place-queries.ts';
import { cloneTemplate } from '../../databases.ts';

const animals = 50_000;
const facetsOf = (db: Db, search: ListingSearch) => countFacets(db, search, [], today);
const url = await cloneTemplate(inject('postgresUrl'));
await fillListings(url, animals);
const client = new pg.Client({ connectionString: url });
await client.connect();
const { rows } = await client.query(
  'select breeds[1] as breed, (select name from pets group by name order by count(*) desc limit 1) as name from listings group by 1 order by count(*) desc limit 1',
);
const [frequent] = rows;
afterAll(() => client.end());

const today = '2026-11-16';
const near = { latitude: 48.2, longitude: 16.4, withinKm: 100 };
const far = { ...near, withinKm: 500 };
const first = { after: undefined, limit: 21 };
const after: Position = { id: 20_000n, shelterId: 5n, distance: 10, rank: 0.1 };
const next = { after, limit: 21 };
const filters: ListingSearch = { sex: 'female', size: 'small', goodWith: ['cats', 'dogs'], today };
const rare: ListingSearch = {
  ...filters,
  goodWith: ['cats', 'dogs', 'children'],
  age: 'senior',
  coat: 'wire',
  status: 'pending',
  categoryId: 3n,
};

test.each<[string, (db: Db) => Promise<unknown>]>([
  ['the newest', (db) => findNewest(db, { today }, first)],
  ['the newest, further on', (db) => findNewest(db, { today }, next)],
  ['a status', (db) => findNewest(db, { today, status: 'sold' }, next)],
  ['a category and a status', (db) => findNewest(db, { today, categoryId: 3n, status: 'sold' }, first)],
  ['a shelter', (db) => findNewest(db, { today, shelterId: 3n }, first)],
  ['a shelter and a status', (db) => findNewest(db, { today, shelterId: 3n, status: 'sold' }, first)],
  ['ids', (db) => findNewest(db, { today, id: [1n, 2n, 3n] }, first)],
  ['three filters', (db) => findNewest(db, filters, next)],
  ['many filters', (db) => findNewest(db, rare, first)],
  ['an age', (db) => findNewest(db, { today, age: 'senior' }, first)],
  ['ages in months', (db) => findNewest(db, { today, ageMonthsMin: 24, ageMonthsMax: 59 }, first)],
  ['a breed', (db) => findNewest(db, { today, breed: frequent.breed }, next)],
  ['a breed that nobody has', (db) => findNewest(db, { today, breed: 'unicorn' }, first)],
  ['near', (db) => findNearest(db, { today, near }, first)],
  ['near, further on', (db) => findNearest(db, { today, near: far }, next)],
  ['near with filters', (db) => findNearest(db, { ...filters, near: far }, next)],
  ['near with many filters', (db) => findNearest(db, { ...rare, near: far }, first)],
  ['near with a breed', (db) => findNearest(db, { today, breed: frequent.breed, near }, next)],
  ['near with a breed that nobody has', (db) => findNearest(db, { today, breed: 'unicorn', near: far }, first)],
  ['near with words', (db) => findNearest(db, { today, q: frequent.breed, near }, next)],
  ['near, the newest', (db) => findNewest(db, { ...filters, near: far }, next)],
  ['words', (db) => findRelevant(db, { today, q: frequent.name }, first)],
  ['frequent words', (db) => findRelevant(db, { today, q: frequent.breed }, next)],
  ['words with filters', (db) => findRelevant(db, { ...filters, q: frequent.breed }, first)],
  ['words and others', (db) => findRelevant(db, { ...filters, q: frequent.name, otherWords: frequent.breed }, next)],
  ['words and others, the newest', (db) => findNewest(db, { today, q: frequent.name, otherWords: frequent.breed }, first)],
  ['words and others, near', (db) => findNearest(db, { today, q: frequent.name, otherWords: frequent.breed, near }, next)],
  ['facets of words and others', (db) => facetsOf(db, { today, q: frequent.name, otherWords: frequent.breed })],
  ['words and near', (db) => findRelevant(db, { today, q: frequent.breed, near: far }, first)],
  ['words, the newest', (db) => findNewest(db, { today, q: frequent.breed }, next)],
  ['words and near, the newest', (db) => findNewest(db, { today, q: frequent.breed, near }, first)],
  ['words and filters, the newest', (db) => findNewest(db, { ...rare, q: frequent.breed }, first)],
  ['near, the newest of a category', (db) => findNewest(db, { today, categoryId: 3n, near: far }, next)],
  ['near, the newest of a category that has none', (db) => findNewest(db, { today, categoryId: 999n, near: far }, first)],
  ['near, the newest with many filters', (db) => findNewest(db, { ...rare, near: far }, first)],
  ['what is shown', (db) => selectListings(db, [after, { ...after, id: 3n }])],
  ['a misspelt word', (db) => correctWords(db, 'labrodor')],
  ['a misspelt town', (db) => selectSimilarTowns(db, ['nowhere'])],
  ['a word of descriptions', (db) => isDescribed(db, frequent.name)],
  ['facets', (db) => facetsOf(db, { today })],
  ['facets of a status', (db) => facetsOf(db, { today, status: 'sold' })],
  ['facets of ids with a status', (db) => facetsOf(db, { today, status: 'available', id: [1n, 2n] })],
  ['facets of filters', (db) => facetsOf(db, filters)],
  ['a color', (db) => findNewest(db, { today, color: ['unicorn'] }, first)],
  ['a town', (db) => findNewest(db, { today, town: 'Nowhere' }, first)],
  ['a postcode with filters', (db) => findNewest(db, { ...filters, postcode: '1020' }, first)],
  ['a name', (db) => findRelevant(db, { today, name: frequent.name }, first)],
  ['animals with a name', (db) => findNamed(db, frequent.name, { ...filters, near })],
  ['places', (db) => selectPlaces(db, ['nowhere'])],
  ['facets with named animals', (db) => countFacets(db, { today, q: frequent.breed }, [1n, 2n], today)],
  ['facets of words', (db) => facetsOf(db, { today, q: frequent.breed })],
  ['facets near', (db) => facetsOf(db, { today, near })],
])('a search for %s reads no table of animals as a whole', async (_, search) => {
  const plans: string[] = [];
  await client.query('begin');
  try {
    await setByIndexOnly();
    await search(explaining(plans));
  } finally {
    await client.query('rollback');
  }
  expect(plans.length).toBeGreaterThan(0);
  for (const plan of plans) expect(plan).not.toMatch(/Seq Scan on (pets|listings|profiles|shelters|confirmed_shelters)/);
});

test('facets look at a bounded number of animals of a status, and at none but those that are asked for by id', async () => {
  const plans: string[] = [];
  await facetsOf(explaining(plans), { today, status: 'available' });
  await facetsOf(explaining(plans), { today, status: 'available', id: [1n, 2n] });
  const [ofStatus, ofIds] = plans;
  expect(ofStatus).toMatch(/CTE newest\n\s+->\s+Limit/);
  expect(ofIds).toMatch(/Index Cond: \(id = ANY/);
});

test('the check finds a statement that reads all animals', async () => {
  const plans: string[] = [];
  await explaining(plans).query({ text: `select from listings where sex || 'x' = $1`, values: ['malex'] });
  expect(plans[0]).toContain('Seq Scan on listings');
});

describe('A search finds the same as a comparison of all animals', () => {
  beforeAll(async () => {
    // Animals without a profile, and many that only a search far back finds.
    await client.query('delete from listings where id % 7 = 3');
    await client.query(
      `update listings set coat = 'curly', document = document || array_to_tsvector(array['coat=curly']) where id <= 15000`,
    );
  });

  const places = { near, far, further: { latitude: 45, longitude: 10, withinKm: 60 } };
  test.each<[string, ListingSearch]>([
    ['filters', filters],
    ['rare filters', { ...filters, age: 'senior', coat: 'wire', status: 'pending' }],
    ['filters that none matches', rare],
    ['an age', { today, age: 'senior', size: 'small', status: 'available' }],
    ['a coat that only old entries have', { today, coat: 'curly' }],
    ['a coat that only old entries have, and a category', { today, coat: 'curly', categoryId: 4n }],
    ['a category', { today, categoryId: 5n }],
    ['a category that has none', { today, categoryId: 999n }],
    ['a shelter and a sex', { today, shelterId: 7n, sex: 'female' }],
  ])('for %s, with and without words and places', async (_, search) => {
    const words = [undefined, frequent.name, frequent.breed, 'rbbbbb', 'rbbbbb rbuiai'];
    for (const place of [undefined, ...Object.values(places)]) {
      for (const text of words) {
        const one: ListingSearch = { ...search, q: text, near: place };
        const expected = await compareAll(one);
        const pages = await twoPages((page) => findNewest(client, one, page));
        expect(pages, `newest ${text} ${place?.withinKm}`).toEqual(expected.newest);
        if (!place) continue;
        const byDistance = await twoPages((page) => findNearest(client, one, page));
        expect(byDistance, `by distance ${text} ${place.withinKm}`).toEqual(expected.nearest);
      }
    }
  });

  test('by relevance, of words that few and that most animals have', async () => {
    for (const words of [frequent.name, 'rbbbbb']) {
      const found = await findRelevant(client, { ...filters, q: words }, { after: undefined, limit: 2_000 });
      const { newest } = await compareAll({ ...filters, q: words }, 2_000);
      expect(found).toHaveLength(Math.min(newest.length, 1_000));
      expect(newest).toEqual(expect.arrayContaining(found.map(({ id }) => id)));
      expect(found.map(({ rank }) => rank)).toEqual(found.map(({ rank }) => rank).sort((a, b) => (b ?? 0) - (a ?? 0)));
    }
  });
});

const pageLength = 15;

async function twoPages(find: (page: { after: Position | undefined; limit: number }) => Promise<Position[]>): Promise<bigint[]> {
  await client.query('begin');
  try {
    await setByIndexOnly();
    const one = await find({ after: undefined, limit: pageLength });
    const another = one.length === pageLength ? await find({ after: one.at(-1), limit: pageLength }) : [];
    return [...one, ...another].map(({ id }) => id);
  } finally {
    await client.query('rollback');
  }
}

/** Without any index of searches. */
async function compareAll(search: ListingSearch, limit = 2 * pageLength): Promise<{ newest: bigint[]; nearest: bigint[] }> {
  const { status, categoryId, shelterId, q, age, sex, size, coat, goodWith, near: place } = search;
  const { rows } = await client.query<{ id: bigint; shelterId: bigint; distance: number }>(
    `select pets.id, pets.shelter_id as "shelterId", distance_km($1, $2, latitude, longitude) as distance
      from pets join shelters on shelters.id = pets.shelter_id left join listings on listings.id = pets.id
      where ($1::float8 is null or (latitude is not null and distance_km($1, $2, latitude, longitude) <= $3::float8))
        and ($4::text is null or pets.status::text = $4) and ($5::bigint is null or pets.category_id = $5)
        and ($6::bigint is null or pets.shelter_id = $6) and ($7::text is null or listings.sex = $7)
        and ($8::text is null or listings.size = $8) and ($9::text is null or listings.coat = $9)
        and ($10::text[] is null or listings.good_with @> $10)
        and ($11::text is null or coalesce(listings.document, to_tsvector('listings', pets.name)) @@ plainto_tsquery('listings', $11))
        and ($12::text is null or birth_date <= $13::date - interval '8 years')`,
    [place?.latitude, place?.longitude, place?.withinKm, status, categoryId, shelterId, sex, size, coat, goodWith, q, age, today],
  );
  const byId = (a: { id: bigint }, b: { id: bigint }) => Number(b.id - a.id);
  const ids = (sorted: typeof rows) => sorted.slice(0, limit).map(({ id }) => id);
  return {
    newest: ids(rows.toSorted(byId)),
    nearest: ids(rows.toSorted((a, b) => a.distance - b.distance || Number(a.shelterId - b.shelterId) || byId(a, b))),
  };
}

test('facets of more than 10,000 animals say that they are not exact', async () => {
  const db: Searcher = { search: (work) => work(client) };
  const { found: facets } = await countListings(db, { today }, 1n);
  expect(facets.isExact).toBe(false);
  expect(facets.breeds).toHaveLength(20);
  expect(facets.sexes.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(10_000);
  expect(await countListings(db, { today, age: 'senior', size: 'small', sex: 'male' }, 1n)).toMatchObject({ found: { isExact: true } });
});

async function setByIndexOnly(): Promise<void> {
  for (const [name, value] of Object.entries(byIndexOnly)) await client.query(`set local ${name} = ${value}`);
}

/** Runs each statement, and explains it with its values. */
const explaining = (plans: string[]): Db => ({
  query: async (statement) => {
    const { text, values = [] } = statement;
    const { rows } = await client.query({ text: `explain ${text}`, values });
    plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
    return client.query({ text, values });
  },
});
