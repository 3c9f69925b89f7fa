import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  bitsOfAll,
  everything,
  hasBits,
  readShownChanges,
  readTermSet,
  type ShownChange,
  termSetOf,
  writeShownChange,
  writeTermSet,
} from '../../../src/animals/list-cache/shown-changes.ts';
import { petStatuses } from '../../../src/domain/pet-statuses.ts';

const id = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n });
const degrees = (max: number) => fc.double({ min: -max, max, noNaN: true }).map((value) => value + 0);
const change: fc.Arbitrary<ShownChange> = fc.oneof(
  fc.record({ of: fc.constant('photos' as const), petId: id }),
  fc.record({ of: fc.constant('shelter' as const), shelterId: id, isMoved: fc.boolean() }),
  fc.record({
    of: fc.constant('animal' as const),
    petId: id,
    state: fc.record({ categoryId: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), status: fc.constantFrom(...petStatuses) }),
    place: fc.oneof(fc.constant(undefined), fc.constant(null), fc.record({ latitude: degrees(90), longitude: degrees(180) })),
    terms: fc.option(fc.array(fc.string()).map(termSetOf), { nil: undefined }),
  }),
);

describe('Changes of what only listings show, as text,', () => {
  test('are read as they were written', () => {
    fc.assert(
      fc.property(fc.array(change), (changes) => {
        expect(readShownChanges(changes.map(writeShownChange).join(' '))).toEqual(changes);
      }),
    );
  });

  test('have 500 characters at most, however long the text of an animal is', () => {
    const terms = termSetOf(Array.from({ length: 10_000 }, (_, i) => `word${i}`));
    const state = { categoryId: -(2n ** 63n), status: 'available' } as const;
    const place = { latitude: -12.345678901234567, longitude: -123.45678901234567 };
    expect(writeShownChange({ of: 'animal', petId: 2n ** 63n - 1n, state, place, terms }).length).toBeLessThanOrEqual(500);
  });

  test.each([
    '*',
    'photos:x',
    'photos:1:2',
    'shelter:1',
    'shelter:1:gone',
    'animal:1:1/lost::',
    'animal:1:::',
    'animal:1:1/sold:1:',
    'animal:1:1/sold::abc',
    'photos:1 later:2',
  ])('count as everything if a later release has written them: %s', (text) => expect(readShownChanges(text)).toBe(everything));
});

describe('A set of terms', () => {
  test('has all that was added, also when it was written and read', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.array(fc.nat(9)), (terms, indexes) => {
        const set = readTermSet(writeTermSet(termSetOf(terms)));
        const some = indexes.flatMap((index) => terms[index] ?? []);
        expect(set && hasBits(set, bitsOfAll(some))).toBe(true);
      }),
    );
  });

  test('of a description of 150 words seems to have few others', () => {
    const set = termSetOf(Array.from({ length: 150 }, (_, i) => `word${i}`));
    const others = Array.from({ length: 1_000 }, (_, i) => `other${i}`).filter((term) => hasBits(set, bitsOfAll([term])));
    expect(others.length).toBeLessThan(30);
  });
});
