import { describe, expect, test } from 'vitest';
import { Replay } from '../../src/verify/replay.ts';

const petId = 7n;
type Row = readonly [who: 'animal' | number, from: string | null, to: string];

/** The first thing that is wrong with these rows, in which the animal is named or an order by its id, or with what is there now. */
function findViolation(rows: readonly Row[], pet: string, orders: Readonly<Record<number, string>> = {}): string | undefined {
  const replay = new Replay(petId);
  for (const [index, [who, from, to]] of rows.entries()) {
    const wrong = replay.apply({ id: BigInt(index + 1), petId, orderId: who === 'animal' ? null : BigInt(who), from, to });
    if (wrong) return wrong;
  }
  return replay.compare(
    pet,
    Object.entries(orders).map(([id, status]) => ({ id: BigInt(id), status })),
  );
}

const added: Row = ['animal', null, 'available'];
const placed = (id: number): Row[] => [
  [id, null, 'placed'],
  ['animal', 'available', 'pending'],
];
const approved = (id: number): Row[] => [[id, 'placed', 'approved']];
const completed = (id: number): Row[] => [
  [id, 'approved', 'completed'],
  ['animal', 'pending', 'sold'],
];
const cancelled = (id: number, from = 'placed'): Row[] => [
  [id, from, 'cancelled'],
  ['animal', 'pending', 'available'],
];
const returned = (id: number): Row[] => [
  [id, 'completed', 'returned'],
  ['animal', 'sold', 'available'],
];

describe('A history in which nothing is wrong', () => {
  test.each<[string, Row[], string, Record<number, string>]>([
    ['an animal is added', [added], 'available', {}],
    ['an animal is added as sold', [['animal', null, 'sold']], 'sold', {}],
    ['an order is placed', [added, ...placed(1)], 'pending', { 1: 'placed' }],
    ['an order is completed', [added, ...placed(1), ...approved(1), ...completed(1)], 'sold', { 1: 'completed' }],
    [
      'an order is cancelled and another placed',
      [added, ...placed(1), ...cancelled(1), ...placed(2)],
      'pending',
      { 1: 'cancelled', 2: 'placed' },
    ],
    ['an approved order is cancelled', [added, ...placed(1), ...approved(1), ...cancelled(1, 'approved')], 'available', { 1: 'cancelled' }],
    [
      'an order expires',
      [added, ...placed(1), [1, 'placed', 'expired'], ['animal', 'pending', 'available']],
      'available',
      { 1: 'expired' },
    ],
    ['an animal comes back', [added, ...placed(1), ...approved(1), ...completed(1), ...returned(1)], 'available', { 1: 'returned' }],
    [
      'an animal comes back that staff had set to available',
      [added, ...placed(1), ...approved(1), ...completed(1), ['animal', 'sold', 'available'], [1, 'completed', 'returned']],
      'available',
      { 1: 'returned' },
    ],
    ['staff set a status', [added, ['animal', 'available', 'sold']], 'sold', {}],
    [
      'staff change the name of an animal that is promised',
      [added, ...placed(1), ['animal', 'pending', 'pending']],
      'pending',
      { 1: 'placed' },
    ],
    ['an animal is taken back', [added, ['animal', 'available', 'removed']], 'removed', {}],
  ])('%s', (_, rows, pet, orders) => {
    expect(findViolation(rows, pet, orders)).toBeUndefined();
  });
});

describe('A history in which something is wrong', () => {
  test.each<[string, Row[], string]>([
    [
      'an animal is promised twice',
      [added, ...placed(1), [2, null, 'placed']],
      'history row 4 (animal 7, order 2): orders 1 and 2 are open at once',
    ],
    [
      'an animal is promised twice, the first order being approved',
      [added, ...placed(1), ...approved(1), [2, null, 'placed']],
      'history row 5 (animal 7, order 2): orders 1 and 2 are open at once',
    ],
    [
      'an animal is promised that is sold',
      [
        ['animal', null, 'sold'],
        [1, null, 'placed'],
      ],
      'an animal that is sold is promised',
    ],
    [
      'an animal is promised that was taken back',
      [added, ['animal', 'available', 'removed'], [1, null, 'placed']],
      'an animal that is removed is promised',
    ],
    ['an animal is promised before it was added', [[1, null, 'placed']], 'an animal that is null is promised'],
    [
      'an order is completed without approval',
      [added, ...placed(1), [1, 'placed', 'completed']],
      "an order can't go from placed to completed",
    ],
    ['an order begins in the middle', [added, [1, null, 'approved']], "an order can't go from null to approved"],
    [
      'an order that is over goes on',
      [added, ...placed(1), ...cancelled(1), [1, 'cancelled', 'approved']],
      "an order can't go from cancelled to approved",
    ],
    [
      'an order leaves a state that it was not in',
      [added, ...placed(1), [1, 'approved', 'completed']],
      'the order goes from approved to completed, but was placed',
    ],
    [
      'an animal leaves a state that it was not in',
      [added, ['animal', 'pending', 'sold']],
      'the animal goes from pending to sold, but was available',
    ],
    ['an animal is added twice', [added, added], 'the animal goes from null to available, but was available'],
    [
      'an animal lives on after it was taken back',
      [added, ['animal', 'available', 'removed'], ['animal', 'removed', 'available']],
      "an animal can't go from removed to available",
    ],
    ['an animal gets a status that is none', [added, ['animal', 'available', 'lost']], "an animal can't go from available to lost"],
    [
      'an animal is freed while its order is open',
      [added, ...placed(1), ['animal', 'pending', 'available']],
      'the animal goes to available with order 1 open',
    ],
    [
      'an order moves on without its animal',
      [added, [1, null, 'placed'], [1, 'placed', 'approved']],
      'order 1 moved on, and the animal did not go to pending',
    ],
    [
      'an order moves on and its animal goes elsewhere',
      [added, [1, null, 'placed'], ['animal', 'available', 'sold']],
      'order 1 moved on, and the animal went to sold',
    ],
  ])('%s', (_, rows, words) => {
    expect(findViolation(rows, 'available')).toContain(words);
  });
});

describe('A present that is not what the history leads to', () => {
  test.each<[string, Row[], string, Record<number, string>, string]>([
    ['another status of the animal', [added], 'sold', {}, 'animal 7: its history ends at available, but it is sold'],
    ['an animal without a history', [], 'available', {}, 'animal 7: its history ends at null, but it is available'],
    [
      'another status of an order',
      [added, ...placed(1)],
      'pending',
      { 1: 'approved' },
      'order 1: its history ends at placed, but it is approved',
    ],
    ['an order without a history', [added], 'available', { 1: 'placed' }, 'order 1: its history ends at nothing, but it is placed'],
    [
      'a history without its order',
      [added, ...placed(1)],
      'pending',
      {},
      'order 1: it has a history of animal 7, but no such order is there',
    ],
    [
      'an animal that stayed behind',
      [added, [1, null, 'placed']],
      'available',
      { 1: 'placed' },
      'animal 7: order 1 moved on, and the animal did not go to pending',
    ],
  ])('%s', (_, rows, pet, orders, words) => {
    expect(findViolation(rows, pet, orders)).toBe(words);
  });
});
