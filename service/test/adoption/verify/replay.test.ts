import { describe, expect, test } from 'vitest';
import { Replay } from '../../../src/adoption/verify/replay.ts';
import type { HistoryRow, VerifiedPet } from '../../../src/adoption/verify/verify-queries.ts';
import type { ShelterMove } from '../../../src/domain/shelters.ts';

const petId = 7n;
type Row = readonly [who: 'animal' | number, from: string | null, to: string, move?: ShelterMove | undefined, more?: Partial<HistoryRow>];

/** The first violation in these rows, or between them and the current state. A row is about the animal, or about an order by its id. */
function findViolation(
  rows: readonly Row[],
  pet: string,
  orders: Readonly<Record<number, string>> = {},
  { shelterId = 1n, ofOrders, ...hold }: { shelterId?: bigint; ofOrders?: bigint } & Partial<VerifiedPet> = {},
): string | undefined {
  const replay = new Replay(petId);
  for (const [index, [who, from, to, move, more]] of rows.entries()) {
    const orderId = who === 'animal' ? null : BigInt(who);
    const kind = orderId === null ? 'pet_status' : 'order_status';
    const none = {
      clientId: null,
      keyId: null,
      personId: null,
      holdReason: null,
      holdUntil: null,
      outcome: null,
      actId: null,
      undoesActId: null,
    };
    const violation = replay.apply({ ...none, id: BigInt(index + 1), petId, orderId, kind, at: time(index), from, to, move, ...more });
    if (violation) return violation;
  }
  return replay.compare(
    { id: petId, status: pet, shelterId, holdReason: null, holdReleases: null, undoableUntil: null, ...hold },
    Object.entries(orders).map(([id, status]) => ({
      id: BigInt(id),
      petId,
      status,
      shelterId: ofOrders ?? shelterId,
      applicationId: null,
    })),
  );
}

const time = (minute: number) => new Date(Date.UTC(2026, 10, 19, 12, minute));
const held = (from: string, holdUntil: Date | null = null): Row => [
  'animal',
  from,
  'pending',
  undefined,
  { kind: 'pet_held', holdReason: 'medical', holdUntil },
];
const ended = (from: string, to: string): Row => ['animal', from, to, undefined, { kind: 'pet_hold_ended' }];
const withheld = (id: number, from = 'placed'): Row[] => [
  [id, from, 'cancelled'],
  ['animal', 'pending', 'pending'],
];
const accepted = (id: number): Row[] => [
  [id, null, 'placed'],
  [id, 'placed', 'approved'],
];

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

describe('A history without a violation', () => {
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
    ['an animal is returned', [added, ...placed(1), ...approved(1), ...completed(1), ...returned(1)], 'available', { 1: 'returned' }],
    [
      'an animal is returned after staff had set it to available',
      [added, ...placed(1), ...approved(1), ...completed(1), ['animal', 'sold', 'available'], [1, 'completed', 'returned']],
      'available',
      { 1: 'returned' },
    ],
    ['staff set a status', [added, ['animal', 'available', 'sold']], 'sold', {}],
    ['staff change the name of a reserved animal', [added, ...placed(1), ['animal', 'pending', 'pending']], 'pending', { 1: 'placed' }],
    ['an animal is removed', [added, ['animal', 'available', 'removed']], 'removed', {}],
  ])('%s', (_, rows, pet, orders) => {
    expect(findViolation(rows, pet, orders)).toBeUndefined();
  });
});

describe('A history with a violation', () => {
  test.each<[string, Row[], string]>([
    [
      'an animal has two open orders',
      [added, ...placed(1), [2, null, 'placed']],
      'history row 4 (animal 7, order 2): orders 1 and 2 are open at once',
    ],
    [
      'an animal has two open orders, one of them approved',
      [added, ...placed(1), ...approved(1), [2, null, 'placed']],
      'history row 5 (animal 7, order 2): orders 1 and 2 are open at once',
    ],
    [
      'an order is placed for a sold animal',
      [
        ['animal', null, 'sold'],
        [1, null, 'placed'],
      ],
      'an order was placed for an animal that is sold',
    ],
    [
      'an order is placed for a removed animal',
      [added, ['animal', 'available', 'removed'], [1, null, 'placed']],
      'an order was placed for an animal that is removed',
    ],
    ['an order is placed before the animal was added', [[1, null, 'placed']], 'an order was placed for an animal that is not added yet'],
    [
      'an order is completed without approval',
      [added, ...placed(1), [1, 'placed', 'completed']],
      "an order can't change from placed to completed",
    ],
    ['an order starts in a later state', [added, [1, null, 'approved']], "an order can't change from nothing to approved"],
    [
      'an order changes after its final state',
      [added, ...placed(1), ...cancelled(1), [1, 'cancelled', 'approved']],
      "an order can't change from cancelled to approved",
    ],
    [
      'an order leaves a state that it was not in',
      [added, ...placed(1), [1, 'approved', 'completed']],
      'the order changes from approved to completed, but its status was placed',
    ],
    [
      'an animal leaves a state that it was not in',
      [added, ['animal', 'pending', 'sold']],
      'the animal changes from pending to sold, but its status was available',
    ],
    ['an animal is added twice', [added, added], 'the animal changes from nothing to available, but its status was available'],
    [
      'an animal changes after it was removed',
      [added, ['animal', 'available', 'removed'], ['animal', 'removed', 'available']],
      "an animal can't change from removed to available",
    ],
    ['an animal gets an unknown status', [added, ['animal', 'available', 'lost']], "an animal can't change from available to lost"],
    [
      'an animal becomes available while its order is open',
      [added, ...placed(1), ['animal', 'pending', 'available']],
      'the animal changes to available while order 1 is open',
    ],
    [
      'an order changes without its animal',
      [added, [1, null, 'placed'], [1, 'placed', 'approved']],
      'order 1 changed, but the animal did not change to pending',
    ],
    [
      'an order changes and its animal gets the wrong status',
      [added, [1, null, 'placed'], ['animal', 'available', 'sold']],
      'order 1 changed, and the animal changed to sold instead of pending',
    ],
  ])('%s', (_, rows, words) => {
    expect(findViolation(rows, 'available')).toContain(words);
  });
});

describe('A current state that does not match the history', () => {
  test.each<[string, Row[], string, Record<number, string>, string]>([
    ['another status of the animal', [added], 'sold', {}, 'animal 7: its history ends with available, but its status is sold'],
    ['an animal without a history', [], 'available', {}, 'animal 7: its history ends with nothing, but its status is available'],
    [
      'another status of an order',
      [added, ...placed(1)],
      'pending',
      { 1: 'approved' },
      'order 1: its history ends with placed, but its status is approved',
    ],
    [
      'an order without a history',
      [added],
      'available',
      { 1: 'placed' },
      'order 1: its history ends with nothing, but its status is placed',
    ],
    [
      'a history without its order',
      [added, ...placed(1)],
      'pending',
      {},
      'order 1: it is in the history of animal 7, but it does not exist',
    ],
    [
      'an animal that did not change with its order',
      [added, [1, null, 'placed']],
      'available',
      { 1: 'placed' },
      'animal 7: order 1 changed, but the animal did not change to pending',
    ],
  ])('%s', (_, rows, pet, orders, words) => {
    expect(findViolation(rows, pet, orders)).toBe(words);
  });
});

describe('A move to another shelter', () => {
  const moved = (from: number, to: number, status = 'available'): Row => ['animal', status, status, { from: BigInt(from), to: BigInt(to) }];

  test('that is where the animal and its orders are is no violation, also while it has an open order', () => {
    const rows = [added, moved(1, 3), ...placed(8), moved(3, 2, 'pending'), ...cancelled(8)];
    expect(findViolation(rows, 'available', { 8: 'cancelled' }, { shelterId: 2n })).toBeUndefined();
  });

  test('is not needed: an animal stays in the shelter that it was added to', () => {
    expect(findViolation([added], 'available', {}, { shelterId: 5n })).toBeUndefined();
  });

  test.each<[string, Row[], { shelterId?: bigint; ofOrders?: bigint }, string]>([
    ['to another shelter than the one that it is in', [added, moved(1, 3)], {}, 'it was last moved to shelter 3, but it is in shelter 1'],
    [
      'from another shelter than the one that it was in',
      [added, moved(1, 3), moved(2, 1)],
      {},
      'the animal was moved from shelter 2, but it had been moved to shelter 3',
    ],
    [
      'that an order did not follow',
      [added, ...placed(8), ...cancelled(8), moved(1, 3)],
      { shelterId: 3n, ofOrders: 1n },
      'order 8: it belongs to shelter 1, but animal 7 to shelter 3',
    ],
  ])('%s is a violation', (_, rows, shelters, words) => {
    expect(findViolation(rows, 'available', { 8: 'cancelled' }, shelters)).toContain(words);
  });
});

describe('An outcome', () => {
  const left = (outcome = 'escaped', from = 'available'): Row => ['animal', from, 'removed', undefined, { kind: 'pet_outcome', outcome }];
  const undone = (days = 0, to = 'pending'): Row => [
    'animal',
    'removed',
    to,
    undefined,
    { kind: 'pet_outcome_undone', at: time(days * 1_440) },
  ];
  const undoableUntil = time(0);

  test.each<[string, Row[], string, Date | null]>([
    ['that can be undone', [added, left()], 'removed', undoableUntil],
    ['that can not be undone any more', [added, left()], 'removed', null],
    ['that was undone, and another one after it', [added, left(), undone(30), left('died', 'pending')], 'removed', undoableUntil],
    ['that has ended a hold', [added, held('available'), left('died', 'pending'), undone()], 'pending', null],
    ['that was undone for an order', [added, left(), undone(), ['animal', 'pending', 'available'], ...placed(8)], 'pending', null],
  ])('%s is no violation', (_, rows, pet, until) => {
    expect(findViolation(rows, pet, rows.some(([who]) => who === 8) ? { 8: 'placed' } : {}, { undoableUntil: until })).toBeUndefined();
  });

  test.each<[string, Row[], string]>([
    ['of an animal that is sold', [added, ['animal', 'available', 'sold'], left('died', 'sold')], 'an animal that is sold gets an outcome'],
    ['while an order is open', [added, ...placed(8), left('died', 'pending')], 'the animal changes to removed while order 8 is open'],
    ['without a type', [added, ['animal', 'available', 'removed', undefined, { kind: 'pet_outcome' }]], 'there is no outcome nothing'],
    ['of an unknown type', [added, left('sold')], 'there is no outcome sold'],
    ['undone twice', [added, left(), undone(), undone()], 'the animal changes from removed to pending, but its status was pending'],
    ['undone as available', [added, left(), undone(0, 'available')], 'an outcome is undone from removed to available'],
    ['undone after two months', [added, left(), undone(60)], 'an outcome is undone 59 days after it was recorded'],
    ['undone after a removal', [added, ['animal', 'available', 'removed'], undone()], 'an outcome is undone, but the animal had none'],
  ])('%s is a violation', (_, rows, words) => {
    expect(findViolation(rows, 'removed')).toContain(words);
  });

  test('that can be undone, of an animal that has none, is a violation', () => {
    expect(findViolation([added, ['animal', 'available', 'removed']], 'removed', {}, { undoableUntil })).toContain(
      'its history does not end with one',
    );
  });
});

describe('A hold', () => {
  test.each<[string, Row[], string, Record<number, string>]>([
    ['begins and ends', [added, held('available'), ended('pending', 'available')], 'available', {}],
    [
      'of an animal that was pending leaves it so',
      [['animal', null, 'pending'], held('pending'), ended('pending', 'pending')],
      'pending',
      {},
    ],
    ['is changed', [added, held('available'), held('pending'), ended('pending', 'available')], 'available', {}],
    [
      'outlasts an order',
      [added, ...placed(1), held('pending'), ...withheld(1), ended('pending', 'available')],
      'available',
      { 1: 'cancelled' },
    ],
    [
      'ends before its order',
      [added, ...placed(1), held('pending'), ended('pending', 'pending'), ...cancelled(1)],
      'available',
      { 1: 'cancelled' },
    ],
    [
      'lets staff choose an adopter, who withdraws',
      [added, held('available'), ...accepted(1), ...withheld(1, 'approved'), ended('pending', 'available')],
      'available',
      { 1: 'cancelled' },
    ],
    ['ends with the sale', [added, held('available'), ...accepted(1), ...completed(1), ended('sold', 'sold')], 'sold', { 1: 'completed' }],
    ['ends with the removal', [added, held('available'), ['animal', 'pending', 'removed']], 'removed', {}],
    [
      'is over before the worker has ended it',
      [added, ...placed(1), held('pending', time(0)), ...cancelled(1), ended('available', 'available')],
      'available',
      { 1: 'cancelled' },
    ],
  ])('that %s is no violation', (_, rows, pet, orders) => {
    expect(findViolation(rows, pet, orders)).toBeUndefined();
  });

  test.each<[string, Row[], string, Partial<VerifiedPet>, string]>([
    [
      'lets go of its animal',
      [added, ...placed(1), held('pending'), ...cancelled(1)],
      'available',
      {},
      'became available while it was held',
    ],
    [
      'has until tomorrow and lets go of it',
      [added, ...placed(1), held('pending', time(1_440)), ...cancelled(1)],
      'available',
      {},
      'became available while it was held',
    ],
    ['ends, and the animal stays pending', [added, held('available'), ended('pending', 'pending')], 'pending', {}, 'instead of available'],
    [
      'ends while an order is open',
      [added, ...placed(1), held('pending'), ended('pending', 'available')],
      'available',
      {},
      'while order 1 is open',
    ],
    ['was none', [added, ended('available', 'available')], 'available', {}, 'was not held'],
    ['is of a sold animal', [['animal', null, 'sold'], held('sold')], 'pending', {}, 'the animal is held, and changes from sold'],
    ['is only in the row', [added], 'available', { holdReason: 'stray', holdReleases: true }, 'it is not held, but it is held (stray)'],
    ['is only in the history', [added, held('available')], 'pending', {}, 'it is held (medical), but it is not held'],
    [
      'will not let go',
      [added, held('available')],
      'pending',
      { holdReason: 'medical', holdReleases: false },
      'becomes available when its hold ends, but its row says otherwise',
    ],
  ])('that %s is a violation', (_, rows, pet, hold, violation) => {
    expect(findViolation(rows, pet, {}, hold)).toContain(violation);
  });

  test('that is another in the row is a violation', () => {
    expect(findViolation([added, held('available')], 'pending', {}, { holdReason: 'medical', holdReleases: true })).toBeUndefined();
    expect(findViolation([added, held('available')], 'pending', {}, { holdReason: 'trial', holdReleases: true })).toContain('held (trial)');
  });
});
