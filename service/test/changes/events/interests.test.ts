// What a reader wants, in memory and in SQL.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { interestCondition } from '../../../src/changes/events/event-conditions.ts';
import { type EventType, isOfInterest } from '../../../src/domain/event-types.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();

const id = fc.constantFrom(1n, 2n, 3n);
const idOrNull = fc.option(id, { nil: null });
const wanted = fc.array(id, { maxLength: 2 });
const sample = fc.record({
  type: fc.constantFrom<EventType>('pet.updated', 'order.placed', 'order.adopter_erased'),
  shelterId: idOrNull,
  previousShelterId: idOrNull,
  categoryId: idOrNull,
  previousCategoryId: idOrNull,
  shelterIds: wanted,
  categoryIds: wanted,
});

test('An event is of interest by SQL exactly if it is in memory', async () => {
  const samples = fc.sample(sample, { numRuns: 1_000, seed: 1 });
  const json = JSON.stringify(samples, (_, value) => (typeof value === 'bigint' ? Number(value) : value));
  const names = {
    type: 'row.type',
    shelter: ['"shelterId"', '"previousShelterId"'],
    category: ['"categoryId"', '"previousCategoryId"'],
  } as const;
  const rows = await store.read<{ is: boolean }>(
    `select ${interestCondition('"shelterIds"', '"categoryIds"', names)} as is from rows from (jsonb_to_recordset($1::jsonb)
      as (type text, "shelterId" bigint, "previousShelterId" bigint, "categoryId" bigint, "previousCategoryId" bigint, "shelterIds" bigint[], "categoryIds" bigint[]))
      with ordinality as row (type, "shelterId", "previousShelterId", "categoryId", "previousCategoryId", "shelterIds", "categoryIds", n) order by n`,
    json,
  );
  const inMemory = samples.map((one) => isOfInterest(one, one));
  expect(rows.map(({ is }) => is)).toEqual(inMemory);
  expect(new Set(inMemory).size).toBe(2);
});

test('An erasure is of interest to every reader who may read it, since the animal may have moved', () => {
  const subject = { shelterId: 3n, previousShelterId: null, categoryId: 1n, previousCategoryId: null };
  const elsewhere = { shelterIds: [2n], categoryIds: [9n] };
  expect(isOfInterest({ type: 'order.adopter_erased', ...subject }, elsewhere)).toBe(true);
  expect(isOfInterest({ type: 'order.completed', ...subject }, elsewhere)).toBe(false);
});
