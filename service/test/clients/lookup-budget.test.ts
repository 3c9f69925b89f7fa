import { describe, expect, test } from 'vitest';
import { LookupBudget } from '../../src/clients/lookup-budget.ts';

const burst = 60;

describe('LookupBudget', () => {
  test('lets any number of keys that exist through, 60 at a time', async () => {
    const budget = new LookupBudget();
    let atOnce = 0;
    let atOnceMax = 0;
    const lookUp = async () => {
      const lookup = await budget.begin('a10.0.0.1');
      atOnce += 1;
      atOnceMax = Math.max(atOnceMax, atOnce);
      await Promise.resolve();
      atOnce -= 1;
      lookup?.end(true);
      return lookup !== undefined;
    };
    const outcomes = await Promise.all(Array.from({ length: 500 }, lookUp));
    expect(outcomes.filter(Boolean)).toHaveLength(500);
    expect(atOnceMax).toBe(burst);
  });

  test('refuses an address after 60 keys that do not exist, also where more came at once', async () => {
    const budget = new LookupBudget();
    const lookUp = async () => {
      const lookup = await budget.begin('a10.0.0.2');
      await Promise.resolve();
      lookup?.end(false);
      return lookup !== undefined;
    };
    const outcomes = await Promise.all(Array.from({ length: 300 }, lookUp));
    expect(outcomes.filter(Boolean)).toHaveLength(burst);
  });

  test('leaves other addresses alone', async () => {
    const budget = new LookupBudget();
    for (let i = 0; i < burst; i += 1) (await budget.begin('a10.0.0.3'))?.end(false);
    expect(await budget.begin('a10.0.0.3')).toBeUndefined();
    expect(await budget.begin('a10.0.0.4')).toBeDefined();
  });
});
