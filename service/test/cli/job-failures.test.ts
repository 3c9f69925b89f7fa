import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { JobFailures } from '../../src/operations/telemetry/job-tally.ts';

let lines: unknown[][];
let failures: JobFailures;
beforeEach(() => {
  vi.useFakeTimers();
  lines = [];
  const log = { error: (...line: unknown[]) => lines.push(line), info: (...line: unknown[]) => lines.push(line) };
  failures = new JobFailures(log as never);
});
afterEach(() => vi.useRealTimers());

const quietMs = 10_000;
const failFor = (job: string, seconds: number) => {
  for (let second = 0; second < seconds; second += 1) {
    for (let i = 0; i < 20; i += 1) failures.failed(job, 'down');
    vi.advanceTimersByTime(1_000);
  }
};

test('An outage of two minutes, with 20 failures a second, is two lines and one at its end', () => {
  failFor('publish-events', 120);
  vi.advanceTimersByTime(quietMs);
  failures.succeeded('publish-events');
  failures.succeeded('publish-events');
  expect(lines).toEqual([
    [{ err: 'down', job: 'publish-events', failures: 1 }, 'job failed'],
    [{ err: 'down', job: 'publish-events', failures: 1_201 }, 'job failed'],
    [{ job: 'publish-events', failures: 2_400 }, 'job works again'],
  ]);
});

test('Each job has lines of its own, and fails anew after it worked', () => {
  failures.failed('publish-events', 'down');
  failures.failed('expire-orders', 'down');
  vi.advanceTimersByTime(quietMs);
  failures.succeeded('publish-events');
  failures.failed('publish-events', 'down');
  expect(lines.map(([fields]) => (fields as { job: string }).job)).toEqual([
    'publish-events',
    'expire-orders',
    'publish-events',
    'publish-events',
  ]);
});

test('A job that fails in some of its runs is one line, until it has not failed for a while', () => {
  for (let i = 0; i < 10; i += 1) {
    failures.failed('deliver-webhooks', 'down');
    vi.advanceTimersByTime(3_000);
    failures.succeeded('deliver-webhooks');
  }
  expect(lines).toEqual([[{ err: 'down', job: 'deliver-webhooks', failures: 1 }, 'job failed']]);
  vi.advanceTimersByTime(quietMs);
  failures.succeeded('deliver-webhooks');
  expect(lines.at(-1)).toEqual([{ job: 'deliver-webhooks', failures: 10 }, 'job works again']);
});
