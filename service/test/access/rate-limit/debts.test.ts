// What a process admits without Redis is told to Redis afterwards, once.
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { Limiter } from '../../../src/access/rate-limit/limiter.ts';
import { minuteMs } from '../../../src/access/rate-limit/plans.ts';
import type { LimiterDecision, VersionOf } from '../../../src/access/rate-limit/redis-limiter.ts';
import { RedisLink, redisKeysOf } from '../../../src/platform/redis/redis-link.ts';
import { ManualClock } from '../../manual-clock.ts';

type Consume = (...args: unknown[]) => Promise<string>;

const clock = new ManualClock('2026-12-01T12:00:00Z');
const redisKeys = redisKeysOf(`debts-${process.pid}-${Date.now()}`);
const epoch = 'epoch';
let link: RedisLink;
let clients = 0;

beforeEach(async () => {
  clock.advance(minuteMs);
  link = new RedisLink(inject('redisUrl'));
  await link.open(1_000);
});
afterEach(() => link.close());

function openLimiter(versionOf: VersionOf = () => undefined): Limiter {
  return new Limiter({ link, redisKeys, clock, versionOf, tracing: undefined, look: async () => undefined, onLocalDecision: () => {} });
}

async function newCharge(perMinute: number) {
  const subject = `c${++clients}`;
  await link.client.set(redisKeys.epoch(subject), epoch);
  return { subject, quota: { perMinute, perDay: 1_000 }, cost: 1, key: { id: 1n, epoch } } as const;
}

/** In place of the calls that the limiter sends from now on. */
function interceptCalls(intercept: (send: () => Promise<string>) => Promise<string>): void {
  const client = link.client as unknown as { consume: Consume };
  const consume = client.consume.bind(client);
  client.consume = (...args) => intercept(() => consume(...args));
}

const outcomeOf = (decision: LimiterDecision) => ('verdict' in decision ? `${decision.verdict.outcome} by ${decision.by}` : 'stale');

test('requests whose replies come late are not counted again, also if there are several', async () => {
  const [limiter, charge] = [openLimiter(), await newCharge(10)];
  const late = Promise.withResolvers<void>();
  interceptCalls(async (send) => {
    const reply = await send();
    await late.promise;
    return reply;
  });
  const first = limiter.consume(charge);
  await endOfTurn();
  await endOfTurn();
  const second = limiter.consume(charge);
  expect(outcomeOf(await first)).toBe('admitted by process');
  expect(outcomeOf(await second)).toBe('admitted by process');
  late.resolve();
  await endOfTurn();
  // Whatever the late replies have led to was sent before this.
  expect(await link.client.get(redisKeys.counts(charge.subject))).toMatch(/^\d+ 2 \d+ 2$/);
});

test('a debt that is lost with the connection is sent again', async () => {
  const [limiter, charge] = [openLimiter(), await newCharge(10)];
  let lost = 0;
  // The first call is that of the request, the second that of its debt.
  interceptCalls(async (send) => {
    lost += 1;
    if (lost <= 2) throw new Error('Connection is closed.');
    return send();
  });
  expect(outcomeOf(await limiter.consume(charge))).toBe('admitted by process');
  await expect.poll(() => link.client.get(redisKeys.counts(charge.subject)), { timeout: 3_000 }).toMatch(/^\d+ 1 \d+ 1$/);
});

test('a debt is not counted by the next call as well', async () => {
  const [limiter, charge] = [openLimiter(), await newCharge(10)];
  const stuck = Promise.withResolvers<string>();
  let calls = 0;
  interceptCalls((send) => {
    calls += 1;
    return calls === 1 ? stuck.promise : send();
  });
  expect(outcomeOf(await limiter.consume(charge))).toBe('admitted by process');
  await limiter.consume(charge);
  stuck.reject(new Error('Connection is closed.'));
  await endOfTurn();
  expect(await link.client.get(redisKeys.counts(charge.subject))).toMatch(/^\d+ 2 \d+ 2$/);
});

// Again if Redis doesn't reply in time, as happens on a busy machine.
test('what Redis has admitted is known while the request still waits for the version of lists', { retry: 4 }, async () => {
  const [asked, version] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()];
  const limiter = openLimiter(() => {
    asked.resolve();
    return version.promise;
  });
  const charge = await newCharge(1);
  const first = limiter.consume(charge);
  await Promise.race([asked.promise, first]);
  link.client.emit('close');
  expect(outcomeOf(await limiter.consume(charge))).toBe('minute by process');
  version.resolve(undefined);
  expect(outcomeOf(await first)).toBe('admitted by redis');
});
