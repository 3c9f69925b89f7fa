import { beforeEach, describe, expect, test } from 'vitest';
import { verifyHistory } from '../../../src/adoption/verify/verify.ts';
import type { Db } from '../../../src/platform/db/handles.ts';
import { executeAsOwner } from '../../databases.ts';
import { holdLocks } from '../../lock-waits.ts';
import { createTestStore, openTestStore } from '../../test-store.ts';

// More animals than one range contains, and for the last of them more rows than one snapshot reads.
const animals = 2_500;
const rowsOfLast = 20_001;

let progress: number[];
const store = await openTestStore();
const { db } = store.dependencies;
await db.write({
  text: `with added as (insert into pets (name, category_id, status) select 'Animal', 1, 'available' from generate_series(1, $1::int) returning id)
      insert into history (pet_id, to_status, why) select id, 'available', 'added' from added`,
  values: [animals],
});
await db.write({
  text: `insert into history (pet_id, from_status, to_status, why) select $1, 'available', 'available', 'edited by staff' from generate_series(2, $2::int)`,
  values: [animals, rowsOfLast],
});
beforeEach(() => {
  progress = [];
});

const verify = () => verifyHistory(store.dependencies.db, (done, of) => progress.push(done / of));
const setStatus = (id: number, status: string) => store.write('update pets set status = $2 where id = $1', id, status);

describe('verifyHistory', () => {
  test('replays every row of every animal', async () => {
    expect(await verify()).toEqual({ animals, orders: 0, applications: 0, rows: animals - 1 + rowsOfLast, violation: undefined });
  });

  test('reports its progress', async () => {
    await verify();
    expect(progress).toEqual([0.4, 0.8, 2_499 / 2_500, 1, 1, 1]);
  });

  test.each([1, 1_000, 1_001, animals])('finds a violation of animal %i', async (id) => {
    await setStatus(id, 'sold');
    const { violation } = await verify();
    await setStatus(id, 'available');
    expect(violation).toBe(`animal ${id}: its history ends with available, but its status is sold`);
  });

  test.each([7, animals])('finds the history of animal %i, which was deleted', async (id) => {
    const url = store.databaseUrl;
    // Foreign keys are not checked, as after a restore of single tables.
    const unchecked = (text: string) => executeAsOwner(url, `set session_replication_role = replica; ${text}`);
    await unchecked(`delete from pets where id = ${id}`);
    const { violation } = await verify();
    await unchecked(`insert into pets (id, name, category_id, status) overriding system value values (${id}, 'Animal', 1, 'available')`);
    expect(violation).toMatch(id === animals ? `animal ${id}: it has a history, but does not exist` : `animal ${id} does not exist`);
  });

  test('finds an order of an animal that was deleted', async () => {
    const url = store.databaseUrl;
    await executeAsOwner(url, `insert into clients (name, plan) values ('Paws', 'free')`);
    await executeAsOwner(
      url,
      `set session_replication_role = replica; insert into orders (client_id, pet_id, expires_at) select id, ${animals + 1}, now() from clients`,
    );
    const { violation } = await verify();
    await executeAsOwner(url, 'delete from orders');
    expect(violation).toMatch(new RegExp(`^order \\d+: animal ${animals + 1} does not exist$`));
  });

  test.each([
    ['client', 'client_id', 7],
    ['key', 'key_id', 7],
    ['client', 'client_id', animals],
    ['key', 'key_id', animals],
  ])('finds a row of history with a %s that does not exist (%s, animal %i)', async (what, column, id) => {
    const row = `(select max(id) from history where pet_id = ${id})`;
    await store.asOwner(`update history set ${column} = 4711 where id = ${row}`);
    const { violation } = await verify();
    await store.asOwner(`update history set ${column} = null where id = ${row}`);
    expect(violation).toMatch(new RegExp(`^history row \\d+: ${what} 4711 does not exist$`));
  });

  test.each([
    ['animal', '4711000, null'],
    ['client', '1, 4711'],
  ])('finds an unpublished event with an %s that does not exist', async (what, ids) => {
    await store.write(`insert into outbox (type, data, pet_id, client_id) values ('pet.updated', '{}', ${ids})`);
    const { violation } = await verify();
    await store.asOwner('delete from outbox');
    expect(violation).toMatch(new RegExp(`^unpublished event \\d+: ${what} 4711(000)? does not exist$`));
  });

  test('of a long history misses no row that was written before others and committed after them', async () => {
    const insert = `insert into history (pet_id, from_status, to_status, why) values ($1, 'available', 'available', 'edited by staff')`;
    const open = await holdLocks(store, insert, [animals]);
    await store.write(insert, animals);
    let left = 7;
    const snapshot = async <T>(work: (tx: Db) => Promise<T>): Promise<T> => {
      // When it has found that it has to wait. Without waiting, it would have read all rows of the animal by then.
      if (progress.length === 3 && --left === 0) await open.release();
      return store.dependencies.db.snapshot(work);
    };
    const verified = await verifyHistory({ snapshot }, (done, of) => progress.push(done / of));
    expect(left).toBeLessThanOrEqual(0);
    expect(verified).toEqual({ animals, orders: 0, applications: 0, rows: animals + 1 + rowsOfLast, violation: undefined });
  });

  test('of a store without animals finds nothing', async () => {
    await using empty = await createTestStore();
    expect(await verifyHistory(empty.dependencies.db, () => {})).toEqual({
      animals: 0,
      orders: 0,
      applications: 0,
      rows: 0,
      violation: undefined,
    });
  });
});
