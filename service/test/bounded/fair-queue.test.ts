import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FairQueue, type Place } from '../../src/bounded/fair-queue.ts';

const owners = ['a', 'b', 'c'];

function queueOf(texts: readonly string[]): FairQueue<string, string> {
  const queue = new FairQueue<string, string>();
  for (const text of texts) queue.push(text[0] ?? '', text);
  return queue;
}

const takeAll = (queue: FairQueue<string, string>, mayBeServed?: (owner: string, oldest: string) => boolean) => {
  const taken: string[] = [];
  for (let value = queue.shift(mayBeServed); value !== undefined; value = queue.shift(mayBeServed)) taken.push(value);
  return taken;
};

describe('FairQueue', () => {
  test('serves owners round robin, and each first in, first out', () => {
    expect(takeAll(queueOf(['a1', 'a2', 'a3', 'b1', 'c1', 'b2']))).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  test('puts an owner that was served behind the others, also if it is added again', () => {
    const queue = queueOf(['a1', 'b1']);
    expect(queue.shift()).toBe('a1');
    queue.push('a', 'a2');
    expect(takeAll(queue)).toEqual(['b1', 'a2']);
  });

  test('skips an owner that may not be served, which then is the next', () => {
    const queue = queueOf(['a1', 'a2', 'b1', 'b2']);
    expect(takeAll(queue, (owner) => owner !== 'a')).toEqual(['b1', 'b2']);
    expect([queue.size, queue.sizeOf('a'), queue.sizeOf('b'), queue.oldestOf('a')]).toEqual([2, 2, 0, 'a1']);
    queue.push('b', 'b3');
    expect(takeAll(queue)).toEqual(['a1', 'b3', 'a2']);
  });

  test('has exactly what was added and not removed, for any steps, and serves nobody twice before another that waits', () => {
    const step = fc.oneof(fc.constantFrom(...owners), fc.constant('shift'), fc.nat(50));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const queue = new FairQueue<string, number>();
        const places: Array<{ owner: string; value: number; place: Place<string, number> }> = [];
        const servedWhileWaiting = new Map<string, Set<string>>();
        for (const [value, next] of steps.entries()) {
          if (next === 'shift') {
            const taken = queue.shift();
            const index = places.findIndex((one) => one.value === taken);
            const owner = places[index]?.owner ?? '';
            expect(places.find((one) => one.owner === owner)?.value).toBe(taken);
            if (index >= 0) places.splice(index, 1);
            servedWhileWaiting.delete(owner);
            for (const other of new Set(places.map((one) => one.owner))) {
              const served = servedWhileWaiting.get(other) ?? new Set();
              expect(other !== owner && served.has(owner)).toBe(false);
              servedWhileWaiting.set(other, other === owner ? new Set() : served.add(owner));
            }
          } else if (typeof next === 'string') places.push({ owner: next, value, place: queue.push(next, value) });
          else {
            const [removed] = places.splice(next % Math.max(places.length, 1), 1);
            if (removed) queue.remove(removed.place);
            if (removed && queue.sizeOf(removed.owner) === 0) servedWhileWaiting.delete(removed.owner);
          }
          expect(queue.size).toBe(places.length);
          for (const owner of owners) {
            const own = places.filter((one) => one.owner === owner);
            expect([queue.sizeOf(owner), queue.oldestOf(owner)]).toEqual([own.length, own[0]?.value]);
          }
        }
      }),
    );
  });
});
