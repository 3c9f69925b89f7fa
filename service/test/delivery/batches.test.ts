import { describe, expect, test } from 'vitest';
import { Batches } from '../../src/delivery/batches.ts';

/** Each batch is handled when the test says so. */
function handled() {
  const batches: number[][] = [];
  const ends: Array<() => void> = [];
  const queue = new Batches<number>(async (batch) => {
    batches.push([...batch]);
    await new Promise<void>((resolve) => ends.push(resolve));
  });
  const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  const end = () => {
    ends.shift()?.();
    return turn();
  };
  return { queue, batches, turn, end };
}

describe('Batches', () => {
  test('handle everything that is added in one turn of the event loop at once', async () => {
    const { queue, batches, turn, end } = handled();
    for (const value of [1, 2, 3]) queue.add(value);
    expect([batches, queue.isEmpty]).toEqual([[], false]);
    await turn();
    expect(batches).toEqual([[1, 2, 3]]);
    await end();
    expect(queue.isEmpty).toBe(true);
  });

  test('handle one batch at a time; the next one is everything that was added meanwhile', async () => {
    const { queue, batches, turn, end } = handled();
    queue.add(1);
    await turn();
    for (const value of [2, 3]) queue.add(value);
    await turn();
    queue.add(4);
    expect(batches).toEqual([[1]]);
    await end();
    expect(batches).toEqual([[1], [2, 3, 4]]);
    await end();
    expect(queue.isEmpty).toBe(true);
  });

  test('start again after they were empty, and are drained when the last batch is handled', async () => {
    const { queue, batches, turn, end } = handled();
    await queue.drained();
    queue.add(1);
    await turn();
    await end();
    queue.add(2);
    let isDrained = false;
    const drained = queue.drained().then(() => (isDrained = true));
    await turn();
    queue.add(3);
    await end();
    expect([batches, isDrained]).toEqual([[[1], [2], [3]], false]);
    await end();
    await drained;
    expect([isDrained, queue.isEmpty]).toEqual([true, true]);
  });
});
