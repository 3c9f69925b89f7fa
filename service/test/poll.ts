import { inspect } from 'node:util';

/** `until` resolves to the first value that is as expected. A worker stores the result of a delivery after the receiver has responded. */
export const poll = <T>(read: () => Promise<T> | T) => ({
  until: async (isExpected: (value: T) => boolean): Promise<T> => {
    let value = await read();
    for (let tries = 0; tries < 2_000 && !isExpected(value); tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      value = await read();
    }
    if (isExpected(value)) return value;
    throw new Error(`the expected value did not appear within 20 s; the last one was ${inspect(value)}`);
  },
});
