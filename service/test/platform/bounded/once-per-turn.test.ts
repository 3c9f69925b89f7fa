import { describe, expect, test } from 'vitest';
import { oncePerTurn } from '../../../src/platform/bounded/joined-runs.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('oncePerTurn', () => {
  test('runs once for all calls in a turn of the event loop, which share the outcome', async () => {
    let runs = 0;
    const run = oncePerTurn(() => ++runs);
    const outcomes = [run(), run()];
    await Promise.resolve();
    outcomes.push(run());
    expect(runs).toBe(0);
    expect(await Promise.all(outcomes)).toEqual([1, 1, 1]);
    expect(await run()).toBe(2);
  });

  test('runs again for a call while it runs, without waiting for the end of the run before', async () => {
    const ends: Array<() => void> = [];
    const run = oncePerTurn(() => new Promise<void>((resolve) => ends.push(resolve)));
    const first = run();
    await turn();
    const second = run();
    await turn();
    expect(ends).toHaveLength(2);
    for (const end of ends) end();
    await Promise.all([first, second]);
  });

  test('rejects the calls of a turn whose run fails, and no others', async () => {
    let runs = 0;
    const run = oncePerTurn(async () => {
      runs += 1;
      if (runs === 1) throw new Error('broken');
    });
    const failing = [run(), run()];
    expect((await Promise.allSettled(failing)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await run();
  });
});
