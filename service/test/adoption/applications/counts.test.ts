// The counts for a client's limits: they may be too high, and then the client's applications are counted again; never too low.

import { expect, test } from 'vitest';
import { type Added, addToCounts, lockSubmissions } from '../../../src/adoption/applications/count-queries.ts';
import { theService } from '../../../src/domain/actor.ts';
import { addPet, createManager } from '../../adoption-steps.ts';
import { decide, decideAll, submit } from '../../application-steps.ts';
import { openTestStore, type TestKey } from '../../test-store.ts';

const store = await openTestStore();
const manager = await createManager(store);
const limit = 3;

/** The statuses of the applications that a new partner has, each for another animal. */
async function partnerWith(...actions: string[][]): Promise<{ partner: TestKey; ids: number[] }> {
  const partner = await store.createKey();
  const ids: number[] = [];
  for (const [n, names] of actions.entries()) {
    const adopter = { name: 'Ada', email: `ada${n}@example.org` };
    const { id } = await submit(store, partner, (await addPet(store, partner)).id, { adopter });
    await decideAll(store, manager, id, ...names);
    ids.push(id);
  }
  return { partner, ids };
}

/** Adds one with a limit of three, without an application: the sum that is stored is one too high. */
const add = ({ clientId }: TestKey, added: Added = 'open') =>
  store.dependencies.db.transaction(async (tx) => {
    await lockSubmissions(tx, BigInt(clientId));
    return addToCounts(tx, BigInt(clientId), added, limit);
  }, theService);

const stored = async ({ clientId }: TestKey) =>
  (
    await store.read(
      'select open_at_most::int as open, unconfirmed_at_most::int as unconfirmed from application_counts where client_id = $1',
      clientId,
    )
  )[0];

test('a count below the limit may include what has ended, and one at the limit does not', async () => {
  const { partner } = await partnerWith([], ['decline'], ['decline']);
  expect(await add(partner)).toMatchObject({ open: 1 });
  expect(await stored(partner)).toEqual({ open: 2, unconfirmed: 0 });
  expect(await add(partner)).toMatchObject({ open: 2 });
});

test('a client at its limit is told the exact count until one has ended', async () => {
  const { partner, ids } = await partnerWith([], [], []);
  expect(await add(partner)).toMatchObject({ open: 3 });
  expect(await add(partner)).toMatchObject({ open: 3 });
  await decide(store, manager, ids[0] ?? 0, 'decline');
  expect(await add(partner)).toMatchObject({ open: 2 });
});

test('what staff reopen is counted', async () => {
  const { partner, ids } = await partnerWith([], ['decline']);
  const before = await stored(partner);
  await decide(store, manager, ids[1] ?? 0, 'reopen');
  expect(await stored(partner)).toEqual({ open: Number(before?.['open']) + 1, unconfirmed: 0 });
});

test('without stored counts the applications are counted', async () => {
  const { partner } = await partnerWith([], []);
  await store.asOwner(`delete from application_counts where client_id = ${partner.clientId}`);
  expect(await add(partner)).toEqual({ open: 2, unconfirmed: 0, confirmations: 0 });
  expect(await stored(partner)).toEqual({ open: 3, unconfirmed: 0 });
});

test('unconfirmed ones count for those who ask for confirmation alone', async () => {
  const { partner } = await partnerWith();
  for (const confirmations of [0, 1, 2, 3]) expect(await add(partner, 'unconfirmed')).toMatchObject({ confirmations });
  expect(await add(partner)).toMatchObject({ open: 0, confirmations: 4 });
});
