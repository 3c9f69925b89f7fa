import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { int64Max, int64Min, parseInt64 } from '../../../src/platform/db/int64.ts';

describe('parseInt64', () => {
  test('parses every int64 exactly', () => {
    const anyInt64 = fc.bigInt({ min: int64Min, max: int64Max });
    const isRead = fc.property(anyInt64, (value) => {
      expect(parseInt64(String(value))).toBe(value);
    });
    fc.assert(isRead);
  });

  test.each(['-9223372036854775808', '9223372036854775807', '0', '-1'])('parses %s', (text) => {
    expect(parseInt64(text)).toBe(BigInt(text));
  });

  test.each([
    '',
    '-',
    '01',
    '+1',
    '1.0',
    '1e3',
    ' 1',
    '1 ',
    '1\n',
    '0x1',
    '１',
    '9223372036854775808',
    '-9223372036854775809',
    '9'.repeat(50),
  ])('of %j is undefined', (text) => {
    expect(parseInt64(text)).toBeUndefined();
  });
});
