import { describe, expect, test, vi } from 'vitest';
import { pruneCategories } from '../../../src/animals/categories/categories.ts';
import { theService } from '../../../src/domain/actor.ts';
import { addPet, createManager } from '../../adoption-steps.ts';
import { countLockWaits } from '../../lock-waits.ts';
import { openTestStore } from '../../test-store.ts';

const [smallest, largest] = ['-9223372036854775808', '9223372036854775807'];

const store = await openTestStore();
const manager = await createManager(store);

const execute = (text: string) => store.write(text);
const prune = () => pruneCategories(store.dependencies.db);
const unnamed = async () =>
  (await store.read<{ id: bigint }>('select id from categories where name is null order by id')).map(({ id }) => id);

describe('pruneCategories', () => {
  test('removes every category without a name and without animals, over several batches, and no other', async () => {
    await execute('insert into categories (id) select generate_series(-1250, -1)');
    await execute('insert into categories (id) select generate_series(1001, 2250)');
    await execute(`insert into categories (id) values (${smallest}), (${largest})`);
    await addPet(store, manager, { categoryId: -1_250 });
    await addPet(store, manager, { categoryId: 1_500 });
    const { id } = await addPet(store, manager, { categoryId: 2_250 });
    await store.call('DELETE', `/v1/pets/${id}`, { key: manager.key });
    expect(await prune()).toBe(2_499);
    expect(await unnamed()).toEqual([-1_250n, 1_500n, 2_250n]);
    const { json } = await store.call<unknown[]>('GET', '/v1/categories?limit=100', { key: manager.key });
    expect(json).toHaveLength(13);
  });

  test('of a store without unused categories removes none', async () => {
    expect(await prune()).toBe(0);
  });

  test('keeps one that gets an animal at the same time', async () => {
    await execute('insert into categories (id) values (3000), (3001), (3002)');
    let pruning: ReturnType<typeof prune> | undefined;
    await store.dependencies.db.transaction(async (tx) => {
      await tx.query({ text: `insert into pets (name, category_id, status) values ('Biscuit', 3001, 'available')` });
      pruning = prune();
      await vi.waitUntil(async () => (await countLockWaits(store)) === 1n, { timeout: 1_500, interval: 10 });
    }, theService);
    expect(await pruning).toBe(2);
    expect(await unnamed()).toContain(3_001n);
  });
});
