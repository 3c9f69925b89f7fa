import { describe, expect, test } from 'vitest';
import { ClientTurns } from '../../src/http/client-turns.ts';

const never = () => {};

describe('ClientTurns', () => {
  test('runs as many jobs of a client as allowed, and the next once one has ended', async () => {
    const turns = new ClientTurns();
    const [first, second] = [await turns.take(1n, 2, never), await turns.take(1n, 2, never)];
    let hasThird = false;
    const third = turns.take(1n, 2, never).then((end) => {
      hasThird = true;
      return end;
    });
    await new Promise(setImmediate);
    expect(hasThird).toBe(false);
    first?.();
    const endThird = await third;
    expect(endThird).toBeTypeOf('function');
    second?.();
    endThird?.();
    expect(await turns.take(1n, 2, never)).toBeTypeOf('function');
  });

  test('does not let a client wait for another', async () => {
    const turns = new ClientTurns();
    await turns.take(1n, 1, never);
    expect(await turns.take(2n, 1, never)).toBeTypeOf('function');
  });

  test('never begins a job that is cancelled while it waits, and continues with the next', async () => {
    const turns = new ClientTurns();
    const end = await turns.take(1n, 1, never);
    let cancel = never;
    const cancelled = turns.take(1n, 1, (give) => (cancel = give));
    const next = turns.take(1n, 1, never);
    cancel();
    expect(await cancelled).toBeUndefined();
    end?.();
    const endNext = await next;
    expect(endNext).toBeTypeOf('function');
    // Cancelling it again has no effect.
    cancel();
    endNext?.();
    expect(await turns.take(1n, 1, never)).toBeTypeOf('function');
  });
});
