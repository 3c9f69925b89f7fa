// Triggers keep the shelters of orders and events: the statements that write those don't name them.
import pg from 'pg';
import { beforeEach, describe, expect, test } from 'vitest';
import { rotatePartitions } from '../../../src/changes/events/events.ts';
import { addPet } from '../../adoption-steps.ts';
import { addShelter, createShelterKey, shelterOf } from '../../shelter-steps.ts';
import { createTestStore, type TestKey, type TestStore } from '../../test-store.ts';

let store: TestStore;
let owner: pg.Client;
let staff: TestKey;
let shelter: number;
let petId: number;
beforeEach(async () => {
  store = await createTestStore();
  owner = new pg.Client({ connectionString: store.databaseUrl });
  await owner.connect();
  shelter = await addShelter(store);
  staff = await createShelterKey(store, shelter);
  petId = (await addPet(store, staff)).id;
  return async () => {
    await owner.end();
    await store[Symbol.asyncDispose]();
  };
});

/** Without a shelter. */
const insertPet = async () =>
  Number((await owner.query(`insert into pets (name, category_id, status) values ('Old', 1, 'available') returning id`)).rows[0].id);
const insertOrder = async (pet: number) =>
  Number(
    (
      await owner.query(`insert into orders (client_id, pet_id, status, expires_at) values ($1, $2, 'cancelled', now()) returning id`, [
        staff.clientId,
        pet,
      ])
    ).rows[0].id,
  );
const insertEvent = async (position: number, clientId: bigint | null, publishedAt = new Date()) => {
  const text = `insert into events (position, published_at, type, pet_id, client_id, at, data)
    values ($1, $2, 'order.placed', $3, $4, now(), '{}') returning shelter_id`;
  const { rows } = await owner.query<{ shelter_id: string | null }>(text, [position, publishedAt, petId, clientId]);
  return rows[0]?.shelter_id === null ? null : Number(rows[0]?.shelter_id);
};

test('An animal that is inserted without a shelter is in the first', async () => {
  expect(await shelterOf(store, 'pets', await insertPet())).toBe(1);
});

describe('An order that is inserted without a shelter', () => {
  test('belongs to that of its animal, and follows it', async () => {
    const id = await insertOrder(petId);
    expect(await shelterOf(store, 'orders', id)).toBe(shelter);
    await owner.query('update pets set shelter_id = 1 where id = $1', [petId]);
    expect(await shelterOf(store, 'orders', id)).toBe(1);
  });

  test('for an animal that does not exist is rejected by the foreign key, as before', async () => {
    await expect(insertOrder(4_711)).rejects.toMatchObject({ constraint: 'orders_pet_id_fkey' });
  });
});

describe('An event that is inserted without a shelter', () => {
  test('has that of the animal, whether it is about an order or not', async () => {
    expect(await insertEvent(1_000, staff.clientId)).toBe(shelter);
    expect(await insertEvent(1_001, null)).toBe(shelter);
  });

  test('has it also in a partition that is attached later, with the index', async () => {
    const tomorrow = new Date(Date.now() + 86_400_000);
    const name = `events_${tomorrow.toISOString().slice(0, 10).replaceAll('-', '')}`;
    await owner.query(`drop table ${name}`);
    await rotatePartitions(store.dependencies.db);
    expect(await insertEvent(1_002, staff.clientId, tomorrow)).toBe(shelter);
    const { rows } = await owner.query<{ indexdef: string }>('select indexdef from pg_indexes where tablename = $1', [name]);
    expect(rows.map(({ indexdef }) => indexdef).join('\n')).toContain('(shelter_id, type, "position") WHERE (shelter_id IS NOT NULL)');
  });
});

test('The index of events by shelter is valid, with those of the days that were there before', async () => {
  const { rows } = await owner.query<{ valid: boolean; days: string; partitions: string }>(
    `select indisvalid as valid, (select count(*) from pg_inherits where inhparent = indexrelid) as days,
        (select count(*) from pg_inherits where inhparent = 'events'::regclass) as partitions
      from pg_index where indexrelid = 'events_by_shelter_and_type'::regclass`,
  );
  expect(rows[0]).toMatchObject({ valid: true });
  expect(rows[0]?.days).toBe(rows[0]?.partitions);
});
