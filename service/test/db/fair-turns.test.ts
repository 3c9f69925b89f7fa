import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { FairTurns, NoTurn } from '../../src/db/fair-turns.ts';

const bounds = { turnsMax: 2, waitMsMax: 60_000, pendingOfOwnerMax: 1_000 };

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
});
