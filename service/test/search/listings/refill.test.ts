import { expect, test, vi } from 'vitest';
import { refillListings } from '../../../src/search/listings/refill-queries.ts';
import { addDescribed, idsOf, searchListings } from '../../listing-steps.ts';
import { countLockWaits, holdLocks } from '../../lock-waits.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const key = await store.createKey();

test('Animals that were described before are found by their colors once their rows are made again, in batches', async () => {
  const ids: number[] = [];
  for (let i = 0; i < 30; i += 1) ids.unshift((await addDescribed(store, key, {}, { colors: ['brindle'] })).id);
  // As the release before has written them.
  await store.asOwner(`update listings set colors = '{}', document = ''`);
  await store.asOwner('update listing_refill set refilled_to = 0, refill_until = $1', ids[0]);
  expect(idsOf(await searchListings(store, key, '?color=brindle&limit=50'))).toEqual([]);
  const counts: number[] = [];
  for (let count = 1; count > 0; counts.push(count)) count = await refillListings(store.dependencies.db);
  expect(counts).toEqual([25, 5, 0]);
  // What is cached is found at the latest after two seconds: this is another search.
  expect(idsOf(await searchListings(store, key, '?color=brindle&limit=49'))).toEqual(ids);
});

test('A row that another transaction is changing is made again from what it has committed', async () => {
  const { id } = await addDescribed(store, key, {}, { colors: ['fawn'] });
  await store.asOwner('update listing_refill set refilled_to = $1, refill_until = $2', id - 1, id);
  const writer = await holdLocks(store, `update profiles set colors = '{sable}' where pet_id = $1`, [id]);
  const refilled = refillListings(store.dependencies.db);
  await vi.waitFor(async () => expect(await countLockWaits(store)).toBeGreaterThan(0n));
  await writer.release();
  expect(await refilled).toBe(1);
  expect(idsOf(await searchListings(store, key, '?color=sable'))).toEqual([id]);
});
