import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DueTimes } from '../../../src/changes/delivery/due-rows.ts';
import type { Endpoint } from '../../../src/changes/delivery/endpoint.ts';
import { endpointOf } from './delivery-parts.ts';

describe('Due times', () => {
  test('return an endpoint once, when its time has come and at most 250 ms later', () => {
    const dueTimes = new DueTimes(1_000);
    const endpoint = endpointOf();
    dueTimes.set(endpoint, 1_600);
    expect(dueTimes.takeDue(1_599)).toEqual([]);
    expect(dueTimes.takeDue(1_850)).toEqual([endpoint]);
    expect([dueTimes.takeDue(10_000), endpoint.rowsAtMs]).toEqual([[], Infinity]);
  });

  test('return an endpoint whose time has passed already at the next step', () => {
    const dueTimes = new DueTimes(1_000);
    const endpoint = endpointOf();
    dueTimes.takeDue(5_000);
    dueTimes.set(endpoint, 0);
    expect(dueTimes.takeDue(5_250)).toEqual([endpoint]);
  });

  test('never return an endpoint whose time is infinite, also if it had another time before', () => {
    const dueTimes = new DueTimes(0);
    const endpoint = endpointOf();
    dueTimes.set(endpoint, 500);
    dueTimes.set(endpoint, Infinity);
    expect(dueTimes.takeDue(1_000_000)).toEqual([]);
  });

  test('return an endpoint whose time was replaced once, by the last time that was set', () => {
    const dueTimes = new DueTimes(0);
    const [later, earlier, both] = [endpointOf(), endpointOf(), endpointOf()];
    for (const atMs of [500, 5_000]) dueTimes.set(later, atMs);
    for (const atMs of [5_000, 500]) dueTimes.set(earlier, atMs);
    for (const atMs of [500, 900]) dueTimes.set(both, atMs);
    expect(dueTimes.takeDue(1_000)).toEqual([earlier, both]);
    expect(dueTimes.takeDue(5_000)).toEqual([later]);
    expect(dueTimes.takeDue(100_000)).toEqual([]);
  });

  test('forget no endpoint and return none twice or early, whatever is set and taken', () => {
    const step = fc.record({ endpoint: fc.nat(3), inMs: fc.oneof(fc.integer({ min: -500, max: 3_000 }), fc.constant(Infinity)) });
    const pass = fc.record({ passMs: fc.nat(1_500) });
    const property = () => fc.assert(fc.property(fc.array(fc.oneof(step, pass), { maxLength: 60 }), fc.nat(10_000), checkTimes));
    expect(property).not.toThrow();
  });
});

type Step = { readonly endpoint: number; readonly inMs: number } | { readonly passMs: number };

function checkTimes(steps: readonly Step[], startMs: number): void {
  const endpoints = Array.from({ length: 4 }, () => endpointOf());
  const times = new Map<Endpoint, { atMs: number; latestMs: number }>();
  const dueTimes = new DueTimes(startMs);
  let nowMs = startMs;
  for (const step of steps) {
    if ('passMs' in step) {
      nowMs += step.passMs;
      const due = dueTimes.takeDue(nowMs);
      assert.equal(new Set(due).size, due.length);
      for (const endpoint of due) assert((times.get(endpoint)?.atMs ?? Infinity) <= nowMs);
      for (const endpoint of due) times.delete(endpoint);
      for (const { latestMs } of times.values()) assert(latestMs > nowMs);
    } else {
      const endpoint = endpoints[step.endpoint];
      assert(endpoint);
      const atMs = nowMs + step.inMs;
      dueTimes.set(endpoint, atMs);
      times.set(endpoint, { atMs, latestMs: Math.max(atMs, nowMs) + 250 });
    }
  }
  const due = new Set(dueTimes.takeDue(nowMs + 10_000));
  for (const [endpoint, { atMs }] of times) assert.equal(due.has(endpoint), atMs !== Infinity);
}
