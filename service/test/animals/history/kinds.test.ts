// The kinds of the rows of history, and what `verify` reads of rows with and without one.
import { describe, expect, test } from 'vitest';
import { verifyHistory } from '../../../src/adoption/verify/verify.ts';
import { actAll, addPet, createManager, placeOrder } from '../../adoption-steps.ts';
import { addShelter } from '../../shelter-steps.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const manager = await createManager(store);
const shelter = await addShelter(store);
const petId = (await addPet(store, manager)).id;

const change = (method: string, path: string, body?: object) =>
  store.call(method, `/v1/pets/${petId}${path}`, { key: manager.key, ...(body && { body }) });
const verify = async () => (await verifyHistory(store.dependencies.db, () => {})).violation;
const asOwner = (text: string) => store.asOwner(text);

test('every change is recorded with its kind, and a move with its shelters', async () => {
  await change('PATCH', '', { name: 'Rex' });
  await change('PUT', '/shelter', { shelterId: shelter });
  const order = await placeOrder(store, manager, petId);
  await actAll(store, manager, order.id, 'cancel');
  await change('PATCH', '', { status: 'sold' });
  await change('DELETE', '');
  const rows = await store.read<{ row: string }>(
    `select concat_ws(' ', kind, order_id is not null, to_status, from_shelter_id, to_shelter_id) as row from history order by id`,
  );
  expect(rows.map(({ row }) => row)).toEqual([
    'pet_added f available',
    'pet_edited f available',
    `pet_moved f available 1 ${shelter}`,
    'order_status t placed',
    'pet_status f pending',
    'order_status t cancelled',
    'pet_status f available',
    'pet_status f sold',
    'pet_removed f removed',
  ]);
});

describe('verify', () => {
  test('does not read the words of a row', async () => {
    await asOwner(`update history set why = 'moved from shelter 8 to shelter 9' where kind = 'pet_edited'`);
    await asOwner(`update history set why = 'umgezogen' where kind = 'pet_moved'`);
    expect(await verify()).toBeUndefined();
    await asOwner(`update history set to_shelter_id = 1 where kind = 'pet_moved'`);
    expect(await verify()).toBe(`animal ${petId}: it was last moved to shelter 1, but it is in shelter ${shelter}`);
  });
});

test('a move without its shelters is rejected', async () => {
  await expect(
    store.write(`insert into history (pet_id, to_status, why, kind) values (1, 'available', 'moved', 'pet_moved')`),
  ).rejects.toThrow('history_move_has_shelters');
});
