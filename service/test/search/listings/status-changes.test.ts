// Every order changes the status of an animal, so that must not rewrite what searches find the animal by.
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { addPet, placeOrder } from '../../adoption-steps.ts';
import { idsOf, insert, searchListings } from '../../listing-steps.ts';
import { openTestStore } from '../../test-store.ts';

const triesMax = 20;
const store = await openTestStore();
const key = await store.createKey();
const client = new pg.Client({ connectionString: store.databaseUrl });
await client.connect();
afterAll(() => client.end());

/** Different ones, as in life: the same word again would not make the document longer. */
const wordsOf = (animal: number, count: number) =>
  Array.from({ length: count }, (_, i) => `w${((animal * 7919 + i * 104_729) % 1_000_003).toString(36)}`).join(' ');

async function addAnimals(count: number, words: number): Promise<number[]> {
  const ids: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const { id } = await addPet(store, key);
    await insert(store, 'profiles', { pet_id: id, shelter_id: 1, description: wordsOf(id, words) });
    ids.push(id);
  }
  return ids;
}

test.each([24, 150, 400, 1_200])('a change of the status writes no document of %i words and no entry of an index', async (words) => {
  const ids = await addAnimals(12, words);
  // A snapshot of another connection may prevent that room in a page is used again. Then some updates are not HOT: try again.
  let written = { updated: 0, hot: 0, inToast: 0 };
  for (let tries = 0; tries < triesMax && written.hot < ids.length; tries += 1) {
    for (const status of ['sold', 'pending']) written = await setStatus(ids, status);
  }
  expect(written).toEqual({ updated: ids.length, hot: ids.length, inToast: 0 });
  const { rows } = await client.query('select distinct status from listings where id = any($1)', [ids]);
  expect(rows).toEqual([{ status: 'pending' }]);
});

/** In a transaction for each. Returns what they have written. */
async function setStatus(ids: readonly number[], status: string): Promise<Written> {
  const total = { updated: 0, hot: 0, inToast: 0 };
  for (const id of ids) {
    await client.query('begin');
    const before = await countWritten();
    await client.query('update pets set status = $1 where id = $2', [status, id]);
    const after = await countWritten();
    await client.query('commit');
    for (const what of ['updated', 'hot', 'inToast'] as const) total[what] += after[what] - before[what];
  }
  return total;
}

interface Written {
  readonly updated: number;
  readonly hot: number;
  readonly inToast: number;
}

/** The rows of listings that this connection has written, and those of the table of its long documents, since it last reported them. */
async function countWritten(): Promise<Written> {
  const { rows } = await client.query<{ updated: string; hot: string; inToast: string }>(
    `select own.n_tup_upd as updated, own.n_tup_hot_upd as hot, toast.n_tup_ins + toast.n_tup_del as "inToast"
      from pg_class join pg_stat_xact_all_tables own on own.relid = pg_class.oid
        join pg_stat_xact_all_tables toast on toast.relid = reltoastrelid where pg_class.relname = 'listings'`,
  );
  const [{ updated, hot, inToast } = { updated: 0, hot: 0, inToast: 0 }] = rows;
  return { updated: Number(updated), hot: Number(hot), inToast: Number(inToast) };
}

test.each([24, 150, 400, 1_200])('a change of the status takes at most 0.4 kB of WAL more if the animal has %i words', async (words) => {
  const plain: number[] = [];
  for (let i = 0; i < 12; i += 1) plain.push((await addPet(store, key)).id);
  const without = await leastWal(plain);
  expect((await leastWal(await addAnimals(12, words))) - without).toBeLessThan(400);
});

/** The fewest bytes that a change took: other tests write to the same server meanwhile. */
async function leastWal(ids: readonly number[]): Promise<number> {
  const readWal = async () => Number((await client.query(`select pg_current_wal_insert_lsn() - '0/0' as bytes`)).rows[0].bytes);
  let least = Number.POSITIVE_INFINITY;
  for (const status of ['sold', 'pending', 'available']) {
    for (const id of ids) {
      const before = await readWal();
      await client.query('update pets set status = $1 where id = $2', [status, id]);
      least = Math.min(least, (await readWal()) - before);
    }
  }
  return least;
}

test('an animal whose status has changed since its document was written is found by the new one alone', async () => {
  const { id } = await addPet(store, key, { name: 'Wandelbar' });
  await insert(store, 'profiles', { pet_id: id, shelter_id: 1, sex: 'female' });
  // As documents from before have it.
  await client.query(`update listings set document = document || array_to_tsvector(array['status=available']) where id = $1`, [id]);
  await placeOrder(store, key, id);
  for (const filters of ['q=wandelbar', 'q=wandelbar&sort=newest', 'sex=female', 'q=wandelbar&sex=female&near=0,0&withinKm=500']) {
    expect(idsOf(await searchListings(store, key, `?${filters}&status=available`))).toEqual([]);
  }
  expect(idsOf(await searchListings(store, key, '?q=wandelbar&status=pending&sex=female'))).toEqual([id]);
  expect((await store.call('GET', '/v1/listings/facets?sex=female&status=pending', key)).json).toMatchObject({
    sexes: [{ value: 'female', count: 1 }],
  });
});
