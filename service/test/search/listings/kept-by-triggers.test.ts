// The table that searches read is kept by triggers, whoever writes: also a person with SQL.
import { afterEach, expect, test, vi } from 'vitest';
import { addPet } from '../../adoption-steps.ts';
import { addDescribed, addShelter, insert } from '../../listing-steps.ts';
import { countLockWaits, holdLocks } from '../../lock-waits.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const key = await store.createKey();

const query = async (text: string, values: unknown[] = []) => await store.write<Record<string, unknown>>(text, ...values);

/** Rows that should be there and are not, or are there and should not be. */
const differences = () =>
  query(`(select 'missing' as what, id from (select * from listings_computed except select * from listings) missing)
    union all (select 'wrong', id from (select * from listings except select * from listings_computed) wrong)`);

const listed = async (id: number) => (await query('select * from listings where id = $1', [id]))[0];

afterEach(async () => {
  const [first] = await differences();
  if (first) throw new Error(`the row of animal ${first['id']} is ${first['what']}`);
});

test('an animal without a profile has no row', async () => {
  expect(await listed((await addPet(store, key)).id)).toBeUndefined();
});

test('a profile that is inserted, updated and deleted', async () => {
  const { id } = await addDescribed(store, key, {}, { sex: 'male', breed_primary: 'Beagle' });
  expect(await listed(id)).toMatchObject({ sex: 'male', breeds: ['beagle'] });
  await query(`update profiles set sex = 'female', breed_secondary = 'Poodle', good_with_cats = 'yes' where pet_id = $1`, [id]);
  expect(await listed(id)).toMatchObject({ sex: 'female', breeds: ['beagle', 'poodle'], good_with: ['cats'] });
  await store.asOwner('delete from profiles where pet_id = $1', id);
  expect(await listed(id)).toBeUndefined();
});

test('an animal that is renamed, moved, sold and removed', async () => {
  const shelterId = await addShelter(store, {});
  const { id } = await addDescribed(store, key, {});
  for (const change of [
    `name = 'Renamed'`,
    `category_id = (select min(id) from categories)`,
    `status = 'sold'`,
    `shelter_id = ${shelterId}`,
  ]) {
    await query(`update pets set ${change} where id = $1`, [id]);
    expect(await differences()).toEqual([]);
  }
  expect(await listed(id)).toMatchObject({ status: 'sold', shelter_id: BigInt(shelterId) });
  await query('update pets set removed_at = now() where id = $1', [id]);
  expect(await listed(id)).toBeUndefined();
  // As a restored backup may do it.
  await query('update pets set removed_at = null where id = $1', [id]);
  expect(await listed(id)).toBeDefined();
});

test('several animals that one statement changes', async () => {
  for (let i = 0; i < 5; i += 1) await addDescribed(store, key, { categoryId: 50 });
  await query(`update pets set status = 'pending' where category_id = 50`);
  expect(await query(`select distinct status from listings where category_id = 50`)).toEqual([{ status: 'pending' }]);
});

test.each([
  ['animal', 'profile', `update pets set status = 'sold' where id = $1`, `update profiles set sex = 'female' where pet_id = $1`],
  ['profile', 'animal', `update profiles set sex = 'female' where pet_id = $1`, `update pets set status = 'sold' where id = $1`],
])('an %s that changes while its %s changes', async (_, __, first, second) => {
  const { id } = await addDescribed(store, key, {});
  const held = await holdLocks(store, first, [id]);
  const waiting = query(second, [id]);
  await vi.waitUntil(() => countLockWaits(store));
  await held.release();
  await waiting;
  expect(await listed(id)).toMatchObject({ status: 'sold', sex: 'female' });
});

test('a profile with everything', async () => {
  const { id } = await addPet(store, key, { name: `O'Neill \\ "x" =1` });
  const text = `it's "quoted" \\ & | ! <-> :* sex=male ${'ä'.repeat(3_000)}`;
  await insert(store, 'profiles', { pet_id: id, shelter_id: 1, description: text, breed_primary: `D'Or \\ x`, tags: ['a b', "c'd"] });
  expect(await listed(id)).toMatchObject({ breeds: ['d or x'], sex: 'unknown' });
});
