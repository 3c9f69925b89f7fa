// What staff list, on a store that is large enough for the planner to choose: no table of animals is read as a whole.
import pg from 'pg';
import { afterAll, expect, inject, test } from 'vitest';
import { fillListings } from '../../../../testkit/listings-fill.ts';
import { countOpenApplications } from '../../../src/adoption/applications/applications.ts';
import { findOpenOrdersOfPets } from '../../../src/adoption/orders/orders.ts';
import { listUndoable } from '../../../src/adoption/outcomes/outcomes.ts';
import { listActsOfPet } from '../../../src/animals/history/history.ts';
import type { Db } from '../../../src/platform/db/handles.ts';
import {
  countStates,
  lookedThroughMax,
  selectByNumber,
  selectStaffAnimals,
  walkAnimals,
} from '../../../src/search/listings/staff-list-queries.ts';
import { cloneTemplate } from '../../databases.ts';

const url = await cloneTemplate(inject('postgresUrl'));
const client = new pg.Client({ connectionString: url });
await client.connect();
afterAll(() => client.end());

/** Has half of the animals, as that of a store does that gives its partners no shelters. */
const large = 1n;
const small = 2n;
await fillListings(url, 50_000);
// The triggers would refresh every listing, which nothing here reads.
await client.query('set session_replication_role = replica');
await client.query('update pets set shelter_id = $1 where id % 2 = 0', [large]);
await client.query(
  `update pets set status = 'pending', hold = 'medical', hold_reason = 'medical', hold_releases = true where id % 200 = 0`,
);
await client.query('vacuum analyze pets');

const page = { beforeId: undefined, limit: 51 };
const further = { beforeId: 20_000n, limit: 51 };

test.each<readonly [string, (db: Db) => Promise<unknown>]>([
  ['all animals', (db) => walkAnimals(db, {}, page)],
  ['those of a status', (db) => walkAnimals(db, { status: 'sold' }, further)],
  ['those of a category', (db) => walkAnimals(db, { categoryId: 2n }, further)],
  ['those of a category that has none', (db) => walkAnimals(db, { categoryId: 999n, status: 'available' }, page)],
  ['those that are held', (db) => walkAnimals(db, { isHeld: true, categoryId: 2n }, page)],
  ['those without a photo', (db) => walkAnimals(db, { lacksPhoto: true }, further)],
  ['a large shelter', (db) => walkAnimals(db, { shelterId: large }, further)],
  ['a status in it', (db) => walkAnimals(db, { shelterId: large, status: 'pending' }, page)],
  ['a category in it that has none', (db) => walkAnimals(db, { shelterId: large, categoryId: 999n }, page)],
  ['what it holds', (db) => walkAnimals(db, { shelterId: large, isHeld: true }, page)],
  ['what it has no photo of', (db) => walkAnimals(db, { shelterId: large, status: 'available', lacksPhoto: true }, page)],
  ['a small shelter', (db) => walkAnimals(db, { shelterId: small, status: 'available' }, page)],
  ['counts', (db) => countStates(db, undefined, 1_001)],
  ['counts of a large shelter', (db) => countStates(db, large, 1_001)],
  [
    'the rows of a page',
    (db) =>
      selectStaffAnimals(
        db,
        Array.from({ length: 50 }, (_, i) => BigInt(i * 7)),
      ),
  ],
  ['a number', (db) => selectByNumber(db, { id: 17n, externalId: '17' }, undefined)],
  ['a number of a shelter', (db) => selectByNumber(db, { id: undefined, externalId: 'A-17' }, large)],
  ['those that have left', (db) => listUndoable(db, { shelterId: null, scopes: ['store:manage'] }, { cursor: undefined, limit: 51 })],
  [
    'those of a shelter that have left',
    (db) => listUndoable(db, { shelterId: large, scopes: ['shelter:manage'] }, { cursor: '1795000000000000_17', limit: 51 }),
  ],
  ['the history of an animal', (db) => listActsOfPet(db, 17n, { limit: 51 })],
  ['what is open for an animal', (db) => Promise.all([countOpenApplications(db, 17n), findOpenOrdersOfPets(db, [17n])])],
])('%s: found by indexes', async (_, read) => {
  const plans: string[] = [];
  await read(explaining(plans));
  expect(plans.length).toBeGreaterThan(0);
  for (const plan of plans) {
    expect(plan).not.toMatch(/Seq Scan on (pets|photos|profiles|history|applications|orders)\S* .*\(actual [^)]*rows=[1-9]/);
    const [, hit = '0', read = '0'] = /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/.exec(plan) ?? [];
    // Of what is looked through, each animal and its photos may be on pages of their own.
    expect({ plan, isBounded: Number(hit) + Number(read) < 6 * lookedThroughMax }).toEqual({ plan, isBounded: true });
  }
});

function explaining(plans: string[]): Db {
  return {
    async query({ text, values }: pg.QueryConfig) {
      const { rows } = await client.query({ text: `explain (analyze, buffers) ${text}`, values: values ?? [] });
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
      return client.query({ text, values: values ?? [] }) as never;
    },
  };
}
