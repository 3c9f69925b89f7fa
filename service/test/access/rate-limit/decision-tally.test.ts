import { expect, test } from 'vitest';
import { DecisionTally } from '../../../src/access/rate-limit/limiter.ts';
import { addressQuotas, quotaOf, type Verdict } from '../../../src/access/rate-limit/plans.ts';

const nowMs = 1_800_000_000_000;
const admitted: Verdict = {
  outcome: 'admitted',
  nowMs,
  minute: 1,
  inMinute: 1,
  day: 1,
  inDay: 1,
  strikes: 0,
  bannedUntilMs: 0,
  banLevel: 0,
};
const free = quotaOf({ plan: 'free', perMinute: null, perDay: null });
const custom = quotaOf({ plan: 'enterprise', perMinute: 60, perDay: 1_000 });

const counted = (tally: DecisionTally) =>
  [...tally].filter(({ count }) => count > 0).map(({ plan, outcome, by, count }) => `${plan} ${outcome} ${by} ${count}`);

test('Decisions are counted by plan, also those of custom limits that equal a plan, and reads are not', () => {
  const tally = new DecisionTally();
  tally.count({ subject: 'c1', quota: free, cost: 1 }, admitted, 'redis');
  tally.count({ subject: 'c2', quota: custom, cost: 1 }, { ...admitted, outcome: 'day' }, 'redis');
  tally.count({ subject: 'c2', quota: custom, cost: 1 }, { ...admitted, outcome: 'day' }, 'redis');
  tally.count({ subject: 'a192.0.2.1', quota: addressQuotas.api, cost: 1 }, { ...admitted, outcome: 'minute' }, 'process');
  tally.count({ subject: 'a192.0.2.1', quota: addressQuotas.api, cost: 0 }, admitted, 'redis');
  expect(counted(tally)).toEqual(['free admitted redis 1', 'enterprise day redis 2', 'none minute process 1']);
});

test('A ban is counted when it begins, and not when it is only learned of', () => {
  const tally = new DecisionTally();
  tally.noteBan({ ...admitted, outcome: 'banned', bannedUntilMs: nowMs + 5 * 60_000, banLevel: 2 });
  expect(tally.bansStarted).toBe(1);
  tally.noteBan({ ...admitted, outcome: 'banned', bannedUntilMs: nowMs + 4 * 60_000, banLevel: 2 });
  expect(tally.bansStarted).toBe(1);
});
