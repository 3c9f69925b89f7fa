// What a worker that was slow, and has lost its photo, does when it continues.

import { expect, test } from 'vitest';
import {
  claimPhoto,
  markFailed,
  markReady,
  type PhotoClaim,
  planFiles,
  releaseClaim,
  waitForOriginal,
} from '../../../src/animals/photos/processing-queries.ts';
import { insertWorker } from '../../../src/changes/delivery/shard-queries.ts';
import { theService } from '../../../src/domain/actor.ts';
import { extendClaim } from '../../../src/platform/db/claims.ts';
import { createManager } from '../../adoption-steps.ts';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import { addPetWithPhoto, createPhotoStore, expireClaims, makeImage } from '../../photo-steps.ts';

const { store } = disposeAfterAll(await createPhotoStore());
const { db, catalogue } = store.dependencies;
await addPetWithPhoto(store, await createManager(store), await makeImage('red'));

const files = [{ width: 1, height: 1, hash: '0'.repeat(64) }];
const bytes = { original: 1, pictures: 1, storedMax: Number.POSITIVE_INFINITY };
const writes: ReadonlyArray<(claim: PhotoClaim) => Promise<unknown>> = [
  (claim) => markFailed(db, claim, 'unreadable'),
  (claim) => extendClaim(db, 'photos', claim, 600),
  (claim) => releaseClaim(db, claim, 600, false),
  (claim) => waitForOriginal(db, claim),
  (claim) => db.transaction((tx) => planFiles(tx, claim, files, bytes), theService),
  (claim) => catalogue.transaction((tx) => markReady(tx, claim, { width: 1, height: 1, placeholder: 'x' }), theService),
];

async function claim(): Promise<PhotoClaim> {
  await expireClaims(store);
  const claimed = await claimPhoto(db, 60, 0n);
  if (!claimed) throw new Error('no photo waits');
  return claimed;
}
/** Also tells a row that was written without a change. */
const readRow = async () => JSON.stringify(await store.read('select ctid::text, to_jsonb(photos)::text from photos'));
/** As if the photo were sent again. A worker has named its files. */
const restart = () =>
  store.write(`update photos set status = 'processing', attempts = 0, failure = null, files = '[]', pictures_bytes = null, width = null,
    height = null, placeholder = null, claimed_until = null, original_missing_since = null`);

await restart();

test('0 of 200 late workers change the photo of its new owner, or one that waits for the next', async () => {
  let harmed = 0;
  let last = 0n;
  for (let round = 0; round < 200; round += 1) {
    const write = writes[round % writes.length] as (late: PhotoClaim) => Promise<unknown>;
    const first = await claim();
    const second = await claim();
    await releaseClaim(db, second, 0, false);
    const waiting = await readRow();
    await write(first);
    const isWaiting = (await readRow()) === waiting;
    if (!isWaiting) await restart();
    const owner = await claim();
    const owned = await readRow();
    await write(second);
    if (!isWaiting || (await readRow()) !== owned) harmed += 1;
    const numbers = [last, first.number, second.number, owner.number];
    expect(numbers).toEqual(numbers.toSorted((a, b) => Number(a - b)));
    last = owner.number;
    await restart();
  }
  expect(harmed).toBe(0);
});

test.each(writes.map((write, i) => [i, write] as const))('the owner does change it, by write %i', async (_, write) => {
  const owner = await claim();
  const owned = await readRow();
  await write(owner);
  expect(await readRow()).not.toBe(owned);
  await restart();
});

test('on a server that took over, the numbers of claims and leases that may be lost are skipped', async () => {
  const [before, leaseBefore] = [await claim(), await insertWorker(db, 1)];
  await store.asOwner('select skip_ids()');
  const [after, leaseAfter] = [await claim(), await insertWorker(db, 1)];
  expect(after.number - before.number).toBeGreaterThan(1_000_000n);
  expect(leaseAfter.id - leaseBefore.id).toBeGreaterThan(1_000_000n);
  await restart();
});
