import { expect, test } from 'vitest';
import { contrastOf, faultOfColour } from '../../src/domain/site-colours.ts';

test('a contrast is that of WCAG 2.2, whichever colour comes first', () => {
  expect(contrastOf('#000000', '#ffffff')).toBeCloseTo(21, 5);
  expect(contrastOf('#ffffff', '#000000')).toBeCloseTo(21, 5);
  expect(contrastOf('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  expect(contrastOf('#A8431A', '#a8431a')).toBe(1);
});

test.each([
  ['accentLight', '#a83f1f', 'nothing'],
  ['accentLight', '#f4a27e', 'Choose a darker one.'],
  ['accentDark', '#f4a27e', 'nothing'],
  ['accentDark', '#a83f1f', 'Choose a lighter one.'],
] as const)('%s of %s: %s', (name, colour, fault) => {
  expect(faultOfColour(name, colour) ?? 'nothing').toContain(fault);
});
