import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FairTurns, NoTurn } from '../../../src/platform/bounded/fair-turns.ts';

const bounds = { turnsMax: 2, turnsOfOwnerMax: 2, waitMsMax: 60_000, pendingOfOwnerMax: 1_000 };

/** Work that ends when the test calls `end`. */
function openWork(turns: FairTurns, owner: bigint | undefined, begun: Array<bigint | undefined> = []) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = turns.run(owner, async () => {
    begun.push(owner);
    await promise;
  });
  return { end: resolve, done };
}

describe('FairTurns', () => {
  test('lets an owner wait for just one of another owner, however many that has waiting', async () => {
    const turns = new FairTurns(bounds);
    const begun: Array<bigint | undefined> = [];
    const greedy = Array.from({ length: 500 }, () => openWork(turns, 1n, begun));
    const honest = openWork(turns, 2n, begun);
    greedy[0]?.end();
    greedy[1]?.end();
    await Promise.all([greedy[0]?.done, greedy[1]?.done]);
    await sleep(0);
    expect(begun).toEqual([1n, 1n, 1n, 2n]);
    for (const { end } of [...greedy, honest]) end();
    await Promise.all([...greedy, honest].map(({ done }) => done));
    expect(begun).toHaveLength(501);
  });

  test('never runs more at once than there are turns, and serves an owner first in, first out', async () => {
    const turns = new FairTurns(bounds);
    let [running, most] = [0, 0];
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        turns.run(1n, async () => {
          order.push(n);
          running += 1;
          most = Math.max(most, running);
          await sleep(1);
          running -= 1;
        }),
      ),
    );
    expect([most, order]).toEqual([2, Array.from({ length: 50 }, (_, n) => n)]);
  });

  test('lets an owner rest after its work, by how long that took, while others begin at once', async () => {
    const turns = new FairTurns({ ...bounds, turnsMax: 1, turnsOfOwnerMax: 1, restMsAfter: (tookMs) => Math.min(tookMs, 200) });
    const work = (tookMs: number) => async () => {
      const beganAtMs = performance.now();
      await sleep(tookMs);
      return { beganAtMs, endedAtMs: performance.now() };
    };
    const [first, second, other] = await Promise.all([turns.run(1n, work(100)), turns.run(1n, work(600)), turns.run(2n, work(1))]);
    const [third, store] = await Promise.all([turns.run(1n, work(1)), turns.run(undefined, work(1))]);
    expect(other.beganAtMs - first.endedAtMs).toBeLessThan(50);
    expect(second.beganAtMs - first.endedAtMs).toBeGreaterThan(95);
    expect(store.beganAtMs - second.endedAtMs).toBeLessThan(50);
    expect(third.beganAtMs - second.endedAtMs).toSatisfy((ms: number) => ms > 195 && ms < 400);
  });

  test('passes the turn on if work fails', async () => {
    const turns = new FairTurns({ ...bounds, turnsMax: 1 });
    const failing = turns.run(1n, () => Promise.reject(new Error('broken')));
    const next = turns.run(1n, async () => 'done');
    await expect(failing).rejects.toThrow('broken');
    expect(await next).toBe('done');
  });

  test('rejects work that has waited too long, and removes it from the queue', async () => {
    const turns = new FairTurns({ ...bounds, turnsMax: 1, waitMsMax: 20 });
    const first = openWork(turns, 1n);
    await expect(turns.run(2n, async () => {})).rejects.toThrow(NoTurn);
    first.end();
    await first.done;
    expect(await turns.run(3n, async () => 'free')).toBe('free');
  });

  test('rejects work of an owner whose queue is full, and accepts that of another', async () => {
    const turns = new FairTurns({ ...bounds, turnsMax: 1, pendingOfOwnerMax: 2 });
    const works = Array.from({ length: 3 }, () => openWork(turns, 1n));
    await expect(turns.run(1n, async () => {})).rejects.toThrow(NoTurn);
    const other = turns.run(2n, async () => 'accepted');
    for (const { end } of works) end();
    expect(await other).toBe('accepted');
    await Promise.all(works.map(({ done }) => done));
  });

  test('leaves a turn to others, however long the work of an owner takes', async () => {
    const turns = new FairTurns({ ...bounds, turnsMax: 5, turnsOfOwnerMax: 4 });
    const begun: Array<bigint | undefined> = [];
    const greedy = Array.from({ length: 10 }, () => openWork(turns, 1n, begun));
    expect([begun.length, turns.waiting]).toEqual([4, 6]);
    for (let i = 0; i < 3; i += 1) await turns.run(2n, async () => {});
    // None of those that wait may have the turn that became free.
    expect([begun.length, turns.waiting]).toEqual([4, 6]);
    for (const { end } of greedy) end();
    await Promise.all(greedy.map(({ done }) => done));
  });

  test('rejects work sooner that waits for other work of its owner alone, and says so', async () => {
    const turns = new FairTurns({ ...bounds, turnsMax: 2, turnsOfOwnerMax: 1, waitMsMax: 60, waitForOwnMsMax: 20 });
    const running = [openWork(turns, 1n), openWork(turns, 2n)];
    const rejected: string[] = [];
    const wait = (owner: bigint) =>
      turns
        .run(owner, async () => {})
        .catch((error: unknown) => void rejected.push(error instanceof NoTurn ? error.because : String(error)));
    await Promise.all([wait(3n), wait(1n)]);
    expect(rejected).toEqual(['owner', 'others']);
    for (const { end } of running) end();
    await Promise.all(running.map(({ done }) => done));
  });

  test('exempts work without an owner, which is that of the store itself', async () => {
    const turns = new FairTurns({ ...bounds, turnsMax: 3, turnsOfOwnerMax: 1 });
    const begun: Array<bigint | undefined> = [];
    const works = Array.from({ length: 3 }, () => openWork(turns, undefined, begun));
    expect(begun).toHaveLength(3);
    for (const { end } of works) end();
    await Promise.all(works.map(({ done }) => done));
  });

  test('begins as many of an owner as it may have, by a bound of its own, and the next once one has ended', async () => {
    const turns = new FairTurns({ ...bounds, turnsMax: 10 });
    const options = { ofOwnerMax: 1 };
    const first = await turns.take(1n, options);
    let hasSecond = false;
    const second = turns.take(1n, options).then((turn) => {
      hasSecond = true;
      return turn;
    });
    expect(await turns.take(2n, options)).toBeDefined();
    await settle();
    expect(hasSecond).toBe(false);
    first?.[Symbol.dispose]();
    (await second)?.[Symbol.dispose]();
    expect(await turns.take(1n, options)).toBeDefined();
  });

  test('never begins what is cancelled while it waits, and continues with the next', async () => {
    const turns = new FairTurns({ turnsMax: 1, turnsOfOwnerMax: 1, pendingOfOwnerMax: 2 });
    const first = await turns.take(1n);
    const cancelling = new AbortController();
    const cancelled = turns.take(1n, { signal: cancelling.signal });
    const next = turns.take(1n);
    cancelling.abort();
    expect([await cancelled, turns.waiting]).toEqual([undefined, 1]);
    first?.[Symbol.dispose]();
    expect(await next).toBeDefined();
    expect(await turns.take(2n, { signal: cancelling.signal })).toBeUndefined();
  });

  test('says why there is no turn now: the owner has all its own, or others have them', () => {
    const turns = new FairTurns({ turnsMax: 2, turnsOfOwnerMax: 1, pendingOfOwnerMax: 0 });
    const first = turns.takeNow(1n);
    expect([turns.takeNow(1n), typeof turns.takeNow(2n), turns.takeNow(3n)]).toEqual(['owner', 'object', 'others']);
    if (typeof first === 'object') first[Symbol.dispose]();
    expect(turns.takeNow(3n)).toBeTypeOf('object');
  });

  test('holds its invariants for any work of any owners', async () => {
    const owner = fc.constantFrom(undefined, 1n, 2n, 3n);
    const step = fc.oneof(fc.record({ add: owner }), fc.record({ end: fc.nat(20) }));
    const sizes = fc
      .integer({ min: 1, max: 5 })
      .chain((turnsMax) => fc.tuple(fc.constant(turnsMax), fc.integer({ min: 1, max: turnsMax })));
    await fc.assert(
      fc.asyncProperty(sizes, fc.array(step, { maxLength: 60 }), async ([turnsMax, turnsOfOwnerMax], steps) => {
        const model = new TurnsModel({ ...bounds, turnsMax, turnsOfOwnerMax });
        for (const next of steps) {
          if ('add' in next) model.add(next.add);
          else model.endOne(next.end);
          await settle();
          expect(model.findFaults()).toEqual([]);
        }
        await model.endAll();
        expect(model.findFaults()).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});

/** Every callback that is due has run. */
const settle = () => new Promise<void>((resolve) => void setImmediate(resolve));

interface Work {
  readonly owner: bigint | undefined;
  readonly end: () => void;
  readonly done: Promise<void>;
}

/** What runs and what waits, by what the work itself reports. */
class TurnsModel {
  readonly #turns: FairTurns;
  readonly #bounds: { turnsMax: number; turnsOfOwnerMax: number };
  readonly #running: Work[] = [];
  readonly #waiting: Work[] = [];
  /** For each owner that waits: those that were served since it could have been. */
  readonly #servedBefore = new Map<bigint | undefined, Set<bigint | undefined>>();
  readonly #unfair: string[] = [];

  constructor(options: ConstructorParameters<typeof FairTurns>[0]) {
    this.#turns = new FairTurns(options);
    this.#bounds = options;
  }

  add(owner: bigint | undefined): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    const work: Work = { owner, end: resolve, done: Promise.resolve() };
    this.#waiting.push(work);
    const done = this.#turns.run(owner, async () => {
      this.#begin(work);
      await promise;
    });
    Object.assign(work, { done });
  }

  endOne(index: number): void {
    const [work] = this.#running.splice(index % Math.max(this.#running.length, 1), 1);
    work?.end();
  }

  async endAll(): Promise<void> {
    const all = [...this.#running, ...this.#waiting];
    for (const { end } of all) end();
    await Promise.all(all.map(({ done }) => done));
    this.#running.length = 0;
  }

  /** Which invariants do not hold. */
  findFaults(): string[] {
    const { turnsMax, turnsOfOwnerMax } = this.#bounds;
    const isOverOwner = this.#running.some(({ owner }) => owner !== undefined && this.#count(owner) > turnsOfOwnerMax);
    const couldRun = this.#running.length < turnsMax && this.#waiting.some(({ owner }) => this.#mayRun(owner));
    return [
      ...this.#unfair,
      ...(this.#running.length > turnsMax ? ['more run than there are turns'] : []),
      ...(isOverOwner ? ['an owner has more turns than it may have'] : []),
      ...(couldRun ? ['something waits while a turn is free that it may use'] : []),
      ...(this.#turns.waiting === this.#waiting.length ? [] : ['the number of those that wait is wrong']),
    ];
  }

  #begin(work: Work): void {
    if (this.#waiting.find(({ owner }) => owner === work.owner) !== work) this.#unfair.push('not first in, first out');
    this.#servedBefore.delete(work.owner);
    this.#waiting.splice(this.#waiting.indexOf(work), 1);
    for (const owner of new Set(this.#waiting.map((waiting) => waiting.owner))) {
      if (owner === work.owner || !this.#mayRun(owner)) continue;
      const served = this.#servedBefore.get(owner) ?? new Set();
      if (served.has(work.owner)) this.#unfair.push('an owner was served twice before another that waited and could run');
      this.#servedBefore.set(owner, served.add(work.owner));
    }
    this.#running.push(work);
  }

  #mayRun(owner: bigint | undefined): boolean {
    return owner === undefined || this.#count(owner) < this.#bounds.turnsOfOwnerMax;
  }

  #count(owner: bigint): number {
    return this.#running.filter((work) => work.owner === owner).length;
  }
}
