import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { DecisionTally } from '../../../src/access/rate-limit/limiter.ts';
import { LocalLimiter } from '../../../src/access/rate-limit/local-limiter.ts';
import { type Charge, minuteMs, type Quota } from '../../../src/access/rate-limit/plans.ts';
import { type LimiterDecision, RedisLimiter } from '../../../src/access/rate-limit/redis-limiter.ts';
import { RedisLink, redisKeysOf } from '../../../src/platform/redis/redis-link.ts';
import { ManualClock } from '../../manual-clock.ts';

const clock = new ManualClock('2026-12-01T12:00:00Z');
const redisKeys = redisKeysOf(`limiter-${process.pid}-${Date.now()}`);
const epoch = 'epoch';
/** On a busy machine Redis must not be late: then limits are not exact. */
const link = new RedisLink(inject('redisUrl'), '', 2_000);
beforeAll(() => link.open(1_000));
afterAll(() => link.close());
const startMinute = () => clock.advance(minuteMs - (clock.now() % minuteMs));
beforeEach(startMinute);

/** The limiter of one process. */
class Process {
  readonly local = new LocalLimiter(clock);
  readonly #limiter = new RedisLimiter({
    link,
    redisKeys,
    local: this.local,
    tally: new DecisionTally(),
    clock,
    versionOf: () => undefined,
    tracing: undefined,
    onLost: (pending) => pending.reject(new Error('Redis was late')),
  });

  send(charge: Charge): Promise<LimiterDecision> {
    return new Promise((resolve, reject) => this.#limiter.decide({ charge, resolve, reject }));
  }

  /** Sends requests at once, and returns the number of those that were admitted. */
  async sendMany(charge: Charge, count: number): Promise<number> {
    const decisions = await Promise.all(Array.from({ length: count }, () => this.send(charge)));
    return decisions.filter((decision) => verdictOf(decision).outcome === 'admitted').length;
  }
}

const verdictOf = (decision: LimiterDecision) => {
  if (!('verdict' in decision)) throw new Error(`stale: ${JSON.stringify(decision)}`);
  return decision.verdict;
};

let clients = 0;
/** The charge of a key of a new client, under the current epoch. */
async function newClient(quota: Quota): Promise<Charge> {
  const subject = `c${++clients}`;
  await link.client.set(redisKeys.epoch(subject), epoch);
  return { subject, quota, cost: 1, key: { id: 1n, epoch } };
}

/** Another key of the client for each call, so that none is banned for the requests that are rejected. */
const withKey = (charge: Charge, id: number): Charge => ({ ...charge, key: { id: BigInt(id), epoch } });
const countsOf = ({ subject }: Charge) => link.client.get(redisKeys.counts(subject));
const sum = (counts: Iterable<number>) => [...counts].reduce((total, count) => total + count, 0);

describe('Several processes', () => {
  test('count the requests of a busy client one by one, in the order in which Redis decides them', async () => {
    const [one, two, charge] = [new Process(), new Process(), await newClient({ perMinute: 640, perDay: 100_000 })];
    const decisions: LimiterDecision[] = [];
    for (let i = 0; i < 32; i += 1) {
      decisions.push(...(await Promise.all(Array.from({ length: 16 }, () => one.send(charge)))), await two.send(charge));
    }
    expect(decisions.map((decision) => verdictOf(decision).inMinute)).toEqual(decisions.map((_, i) => i + 1));
  });

  test('admit exactly the limit in each window while demand is one and a half times that', async () => {
    for (let window = 0; window < 3; window += 1) expect(await admittedInWindow()).toBe(1_000);
  });

  async function admittedInWindow(): Promise<number> {
    startMinute();
    const processes = Array.from({ length: 8 }, () => new Process());
    const charge = await newClient({ perMinute: 1_000, perDay: 100_000 });
    let admitted = 0;
    for (let burst = 0; burst < 40; burst += 1) {
      admitted += sum(await Promise.all(processes.map((one, i) => one.sendMany(withKey(charge, burst % 16), (i % 3) + 4))));
      clock.advance(1_400);
    }
    return admitted;
  }

  test('admit each request within the limits and no other, whatever the order of requests and pauses', async () => {
    const step = fc.record({
      process: fc.nat(2),
      count: fc.integer({ min: 1, max: 60 }),
      pauseMs: fc.constantFrom(0, 0, 400, 2_400, 10_020),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        startMinute();
        const processes = [new Process(), new Process(), new Process()];
        const quota = { perMinute: 300, perDay: 500 };
        const charge = await newClient(quota);
        const byMinute = new Map<number, number>();
        for (const [index, { process, count, pauseMs }] of steps.entries()) {
          const minute = Math.floor(clock.now() / minuteMs);
          const inMinute = byMinute.get(minute) ?? 0;
          const admitted = await (processes[process] as Process).sendMany(withKey(charge, index), count);
          expect(admitted).toBe(Math.min(count, quota.perMinute - inMinute, quota.perDay - sum(byMinute.values())));
          byMinute.set(minute, inMinute + admitted);
          clock.advance(pauseMs);
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe('A key', () => {
  test('that was cached under an earlier epoch is stale, and nothing is counted', async () => {
    const [one, charge] = [new Process(), await newClient({ perMinute: 10, perDay: 100 })];
    await one.send(charge);
    expect(await one.send({ ...charge, key: { id: 2n, epoch: 'earlier' } })).toEqual({ by: 'redis', stale: { epoch } });
    expect(await countsOf(charge)).toMatch(/^\d+ 1 \d+ 1$/);
  });

  test("that a process of an earlier release has banned is banned, and its client's other keys are not", async () => {
    const [one, charge] = [new Process(), await newClient({ perMinute: 10, perDay: 100 })];
    const ends = clock.now() + minuteMs;
    await link.client.set(redisKeys.banState(`${charge.subject}:2`), `0 0 0 0 ${ends} 1 ${ends}`);
    expect(verdictOf(await one.send(withKey(charge, 2))).outcome).toBe('banned');
    expect(verdictOf(await one.send(charge)).outcome).toBe('admitted');
    expect(verdictOf(await one.send(withKey(charge, 2))).outcome).toBe('banned');
  });
});

describe('A Redis that was emptied', () => {
  const quota = { perMinute: 3, perDay: 100 };

  test('gets the counts from a process that has seen them', async () => {
    const [one, charge] = [new Process(), await newClient(quota)];
    await one.send(charge);
    await link.client.del(redisKeys.counts(charge.subject));
    await one.send(charge);
    expect(verdictOf(await new Process().send(charge)).inMinute).toBe(3);
  });

  test('gets them with a request that is rejected too: the other processes admit none', async () => {
    const [one, charge] = [new Process(), await newClient(quota)];
    expect(await one.sendMany(charge, 3)).toBe(3);
    await link.client.del(redisKeys.counts(charge.subject));
    expect(verdictOf(await one.send(charge)).outcome).toBe('minute');
    expect(verdictOf(await new Process().send(charge)).outcome).toBe('minute');
  });
});

test('Counts have the form of release 1.0.0, whose processes may run beside this one', async () => {
  const [one, charge] = [new Process(), await newClient({ perMinute: 10, perDay: 100 })];
  const [minute, day] = [Math.floor(clock.now() / minuteMs), Math.floor(clock.now() / (1_440 * minuteMs))];
  await link.client.set(redisKeys.counts(charge.subject), `${minute} 4 ${day} 14`);
  expect(verdictOf(await one.send(charge))).toMatchObject({ inMinute: 5, inDay: 15 });
  expect(await countsOf(charge)).toBe(`${minute} 5 ${day} 15`);
});

test('A process owes what it admits without Redis', async () => {
  const [one, charge] = [new Process(), await newClient({ perMinute: 5, perDay: 100 })];
  await one.sendMany(charge, 2);
  for (let i = 0; i < 4; i += 1) one.local.consume(charge);
  expect(one.local.takeDebts()).toMatchObject([{ seen: { inMinute: 2, inDay: 2 }, owed: { inMinute: 3, inDay: 3 } }]);
});
