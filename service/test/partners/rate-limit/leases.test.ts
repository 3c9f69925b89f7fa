import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { liftBan } from '../../../src/partners/rate-limit/bans.ts';
import { type Charge, minuteMs } from '../../../src/partners/rate-limit/decide.ts';
import { DecisionTally } from '../../../src/partners/rate-limit/decision-tally.ts';
import { LocalLimiter } from '../../../src/partners/rate-limit/local-limiter.ts';
import type { Quota } from '../../../src/partners/rate-limit/plans.ts';
import { type LimiterDecision, RedisLimiter } from '../../../src/partners/rate-limit/redis-limiter.ts';
import { redisKeysOf } from '../../../src/platform/redis/redis-keys.ts';
import { RedisLink } from '../../../src/platform/redis/redis-link.ts';
import { ManualClock } from '../../manual-clock.ts';

const clock = new ManualClock('2026-12-01T12:00:00Z');
const redisKeys = redisKeysOf(`leases-${process.pid}-${Date.now()}`);
const epoch = 'epoch';
/** On a busy machine Redis must not be late: then limits are not exact. */
const link = new RedisLink(inject('redisUrl'), '', 2_000);
beforeAll(() => link.open(1_000));
afterAll(() => link.close());
/** The start of a minute, since a lease ends with its minute. */
beforeEach(() => clock.advance(minuteMs - (clock.now() % minuteMs)));

/** The limiter of one process. */
class Process {
  readonly local = new LocalLimiter(clock);
  readonly limiter = new RedisLimiter({
    link,
    redisKeys,
    local: this.local,
    tally: new DecisionTally(),
    clock,
    versionOf: () => undefined,
    leases: true,
    tracing: undefined,
    onLost: (pending) => {
      if (!this.decidesAlone) return pending.reject(new Error('Redis was late'));
      const { verdict, isOwed } = this.local.consume(pending.charge);
      pending.isOwed = isOwed;
      pending.resolve({ by: 'process', verdict, listVersion: undefined, hasLooked: false });
    },
  });
  decidesAlone = false;

  send(charge: Charge): Promise<LimiterDecision> {
    return new Promise((resolve, reject) => this.limiter.decide({ charge, resolve, reject }));
  }

  /** Sends requests at once, and returns those that were admitted. */
  async sendMany(charge: Charge, count: number): Promise<number> {
    const decisions = await Promise.all(Array.from({ length: count }, () => this.send(charge)));
    return decisions.filter(isAdmitted).length;
  }
}

const verdictOf = (decision: LimiterDecision) => {
  if (!('verdict' in decision)) throw new Error(`stale: ${JSON.stringify(decision)}`);
  return decision.verdict;
};
const isAdmitted = (decision: LimiterDecision) => verdictOf(decision).outcome === 'admitted';

let clients = 0;
/** The charge of a key of a new client, under the current epoch. */
async function newClient(quota: Quota): Promise<Charge> {
  const subject = `c${++clients}`;
  await link.client.set(redisKeys.epoch(subject), epoch);
  return { subject, quota, cost: 1, key: { id: 1n, epoch } };
}

const countsOf = async ({ subject }: Charge) => (await link.client.get(redisKeys.counts(subject)))?.split(' ').map(Number);
const grantedTo = async (charge: Charge) => (await countsOf(charge))?.[1];

/** The time for leases to end, and to be returned. */
async function endLeases(): Promise<void> {
  clock.advance(600);
  await sleep(250);
}

describe('A lease', () => {
  const quota = { perMinute: 6_400, perDay: 1_000_000 };

  test('is given to a busy client: a 64th of what remains, and the next requests cost no call', async () => {
    const [one, charge] = [new Process(), await newClient(quota)];
    await one.send(charge);
    expect(await grantedTo(charge)).toBe(1);
    await one.send(charge);
    expect(await grantedTo(charge)).toBe(65);
    expect(await one.sendMany(charge, 63)).toBe(63);
    expect(await grantedTo(charge)).toBe(65);
    await one.send(charge);
    expect(await grantedTo(charge)).toBe(129);
  });

  test('is never given for a plan whose 64th is less than two requests', async () => {
    const [one, charge] = [new Process(), await newClient({ perMinute: 127, perDay: 100_000 })];
    await one.sendMany(charge, 20);
    expect(await grantedTo(charge)).toBe(20);
  });

  test('is bounded by what remains of the day', async () => {
    const [one, charge] = [new Process(), await newClient({ perMinute: 6_400, perDay: 200 })];
    await one.send(charge);
    await one.send(charge);
    expect(await grantedTo(charge)).toBe(1 + 3);
  });

  test('is not given to a client whose requests are far apart', async () => {
    const [one, charge] = [new Process(), await newClient(quota)];
    for (let i = 0; i < 3; i += 1) {
      await one.send(charge);
      clock.advance(101);
    }
    expect(await grantedTo(charge)).toBe(3);
  });

  test('serves the requests of a turn that came after the one that asked', async () => {
    const [one, charge] = [new Process(), await newClient(quota)];
    await one.sendMany(charge, 2);
    await one.sendMany(charge, 65);
    const before = await grantedTo(charge);
    // 64 more: of which the first asks, and the others wait for the reply.
    expect(await one.sendMany(charge, 64)).toBe(64);
    expect(await grantedTo(charge)).toBeLessThanOrEqual((before ?? 0) + 128);
  });

  test('counts Remaining down, each value once, for a client of one process', async () => {
    const [one, charge] = [new Process(), await newClient({ perMinute: 640, perDay: 100_000 })];
    const decisions: LimiterDecision[] = [];
    for (let i = 0; i < 641; i += 1) decisions.push(await one.send(charge));
    expect(decisions.filter(isAdmitted)).toHaveLength(640);
    expect(decisions.slice(0, 640).map((decision) => verdictOf(decision).inMinute)).toEqual(Array.from({ length: 640 }, (_, i) => i + 1));
  });

  test('is returned when it ends, and can then be used by another process', async () => {
    const [one, two, charge] = [new Process(), new Process(), await newClient({ perMinute: 640, perDay: 100_000 })];
    await one.sendMany(charge, 2);
    await endLeases();
    expect(await two.sendMany(charge, 700)).toBe(638);
  });

  test('is returned by the next request of the client that asks', async () => {
    const [one, charge] = [new Process(), await newClient(quota)];
    await one.send(charge);
    await one.send(charge);
    clock.advance(501);
    await one.send(charge);
    await one.send(charge);
    const returned = (await link.client.get(redisKeys.returns(charge.subject)))?.split(' ').map(Number);
    expect(returned?.[1]).toBe(63);
  });

  test('ends with its minute; then only the part of the day is returned', async () => {
    const [one, two, charge] = [new Process(), new Process(), await newClient({ perMinute: 640, perDay: 1_280 })];
    clock.advance(minuteMs - 100);
    await one.send(charge);
    await one.send(charge);
    expect(await grantedTo(charge)).toBe(10);
    clock.advance(100);
    const first = verdictOf(await one.send(charge));
    expect(first).toMatchObject({ outcome: 'admitted', inMinute: 1 });
    await endLeases();
    // Of the day, three requests are used.
    expect(verdictOf(await two.send(charge)).inDay).toBe(4);
  });

  test('is not given in the rest of a minute in which a request was rejected', async () => {
    const [one, two, charge] = [new Process(), new Process(), await newClient({ perMinute: 640, perDay: 100_000 })];
    expect(await one.sendMany(charge, 630)).toBe(630);
    await two.sendMany(charge, 20);
    // What was leased is returned, but from now on requests are decided one by one.
    await endLeases();
    const before = (await grantedTo(charge)) ?? 0;
    const admitted = await two.sendMany(charge, 3);
    expect(await grantedTo(charge)).toBe(before + admitted);
  });

  test('serves only keys that were read under its epoch', async () => {
    const [one, charge] = [new Process(), await newClient(quota)];
    await one.sendMany(charge, 3);
    await one.send(charge);
    const other = { ...charge, key: { id: 2n, epoch: 'earlier' } };
    expect(await one.send(other)).toEqual({ by: 'redis', stale: { epoch } });
  });

  test('does not serve a banned key of its client, and serves it again once the ban is lifted', async () => {
    const [one, charge] = [new Process(), await newClient({ perMinute: 200, perDay: 1_000_000 })];
    const banned = { ...charge, key: { id: 2n, epoch } };
    await one.sendMany(banned, 201);
    clock.advance(1_100);
    await one.sendMany(banned, 200);
    // The ban lasts for 60 s, so at the start of the next minute, when the client has its whole quota, the key is still banned.
    clock.advance(minuteMs - (clock.now() % minuteMs));
    await one.send(charge);
    await one.send(charge);
    expect(await grantedTo(charge)).toBe(1 + 3);
    expect(verdictOf(await one.send(banned)).outcome).toBe('banned');
    expect(isAdmitted(await one.send(charge))).toBe(true);
    expect(await grantedTo(charge)).toBe(4);
    await liftBan(link.client, redisKeys, { id: 2n, clientId: BigInt(charge.subject.slice(1)) }, clock.now());
    expect(isAdmitted(await one.send(banned))).toBe(true);
  });

  test('does not serve a key that a process of an earlier release has banned, from its first request on', async () => {
    const [one, charge] = [new Process(), await newClient(quota)];
    const banned = { ...charge, key: { id: 2n, epoch } };
    const ends = clock.now() + minuteMs;
    await link.client.set(redisKeys.banState(`${charge.subject}:2`), `0 0 0 0 ${ends} 1 ${ends}`);
    expect(verdictOf(await one.send(banned)).outcome).toBe('banned');
    await one.send(charge);
    await one.send(charge);
    expect(await grantedTo(charge)).toBeGreaterThan(2);
    expect(verdictOf(await one.send(banned)).outcome).toBe('banned');
    expect(await link.client.zrange(redisKeys.bannedKeys(charge.subject), '0', '-1')).toEqual(['2']);
  });

  test('of the same process is not shown as used to requests that Redis decides meanwhile', async () => {
    const [one, charge] = [new Process(), await newClient(quota)];
    await one.send(charge);
    // The first asks; the others are in the same call.
    const decisions = await Promise.all(Array.from({ length: 10 }, () => one.send(charge)));
    expect(decisions.map((decision) => verdictOf(decision).inMinute)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  test('of another process makes Remaining lower by 64 at most', async () => {
    const [one, two, charge] = [new Process(), new Process(), await newClient(quota)];
    await one.sendMany(charge, 2);
    const { inMinute } = verdictOf(await two.send(charge));
    expect(inMinute).toBeGreaterThanOrEqual(3);
    expect(inMinute).toBeLessThanOrEqual(3 + 63);
  });
});

describe('Several processes with leases', () => {
  const quota = { perMinute: 1_000, perDay: 100_000 };

  test('admit exactly the limit in each window while demand is one and a half times that', async () => {
    for (let window = 0; window < 3; window += 1) expect(await admittedInWindow()).toBe(1_000);
  });

  async function admittedInWindow(): Promise<number> {
    clock.advance(minuteMs - (clock.now() % minuteMs));
    const processes = Array.from({ length: 8 }, () => new Process());
    const charge = await newClient(quota);
    let admitted = 0;
    for (let burst = 0; burst < 40; burst += 1) {
      // By several keys, so that none is banned for the requests that are rejected.
      const key = { id: BigInt(burst % 16), epoch };
      const counts = await Promise.all(processes.map((one, i) => one.sendMany({ ...charge, key }, (i % 3) + 4)));
      admitted += counts.reduce((sum, count) => sum + count, 0);
      clock.advance(1_400);
      // Leases are returned on a timer.
      await sleep(burst % 10 === 9 ? 110 : 0);
    }
    return admitted;
  }

  test('never admit one over the limit, whatever the order of requests and pauses', async () => {
    const step = fc.record({ process: fc.nat(2), count: fc.integer({ min: 1, max: 60 }), pauseMs: fc.constantFrom(0, 0, 20, 120, 501) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        clock.advance(minuteMs - (clock.now() % minuteMs));
        const processes = [new Process(), new Process(), new Process()];
        const small = { perMinute: 300, perDay: 500 };
        const charge = await newClient(small);
        const byMinute = new Map<number, number>();
        for (const { process, count, pauseMs } of steps) {
          const one = processes[process] as Process;
          const decisions = await Promise.all(Array.from({ length: count }, () => one.send(charge)));
          for (const decision of decisions.filter(isAdmitted)) {
            const { minute } = verdictOf(decision);
            byMinute.set(minute, (byMinute.get(minute) ?? 0) + 1);
          }
          clock.advance(pauseMs * 20);
        }
        const counts = [...byMinute.values()];
        expect(Math.max(...counts)).toBeLessThanOrEqual(300);
        expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(500);
      }),
      { numRuns: 40 },
    );
  });
});

describe('A Redis that was emptied', () => {
  const quota = { perMinute: 6_400, perDay: 1_000_000 };

  async function empty({ subject }: Charge): Promise<void> {
    await link.client.del(redisKeys.counts(subject), redisKeys.returns(subject));
  }

  test('gets both what was granted and what was returned from a process that has seen it', async () => {
    const [one, two, charge] = [new Process(), new Process(), await newClient(quota)];
    await one.sendMany(charge, 2);
    await endLeases();
    await empty(charge);
    const decisions = await Promise.all([one.send(charge), one.send(charge)]);
    expect(decisions.map((decision) => verdictOf(decision).inMinute)).toEqual([3, 4]);
    await endLeases();
    expect(verdictOf(await two.send(charge)).inMinute).toBe(5);
  });

  test('does not take a return without the counts that it was returned of', async () => {
    const [one, two, charge] = [new Process(), new Process(), await newClient(quota)];
    await one.sendMany(charge, 2);
    await empty(charge);
    await endLeases();
    expect(verdictOf(await two.send(charge)).inMinute).toBe(3);
  });
});

describe('Without Redis', () => {
  test('a process uses up its lease, and owes only what it admits beyond that', async () => {
    const [one, charge] = [new Process(), await newClient({ perMinute: 6_400, perDay: 1_000_000 })];
    await one.send(charge);
    await one.send(charge);
    for (let i = 0; i < 70; i += 1) one.local.consume(charge);
    expect(one.local.takeDebts()).toMatchObject([{ owed: { inMinute: 7, inDay: 7 } }]);
  });

  test('a request that a lease had decided is paid by the lease again', async () => {
    const [one, charge] = [new Process(), await newClient({ perMinute: 6_400, perDay: 1_000_000 })];
    await one.send(charge);
    await one.send(charge);
    one.decidesAlone = true;
    const mget = vi.spyOn(link.client, 'mget').mockImplementation(() => new Promise(() => {}));
    const decision = await one.send(charge);
    mget.mockRestore();
    expect(decision).toMatchObject({ by: 'process', verdict: { outcome: 'admitted', inMinute: 3 } });
    expect(one.local.takeDebts()).toEqual([]);
  });
});
