import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JoinedRuns } from '../../../src/platform/bounded/joined-runs.ts';

const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

/** Runs that end when the test says so. The outcome is the number of the run. */
function openRuns() {
  const ends: Array<(error?: Error) => void> = [];
  const begun: number[] = [];
  const runs = new JoinedRuns(() => {
    const number = begun.length + 1;
    begun.push(number);
    return new Promise<number>((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve(number))));
  });
  const end = (error?: Error) => {
    ends.shift()?.(error);
    return turn();
  };
  return { runs, begun, end };
}

describe('JoinedRuns', () => {
  test('run once for all callers in a turn of the event loop', async () => {
    const { runs, begun, end } = openRuns();
    const outcomes = [runs.next(), runs.next(), runs.next()];
    expect(begun).toEqual([]);
    await turn();
    await end();
    expect([await Promise.all(outcomes), begun, runs.inFlight]).toEqual([[1, 1, 1], [1], undefined]);
  });

  test('let nobody join the run in flight; those who come meanwhile share the next one', async () => {
    const { runs, begun, end } = openRuns();
    const first = runs.next();
    await turn();
    const others = [runs.next(), runs.next()];
    await turn();
    others.push(runs.next());
    expect(begun).toEqual([1]);
    await end();
    expect([await first, begun]).toEqual([1, [1, 2]]);
    await end();
    expect(await Promise.all(others)).toEqual([2, 2, 2]);
  });

  test('continue after a run that has failed', async () => {
    const { runs, end } = openRuns();
    const failing = runs.next();
    failing.catch(() => {});
    await turn();
    const next = runs.next();
    await end(new Error('broken'));
    await expect(failing).rejects.toThrow('broken');
    await end();
    expect(await next).toBe(2);
  });

  test('give every caller the first run that begins after its call, for any order of calls and ends', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom('call', 'end', 'turn'), { maxLength: 40 }), async (steps) => {
        const { runs, begun, end } = openRuns();
        const calls: Array<{ expected: number; outcome: Promise<number> }> = [];
        for (const step of steps) {
          if (step === 'call') calls.push({ expected: begun.length + 1, outcome: runs.next() });
          else await (step === 'end' ? end() : turn());
        }
        for (let left = 0; left < 3; left += 1) {
          await turn();
          await end();
        }
        for (const { expected, outcome } of calls) expect(await outcome).toBe(expected);
        expect(runs.inFlight).toBeUndefined();
      }),
    );
  });
});
