import { describe, expect, test } from 'vitest';
import { UsageTally } from '../../../src/access/usage/usage-tally.ts';

const atMs = Date.parse('2026-11-16T10:00:30Z');
const minuteMs = 60_000;
const plain = { error: null, deprecated: null };
const request = (keyId: bigint, more: Partial<Parameters<UsageTally['count']>[0]> = {}) => ({ keyId, atMs, ...plain, ...more });

function takeAll(tally: UsageTally, rowsMax = 1_000) {
  const batches = [];
  for (let batch = tally.take(rowsMax); batch; batch = tally.take(rowsMax)) batches.push(batch);
  return batches;
}

describe('A tally', () => {
  test('counts requests, errors and deprecated calls of each key by minute', () => {
    const tally = new UsageTally();
    tally.count(request(1n));
    tally.count(request(1n, { error: 'pet_not_found', deprecated: 'GET /v1/pets/{petId}' }));
    tally.count(request(2n));
    tally.count(request(1n, { atMs: atMs + minuteMs, error: 'pet_not_found' }));
    expect(takeAll(tally)).toEqual([
      {
        minuteAt: new Date('2026-11-16T10:00:00Z'),
        rows: [
          { keyId: 1n, kind: 'request', name: '', count: 2 },
          { keyId: 1n, kind: 'error', name: 'pet_not_found', count: 1 },
          { keyId: 1n, kind: 'deprecated', name: 'GET /v1/pets/{petId}', count: 1 },
          { keyId: 2n, kind: 'request', name: '', count: 1 },
        ],
        keys: 2,
        requests: 3,
      },
      {
        minuteAt: new Date('2026-11-16T10:01:00Z'),
        rows: [
          { keyId: 1n, kind: 'request', name: '', count: 1 },
          { keyId: 1n, kind: 'error', name: 'pet_not_found', count: 1 },
        ],
        keys: 1,
        requests: 1,
      },
    ]);
    expect(tally.size).toBe(0);
  });

  test('that was taken counts on in the same minute', () => {
    const tally = new UsageTally();
    tally.count(request(1n));
    tally.take(10);
    tally.count(request(1n));
    expect(takeAll(tally).map(({ rows }) => rows)).toEqual([[{ keyId: 1n, kind: 'request', name: '', count: 1 }]]);
  });

  test('is taken in batches, each of one minute', () => {
    const tally = new UsageTally();
    for (let id = 1n; id <= 5n; id += 1n) tally.count(request(id));
    tally.count(request(1n, { atMs: atMs + minuteMs }));
    expect(takeAll(tally, 2).map(({ rows }) => rows.map(({ keyId }) => keyId))).toEqual([[1n, 2n], [3n, 4n], [5n], [1n]]);
  });

  test('that is full drops the oldest, and tells how many requests it dropped', () => {
    const tally = new UsageTally();
    tally.count(request(1n, { atMs: atMs - minuteMs }));
    tally.count(request(1n, { atMs: atMs - minuteMs }));
    for (let id = 1n; id <= 200_000n; id += 1n) tally.count(request(id));
    expect({ size: tally.size, dropped: tally.takeDropped() }).toEqual({ size: 200_000, dropped: 2 });
    // Also if all are of this minute.
    tally.count(request(300_000n));
    expect({ size: tally.size, dropped: tally.takeDropped(), again: tally.takeDropped() }).toEqual({ size: 200_000, dropped: 1, again: 0 });
    expect(tally.take(1)?.rows[0]?.keyId).toBe(2n);
  });
});
