import { expect, test } from 'vitest';
import { LinkBudget } from '../../../src/access/people/link-budget.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const { redis, redisKeys } = store.dependencies;
const midnight = Date.UTC(2026, 10, 20);
let nowMs = midnight;
const clock = { now: () => nowMs };
const budget = new LinkBudget({ redis, redisKeys, clock });
let addresses = 0;
const newAddress = () => {
  addresses += 1;
  return `ada-${addresses}@example.org`;
};
const ask = (email: string, from = '192.0.2.7', deviceId?: string) => budget.take({ email, from, deviceId });
const minute = 60_000;

test('an address gets one link in 60 s, and asking again neither counts nor puts it off', async () => {
  nowMs = midnight;
  const email = newAddress();
  expect(await ask(email)).toEqual({ isGranted: true, waitMs: minute });
  nowMs += 20_000;
  for (let times = 0; times < 5; times += 1) expect(await ask(` ${email.toUpperCase()}`)).toEqual({ isGranted: false, waitMs: 40_000 });
  nowMs += 40_000;
  expect((await ask(email)).isGranted).toBe(true);
});

test('a network gets 3 links a day for an address, and the others still get theirs, up to 10', async () => {
  nowMs = midnight;
  const email = newAddress();
  const granted: boolean[] = [];
  for (let i = 0; i < 50; i += 1) {
    granted.push((await ask(email, `198.51.${Math.floor(i / 10)}.${i}`)).isGranted);
    nowMs += minute;
  }
  const byNetwork = [0, 1, 2, 3, 4].map((n) => granted.slice(n * 10, n * 10 + 10).filter(Boolean).length);
  expect(byNetwork).toEqual([3, 3, 3, 1, 0]);
  expect(await ask(email, '203.0.113.1')).toEqual({ isGranted: false, waitMs: midnight + 86_400_000 - nowMs });
  nowMs = midnight + 86_400_000;
  expect((await ask(email, '198.51.0.1')).isGranted).toBe(true);
});

test('a device has 10 of its own, whatever others have asked for', async () => {
  nowMs = midnight;
  const email = newAddress();
  for (let i = 0; i < 40; i += 1) {
    await ask(email, `198.51.${i}.1`);
    nowMs += minute;
  }
  expect((await ask(email)).isGranted).toBe(false);
  const granted: boolean[] = [];
  for (let i = 0; i < 12; i += 1) {
    granted.push((await ask(email, '198.51.0.1', 'phone')).isGranted);
    nowMs += minute;
  }
  expect(granted.filter(Boolean)).toHaveLength(10);
});

test('of 20 at once one is granted', async () => {
  nowMs = midnight;
  const email = newAddress();
  const turns = await Promise.all(Array.from({ length: 20 }, (_, i) => ask(email, `198.51.${i}.1`)));
  expect(turns.filter(({ isGranted }) => isGranted)).toHaveLength(1);
});

test('a network that asks for 1,000 addresses has 300 counted: nothing more of it is stored', async () => {
  nowMs = midnight;
  const granted: boolean[] = [];
  for (let batch = 0; batch < 50; batch += 1) {
    const turns = Array.from({ length: 20 }, () => ask(newAddress(), '203.0.113.9'));
    granted.push(...(await Promise.all(turns)).map(({ isGranted }) => isGranted));
  }
  expect(granted.filter(Boolean)).toHaveLength(300);
});

test('without Redis the process counts by itself, in the same way', async () => {
  nowMs = midnight;
  await redis.close();
  const email = newAddress();
  const granted: boolean[] = [];
  for (let i = 0; i < 10; i += 1) {
    granted.push((await ask(email)).isGranted, (await ask(email)).isGranted);
    nowMs += minute;
  }
  expect(granted.filter(Boolean)).toHaveLength(3);
  expect((await ask(email, '198.51.100.1')).isGranted).toBe(true);
});
