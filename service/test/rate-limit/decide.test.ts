import { describe, expect, test } from 'vitest';
import { countsAt, dayMs, decide, minuteMs } from '../../src/rate-limit/decide.ts';

const noon = Date.parse('2026-12-01T12:00:00Z');
const minute = noon / minuteMs;
const day = Math.floor(noon / dayMs);
const counts = (inMinute: number, inDay: number) => ({ minute, inMinute, day, inDay });

describe('countsAt', () => {
  test('without anything known is nothing, in the windows of the instant', () => {
    expect(countsAt(noon, undefined)).toEqual(counts(0, 0));
  });

  test('in the last millisecond of the minute still has what is known', () => {
    expect(countsAt(noon + minuteMs - 1, counts(5, 50))).toEqual(counts(5, 50));
  });

  test('in the next minute has the day alone', () => {
    expect(countsAt(noon + minuteMs, counts(5, 50))).toEqual({ ...counts(0, 50), minute: minute + 1 });
  });

  test('in the next day has nothing', () => {
    expect(countsAt((day + 1) * dayMs, counts(5, 50))).toEqual({ minute: (day + 1) * 1_440, inMinute: 0, day: day + 1, inDay: 0 });
  });

  test('before the windows that are known has theirs: a window never goes back', () => {
    expect(countsAt(noon - dayMs, counts(5, 50))).toEqual(counts(5, 50));
  });
});

describe('decide', () => {
  const quota = { perMinute: 5, perDay: 50 };

  test('admits what fits both windows, and counts it in both', () => {
    expect(decide(counts(4, 49), quota, 1)).toEqual({ outcome: 'admitted', counts: counts(5, 50) });
  });

  test('refuses by the minute and counts nothing', () => {
    expect(decide(counts(5, 5), quota, 1)).toEqual({ outcome: 'minute', counts: counts(5, 5) });
  });

  test('refuses by the day and counts nothing', () => {
    expect(decide(counts(0, 50), quota, 1)).toEqual({ outcome: 'day', counts: counts(0, 50) });
  });

  test('refuses by the day where both windows are used up: it is the one that lasts', () => {
    expect(decide(counts(5, 50), quota, 1).outcome).toBe('day');
  });

  test('refuses where more is used than allowed, as after a smaller plan', () => {
    expect(decide(counts(9, 9), quota, 1).outcome).toBe('minute');
  });

  test('only looks at a cost of 0, and counts nothing', () => {
    expect(decide(counts(5, 50), quota, 0)).toEqual({ outcome: 'admitted', counts: counts(5, 50) });
  });

  test('knows no day where there is none', () => {
    expect(decide(counts(0, 1_000_000), { perMinute: 5, perDay: undefined }, 1).outcome).toBe('admitted');
  });
});
