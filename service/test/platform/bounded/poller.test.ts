import { describe, expect, test } from 'vitest';
import { Poller } from '../../../src/platform/bounded/poller.ts';

type Outcome = number | undefined | Error;

/** A poller of outcomes that the test gives it. A run that starts counts from 0 again. */
function openPoller({ hasMore = false } = {}) {
  const waiting: Array<(outcome: Outcome) => void> = [];
  const errors: string[] = [];
  let [begun, polls] = [0, 0];
  const poller = new Poller<string>({
    begin: () => {
      begun += 1;
      let count = 0;
      return async () => {
        polls += 1;
        const outcome = await new Promise<Outcome>((resolve) => waiting.push(resolve));
        if (outcome instanceof Error) throw outcome;
        count += 1;
        return { news: outcome === undefined ? undefined : `${outcome} as poll ${count}`, hasMore };
      };
    },
    intervalMs: 1,
    onError: (error) => errors.push((error as Error).message),
  });
  const give = async (outcome: Outcome) => {
    while (waiting.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    waiting.shift()?.(outcome);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { poller, give, errors, counts: () => ({ begun, polls }) };
}

describe('Poller', () => {
  test('polls once for all listeners, and only while there are any', async () => {
    const { poller, give, counts } = openPoller();
    expect(counts()).toEqual({ begun: 0, polls: 0 });
    const heard: string[] = [];
    const ends = ['a', 'b'].map((name) => poller.follow((news) => heard.push(`${name}: ${news}`)));
    await give(7);
    expect(heard).toEqual(['a: 7 as poll 1', 'b: 7 as poll 1']);
    ends[0]?.();
    await give(8);
    ends[1]?.();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([heard.slice(2), counts()]).toEqual([['b: 8 as poll 2'], { begun: 1, polls: 2 }]);
  });

  test('begins again with the next listener', async () => {
    const { poller, give, counts } = openPoller();
    const end = poller.follow(() => {});
    await give(1);
    end();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const heard: string[] = [];
    poller.follow((news) => heard.push(news));
    await give(3);
    expect([heard, counts().begun]).toEqual([['3 as poll 1'], 2]);
  });

  test('says nothing without news, and polls again at once if there is more', async () => {
    const { poller, give, counts } = openPoller({ hasMore: true });
    const heard: string[] = [];
    poller.follow((news) => heard.push(news));
    await give(undefined);
    expect(counts().polls).toBe(2);
    await give(2);
    expect(heard).toEqual(['2 as poll 2']);
  });

  test('reports an outage once, and goes on', async () => {
    const { poller, give, errors } = openPoller();
    const heard: string[] = [];
    poller.follow((news) => heard.push(news));
    for (const outcome of [new Error('first'), new Error('second'), 1, new Error('third')]) await give(outcome);
    expect([errors, heard]).toEqual([['first', 'third'], ['1 as poll 1']]);
  });
});
