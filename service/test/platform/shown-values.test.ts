import { expect, test } from 'vitest';
import { show } from '../../src/platform/errors.ts';

test.each([0, 1])('show cuts a long value between characters, and never within one', (offset) => {
  const shown = show(`${'x'.repeat(offset)}${'😀'.repeat(100)}`);
  expect(shown.isWellFormed()).toBe(true);
  expect(shown).toMatch(/^"x?😀+…$/u);
});
