import { describe, expect, test } from 'vitest';
import { banLengthsMinutes, quotaOf, strikesUntilBan } from '../../../src/access/rate-limit/plans.ts';

describe('quotaOf', () => {
  test.each([
    ['free', 60, 1_000],
    ['pro', 300, 10_000],
    ['business', 1_000, 100_000],
  ] as const)('%s is %i a minute and %i a day', (plan, perMinute, perDay) => {
    expect(quotaOf({ plan, perMinute: null, perDay: null })).toEqual({ perMinute, perDay });
  });

  test("enterprise is the client's own", () => {
    expect(quotaOf({ plan: 'enterprise', perMinute: 7, perDay: 70 })).toEqual({ perMinute: 7, perDay: 70 });
  });

  test.each([
    [null, null],
    [1, null],
    [null, 1],
  ])('enterprise with %s a minute and %s a day throws: no client is unlimited', (perMinute, perDay) => {
    expect(() => quotaOf({ plan: 'enterprise', perMinute, perDay })).toThrow('an enterprise client without limits');
  });
});

describe('strikesUntilBan', () => {
  test.each([
    [1, 30],
    [30, 30],
    [31, 31],
    [1_000, 1_000],
  ])('with %i requests a minute is %i', (perMinute, strikes) => {
    expect(strikesUntilBan({ perMinute, perDay: undefined })).toBe(strikes);
  });
});

describe('banLengthsMinutes', () => {
  test('are 1, 5, 15 and 60', () => {
    expect(banLengthsMinutes).toEqual([1, 5, 15, 60]);
  });
});
