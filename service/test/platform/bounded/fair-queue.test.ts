import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FairQueue, type QueuePlace } from '../../../src/platform/bounded/fair-turns.ts';

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
        const model = new QueueModel();
        for (const [value, next] of steps.entries()) {
          if (next === 'shift') model.shift();
          else if (typeof next === 'string') model.push(next, value);
          else model.removeOne(next);
          expect(model.findFaults()).toEqual([]);
        }
      }),
    );
  });
});

class QueueModel {
  readonly #queue = new FairQueue<string, number>();
  readonly #values: Array<{ owner: string; value: number; place: QueuePlace<string, number> }> = [];
  /** For each owner that waits: those that were served since it was. */
  readonly #servedSince = new Map<string, Set<string>>();
  readonly #unfair: string[] = [];

  push(owner: string, value: number): void {
    this.#values.push({ owner, value, place: this.#queue.push(owner, value) });
  }

  removeOne(index: number): void {
    const [removed] = this.#values.splice(index % Math.max(this.#values.length, 1), 1);
    if (!removed) return;
    this.#queue.remove(removed.place);
    if (this.#queue.sizeOf(removed.owner) === 0) this.#servedSince.delete(removed.owner);
  }

  shift(): void {
    const taken = this.#queue.shift();
    const index = this.#values.findIndex(({ value }) => value === taken);
    const [served] = this.#values.splice(index, index < 0 ? 0 : 1);
    if (!served) return;
    if (this.#values.some(({ owner, value }) => owner === served.owner && value < served.value))
      this.#unfair.push('not first in, first out');
    this.#servedSince.delete(served.owner);
    for (const owner of new Set(this.#values.map((one) => one.owner))) {
      if (owner === served.owner) continue;
      const since = this.#servedSince.get(owner) ?? new Set();
      if (since.has(served.owner)) this.#unfair.push(`${served.owner} was served twice while ${owner} waited`);
      this.#servedSince.set(owner, since.add(served.owner));
    }
  }

  findFaults(): string[] {
    const wrong = owners.filter((owner) => {
      const own = this.#values.filter((one) => one.owner === owner);
      return this.#queue.sizeOf(owner) !== own.length || this.#queue.oldestOf(owner) !== own[0]?.value;
    });
    return [...this.#unfair, ...wrong, ...(this.#queue.size === this.#values.length ? [] : ['the size is wrong'])];
  }
}
