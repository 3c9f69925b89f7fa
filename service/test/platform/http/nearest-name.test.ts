import { describe, expect, test } from 'vitest';
import { indexUsual, nearestName } from '../../../src/platform/http/advice/nearest-name.ts';

const known = ['children', 'dogs', 'cats', 'colors', 'weightGrams'];

describe('The nearest name', () => {
  test.each([
    ['cat', 'cats'],
    ['CATS', 'cats'],
    ['colour', 'colors'],
    ['child', 'children'],
    ['weight_grams', 'weightGrams'],
    ['c', undefined],
    ['horses', undefined],
    ['', undefined],
    ['_', undefined],
    ['cast', 'cats'],
    ['Weight-Grams[]', 'weightGrams'],
    ['filter[cats]', 'cats'],
    ['weihgtGarms', 'weightGrams'],
    ['wieghtGarsm', undefined],
    ['cats'.repeat(20), undefined],
  ])('of %s is %s', (name, nearest) => {
    expect(nearestName(name, known)).toBe(nearest);
  });

  test('is what other APIs call it, unless that is one of the names itself', () => {
    const usual = indexUsual({ children: { usual: ['kids', 'young_ones'] }, dogs: { usual: ['cats'] }, horses: { usual: ['ponies'] } });
    expect(['kids', 'youngOnes', 'cats', 'ponies'].map((name) => nearestName(name, known, usual))).toEqual([
      'children',
      'children',
      'cats',
      undefined,
    ]);
  });
});
