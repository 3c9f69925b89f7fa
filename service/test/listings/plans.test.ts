// Every statement of a search, on a store that is large enough for the planner to choose: none reads all animals.
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { fillListings } from '../../../testkit/listings-fill.ts';
import type { Db, Snapshotter } from '../../src/db/handles.ts';
import { countFacets } from '../../src/listings/facet-queries.ts';
import { byIndexOnly, correctWords, findNearest, findNewest, findRelevant } from '../../src/listings/listing-queries.ts';
import type { ListingSearch, Position } from '../../src/listings/listing-search.ts';
import { countListings } from '../../src/listings/listings.ts';
import { cloneTemplate } from '../databases.ts';

const animals = 50_000;
let client: pg.Client;
let frequent: { breed: string; name: string };
beforeAll(async () => {
  const url = await cloneTemplate(inject('postgresUrl'));
  await fillListings(url, animals);
  client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    'select breeds[1] as breed, (select name from pets group by name order by count(*) desc limit 1) as name from listings group by 1 order by count(*) desc limit 1',
  );
  [frequent] = rows;
}, 300_000);
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
  ['ids', (db) => findNewest(db, { today, ids: [1n, 2n, 3n] }, first)],
  ['three filters', (db) => findNewest(db, filters, next)],
  ['many filters', (db) => findNewest(db, rare, first)],
  ['an age', (db) => findNewest(db, { today, age: 'senior' }, first)],
  ['a breed', (db) => findNewest(db, { today, breed: frequent.breed }, next)],
  ['a breed that nobody has', (db) => findNewest(db, { today, breed: 'unicorn' }, first)],
  ['near', (db) => findNearest(db, { today }, near, first)],
  ['near, further on', (db) => findNearest(db, { today }, far, next)],
  ['near with filters', (db) => findNearest(db, filters, far, next)],
  ['near with many filters', (db) => findNearest(db, rare, far, first)],
  ['near with a breed', (db) => findNearest(db, { today, breed: frequent.breed }, near, next)],
  ['near with a breed that nobody has', (db) => findNearest(db, { today, breed: 'unicorn' }, far, first)],
  ['near with words', (db) => findNearest(db, { today, words: frequent.breed }, near, next)],
  ['near, the newest', (db) => findNewest(db, { ...filters, near: far }, next)],
  ['words', (db) => findRelevant(db, { today, words: frequent.name }, first)],
  ['frequent words', (db) => findRelevant(db, { today, words: frequent.breed }, next)],
  ['words with filters', (db) => findRelevant(db, { ...filters, words: frequent.breed }, first)],
  ['words and near', (db) => findRelevant(db, { today, words: frequent.breed, near: far }, first)],
  ['words, the newest', (db) => findNewest(db, { today, words: frequent.breed }, next)],
  ['words and near, the newest', (db) => findNewest(db, { today, words: frequent.breed, near }, first)],
  ['a misspelt word', (db) => correctWords(db, `${frequent.name}q`)],
  ['facets', (db) => countFacets(db, { today })],
  ['facets of filters', (db) => countFacets(db, filters)],
  ['facets of words', (db) => countFacets(db, { today, words: frequent.breed })],
  ['facets near', (db) => countFacets(db, { today, near })],
])('a search for %s reads no table of animals as a whole', async (_, search) => {
  const plans: string[] = [];
  await client.query('begin');
  try {
    for (const [name, value] of Object.entries(byIndexOnly)) await client.query(`set local ${name} = ${value}`);
    await search(explaining(plans));
  } finally {
    await client.query('rollback');
  }
  expect(plans.length).toBeGreaterThan(0);
  for (const plan of plans) expect(plan).not.toMatch(/Seq Scan on (pets|listings|profiles|listing_words)/);
});

test('the check finds a statement that reads all animals', async () => {
  const plans: string[] = [];
  await explaining(plans).query({ text: `select from listings where sex || 'x' = $1`, values: ['malex'] });
  expect(plans[0]).toContain('Seq Scan on listings');
});

test('facets of more than 10,000 animals say that they are not exact', async () => {
  const db: Snapshotter = { snapshot: (work) => work(client) };
  const facets = await countListings(db, { today }, 1n);
  expect(facets.isExact).toBe(false);
  expect(facets.breeds).toHaveLength(20);
  expect(facets.sexes.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(10_000);
  expect(await countListings(db, { today, age: 'senior', size: 'small', sex: 'male' }, 1n)).toMatchObject({ isExact: true });
});

/** Runs each statement, and explains it with its values. */
const explaining = (plans: string[]): Db => ({
  query: async (statement) => {
    const { rows } = await client.query({ ...statement, text: `explain ${statement.text}` });
    plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
    return client.query(statement);
  },
});
