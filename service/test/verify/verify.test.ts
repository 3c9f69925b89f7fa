import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { verifyHistory } from '../../src/verify/verify.ts';
import { createTestStore, type TestStore } from '../test-store.ts';

// More animals than one range contains, and for the last of them more rows than one query reads.
const animals = 2_500;
const rowsOfLast = 20_001;

let store: TestStore;
let progress: number[];
beforeAll(async () => {
  store = await createTestStore();
  const { db } = store.dependencies;
  await db.query({
    text: `with added as (insert into pets (name, category_id, status) select 'Animal', 1, 'available' from generate_series(1, $1::int) returning id)
      insert into history (pet_id, to_status, why) select id, 'available', 'added' from added`,
    values: [animals],
  });
  await db.query({
    text: `insert into history (pet_id, from_status, to_status, why) select $1, 'available', 'available', 'edited by staff' from generate_series(2, $2::int)`,
    values: [animals, rowsOfLast],
  });
});
afterAll(() => store[Symbol.asyncDispose]());
beforeEach(() => {
  progress = [];
});

const verify = () => verifyHistory(store.dependencies.db, (done, of) => progress.push(done / of));
const setStatus = (id: number, status: string) =>
  store.dependencies.db.query({ text: 'update pets set status = $2 where id = $1', values: [id, status] });

describe('verifyHistory', () => {
  test('replays every row of every animal', async () => {
    expect(await verify()).toEqual({ animals, orders: 0, rows: animals - 1 + rowsOfLast, violation: undefined });
  });

  test('reports its progress', async () => {
    await verify();
    expect(progress).toEqual([0.4, 0.8, 1]);
  });

  test.each([1, 1_000, 1_001, animals])('finds a violation of animal %i', async (id) => {
    await setStatus(id, 'sold');
    const { violation } = await verify();
    await setStatus(id, 'available');
    expect(violation).toBe(`animal ${id}: its history ends with available, but its status is sold`);
  });

  test('of a store without animals finds nothing', async () => {
    await using empty = await createTestStore();
    expect(await verifyHistory(empty.dependencies.db, () => {})).toEqual({ animals: 0, orders: 0, rows: 0, violation: undefined });
  });
});
