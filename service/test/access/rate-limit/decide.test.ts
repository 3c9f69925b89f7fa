import { describe, expect, test } from 'vitest';
import { countsAt, dayMs, decide, minuteMs } from '../../../src/access/rate-limit/plans.ts';

const noon = Date.parse('2026-12-01T12:00:00Z');
const minute = noon / minuteMs;
const day = Math.floor(noon / dayMs);
const counts = (inMinute: number, inDay: number) => ({ minute, inMinute, day, inDay });

describe('countsAt', () => {
  test('without known counts is 0, in the current windows', () => {
    expect(countsAt(noon, undefined)).toEqual(counts(0, 0));
  });

  test('in the last millisecond of the minute still has the known counts', () => {
    expect(countsAt(noon + minuteMs - 1, counts(5, 50))).toEqual(counts(5, 50));
  });

  test('in the next minute has only the count of the day', () => {
    expect(countsAt(noon + minuteMs, counts(5, 50))).toEqual({ ...counts(0, 50), minute: minute + 1 });
  });

  test('in the next day is 0', () => {
    expect(countsAt((day + 1) * dayMs, counts(5, 50))).toEqual({ minute: (day + 1) * 1_440, inMinute: 0, day: day + 1, inDay: 0 });
  });

  test('before the known windows has the known windows: a window never goes back', () => {
    expect(countsAt(noon - dayMs, counts(5, 50))).toEqual(counts(5, 50));
  });
});

describe('decide', () => {
  const quota = { perMinute: 5, perDay: 50 };

  test('admits a request that fits both windows, and counts it in both', () => {
    expect(decide(counts(4, 49), quota, 1)).toEqual({ outcome: 'admitted', counts: counts(5, 50) });
  });

  test('rejects by the minute and counts nothing', () => {
    expect(decide(counts(5, 5), quota, 1)).toEqual({ outcome: 'minute', counts: counts(5, 5) });
  });

  test('rejects by the day and counts nothing', () => {
    expect(decide(counts(0, 50), quota, 1)).toEqual({ outcome: 'day', counts: counts(0, 50) });
  });

  test('rejects by the day if both windows are exhausted: the day lasts longer', () => {
    expect(decide(counts(5, 50), quota, 1).outcome).toBe('day');
  });

  test('rejects if more is used than allowed, as after a change to a smaller plan', () => {
    expect(decide(counts(9, 9), quota, 1).outcome).toBe('minute');
  });

  test('admits a cost of 0 and counts nothing', () => {
    expect(decide(counts(5, 50), quota, 0)).toEqual({ outcome: 'admitted', counts: counts(5, 50) });
  });

  test('ignores the count of the day without a limit per day', () => {
    expect(decide(counts(0, 1_000_000), { perMinute: 5, perDay: undefined }, 1).outcome).toBe('admitted');
  });
});
