import { describe, expect, test } from 'vitest';
import { SeededRandom } from '../testkit/seeded-random.ts';
import { readFacts } from './capacity-facts.ts';
import { byScarcity } from './capacity-limits.ts';
import { firstReads, type Load, missShareOf, predict, predictRun } from './capacity-model.ts';

const load: Load = {
  writes: 5,
  applications: 10,
  photos: 1,
  pictures: 0,
  clients: 100,
  keys: 300,
  requests: 300,
  searches: 0,
  pages: 40,
  touched: 1 / 40,
  searched: 100,
  searchTouched: 0.1,
  shelters: 20,
  endpoints: 110,
  unfiltered: 10,
  processes: 2,
};
const facts = { ...readFacts(), pageAgeMs: 2_000, keyTtlMs: 10_000, readsPerUncachedKey: 1, replacementsPerWrite: 1 };

describe('The share of misses', () => {
  test('is 1 without a second request', () => {
    expect(missShareOf(0, { writes: 3, ageMs: 2_000 })).toBe(1);
  });

  test('is one read in 2 s where nothing is written', () => {
    const requests = 50;
    expect(requests * missShareOf(requests, { writes: 0, ageMs: 2_000 })).toBeCloseTo(1 / (2 + 1 / requests));
  });

  test.each([
    [0.5, 0.1],
    [4, 0.3],
    [4, 5],
    [40, 10],
  ])('is that of a simulated cache, at %d requests and %d writes a second', (requests, writes) => {
    const ratio = missShareOf(requests, { writes, ageMs: 2_000 }) / simulateMisses(requests, writes, 2);
    expect(ratio).toBeGreaterThan(0.97);
    expect(ratio).toBeLessThan(1.03);
  });
});

describe('Reads of a key in the first seconds of a process', () => {
  test.each([
    [0.5, 60, 10],
    [0.5, 60, 600],
    [0.01, 60, 10],
    [20, 35, 10],
  ])('are those of a simulated cache, at %d uses a second, in %d s, with a time to live of %d s', (uses, seconds, ttlSeconds) => {
    const ratio = firstReads(uses, { seconds, ttlSeconds }) / simulateReads(uses, seconds, ttlSeconds);
    expect(ratio).toBeGreaterThan(0.97);
    expect(ratio).toBeLessThan(1.03);
  });

  test('approach the rate of a process that runs for long', () => {
    const { rates } = predict(load, facts);
    const seconds = 10_000;
    expect(predictRun(load, facts, seconds).keyReads / (rates.keyRead * seconds)).toBeCloseTo(1, 2);
  });
});

test('A write that changes one page costs only that page, if only changed pages are invalidated', () => {
  const all = predict(load, { ...facts, invalidates: 'every page' });
  const changed = predict(load, { ...facts, invalidates: 'changed pages' });
  expect(changed.rates.miss).toBeLessThan(all.rates.miss / 3);
  expect(changed).toEqual({ ...all, rates: changed.rates, missShare: changed.missShare, cores: changed.cores });
});

test('What has no room in a cache is read each time', () => {
  const { missShare, rates } = predict({ ...load, pages: facts.memory.pagesMax * 100, keys: facts.memory.keysMax * 100 }, facts);
  expect(missShare).toBeGreaterThan(0.99);
  expect(rates.keyRead / (load.requests + load.writes)).toBeCloseTo(1, 1);
});

test('An event goes to the endpoints that want every one, and to those that want its shelter', () => {
  expect(predict(load, facts).rates.delivery).toBeCloseTo(load.writes * facts.eventsPerWrite * (10 + 100 / 20));
  const { rates } = predict({ ...load, endpoints: 5 }, facts);
  expect(rates.delivery).toBeCloseTo(load.writes * facts.eventsPerWrite * 5);
});

test('Each process writes what a key has used once in an interval, however often it is used', () => {
  const { usageIntervalMs } = facts;
  const busy = predict({ ...load, requests: 1e6 }, facts);
  expect(busy.rates.usageRow).toBeCloseTo((load.keys * load.processes * 1_000) / usageIntervalMs);
  const quiet = predict({ ...load, requests: 0.01, writes: 0 }, facts);
  expect(quiet.rates.usageRow).toBeCloseTo(0.01);
});

test('Searches that are read cost more than lists, and are read again after each change of what they show', () => {
  const some = predict({ ...load, searches: 0.1 }, facts);
  const changed = predict({ ...load, searches: 0.1, searchTouched: 1 }, facts);
  expect(some.cores.postgres).toBeGreaterThan(predict(load, facts).cores.postgres);
  expect(changed.rates.search).toBeGreaterThan(some.rates.search);
  expect(some.rates.list + some.rates.miss + some.rates.search).toBeCloseTo(load.requests);
});

test('Connections are those of serve, and of workers for deliveries and for pictures', () => {
  const { connections } = predict({ ...load, processes: 3, photos: 10 }, { ...facts, poolSize: 10, imagesOfWorker: 2 });
  // One worker delivers, and 7.4 s of decoding a second take four.
  expect(connections).toEqual({ serve: 3 * 16, workers: 5 * 7 });
});

test('What is scarcest comes first, as a multiple of what there is', () => {
  const busy = { ...load, photos: 1e6 };
  const [scarcest, ...others] = byScarcity(predict(busy, facts), busy, facts);
  expect(scarcest?.name).toBe('workers that make pictures');
  expect(scarcest?.need).toBeGreaterThan(100);
  expect(others.every(({ need }) => need <= (scarcest?.need ?? 0))).toBe(true);
});

/** Exponentially distributed, from a seed. */
function randomGaps(): (perSecond: number) => number {
  const random = new SeededRandom(1);
  return (perSecond) => -Math.log(1 - random.next()) / perSecond;
}

function simulateMisses(requests: number, writes: number, age: number): number {
  const gap = randomGaps();
  const count = 200_000;
  let [now, nextWrite, readAt, misses, isStale] = [0, gap(writes), Number.NEGATIVE_INFINITY, 0, true];
  for (let i = 0; i < count; i += 1) {
    now += gap(requests);
    for (; nextWrite < now; nextWrite += gap(writes)) isStale = true;
    if (!isStale && now - readAt < age) continue;
    [readAt, isStale] = [now, false];
    misses += 1;
  }
  return misses / count;
}

function simulateReads(uses: number, seconds: number, ttlSeconds: number): number {
  const gap = randomGaps();
  const count = 20_000;
  let reads = 0;
  for (let i = 0; i < count; i += 1) {
    for (let at = gap(uses); at < seconds; at += ttlSeconds + gap(uses)) reads += 1;
  }
  return reads / count;
}
