import { describe, expect, test } from 'vitest';
import { FeedWindow } from '../../../src/changes/delivery/feed-reader.ts';
import { eventOf, windowOf } from './delivery-parts.ts';

const positions = (window: FeedWindow, after: bigint, limit = 100) => window.slice(after, limit).map(({ position }) => Number(position));

describe('A feed window', () => {
  test('that is empty has no event, and ends where it starts', () => {
    const window = new FeedWindow(7n);
    expect([window.from, window.to, window.next(7n)]).toEqual([7n, 7n, undefined]);
    window.append([], 9n);
    expect([window.from, window.to, window.next(7n)]).toEqual([7n, 9n, undefined]);
  });

  test('returns the first event after any position, also between events', () => {
    const window = windowOf([eventOf(2, 1), eventOf(3, 1), eventOf(7, 1)]);
    expect([0n, 1n, 2n, 3n, 4n, 6n, 7n, 8n].map((after) => window.next(after)?.position)).toEqual([
      2n,
      2n,
      3n,
      7n,
      7n,
      7n,
      undefined,
      undefined,
    ]);
    expect([positions(window, 0n), positions(window, 0n, 2), positions(window, 3n)]).toEqual([[2, 3, 7], [2, 3], [7]]);
  });

  test('removes the oldest events beyond 10,000, and starts after the last one it removed', () => {
    const window = new FeedWindow(0n);
    for (let first = 1; first <= 25_000; first += 500) {
      const events = Array.from({ length: 500 }, (_, i) => eventOf(first + i, 1));
      window.append(events, BigInt(first + 499));
      expect(window.to - window.from).toBeLessThanOrEqual(10_000n);
      // It contains everything after its start.
      expect(window.next(window.from)?.position).toBe(window.from + 1n);
    }
    expect([window.from, window.to]).toEqual([15_000n, 25_000n]);
    expect(positions(window, 24_997n)).toEqual([24_998, 24_999, 25_000]);
    expect(positions(window, 15_000n, 2)).toEqual([15_001, 15_002]);
  });

  test('removes events by their size too, even one that is larger than the whole window', () => {
    const window = windowOf([eventOf(1, 1)]);
    const large = 'x'.repeat(6 * 1024 * 1024);
    window.append([eventOf(2, 1, { data: large }), eventOf(3, 1, { data: large }), eventOf(4, 1, { data: large })], 4n);
    expect([window.from, positions(window, window.from)]).toEqual([2n, [3, 4]]);
    window.append([eventOf(5, 1, { data: 'x'.repeat(17 * 1024 * 1024) })], 6n);
    expect([window.from, window.to, window.next(window.from)]).toEqual([5n, 6n, undefined]);
    window.append([eventOf(7, 1)], 7n);
    expect(positions(window, 6n)).toEqual([7]);
  });
});
