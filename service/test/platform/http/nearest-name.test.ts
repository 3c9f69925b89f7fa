import { describe, expect, test } from 'vitest';
import { nearestName } from '../../../src/platform/http/nearest-name.ts';

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
    ['cats'.repeat(20), undefined],
  ])('of %s is %s', (name, nearest) => {
    expect(nearestName(name, known)).toBe(nearest);
  });
});
