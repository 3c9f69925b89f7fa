import { expect, test } from 'vitest';
import { attemptsMax, retryDelaySeconds } from '../../../src/changes/delivery/results.ts';

const delays = (random: number) => Array.from({ length: attemptsMax - 1 }, (_, i) => retryDelaySeconds(i + 1, random) ?? Number.NaN);

test('ten attempts over about 75 hours, the first retry after 5 s', () => {
  expect(delays(0.5)).toEqual([5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]);
  const hours = delays(0.5).reduce((sum, delay) => sum + delay) / 3_600;
  expect(hours).toBeGreaterThan(75);
  expect(hours).toBeLessThan(76);
});

test('each delay is up to a tenth shorter or longer', () => {
  expect(delays(0)[1]).toBeCloseTo(270);
  expect(delays(1)[1]).toBeCloseTo(330);
});

test('there is no attempt after the last', () => {
  expect(retryDelaySeconds(attemptsMax, 0.5)).toBeUndefined();
});
