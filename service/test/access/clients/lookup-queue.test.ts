import { describe, expect, test } from 'vitest';
import type { KeyOwner } from '../../../src/access/clients/client-queries.ts';
import { LookupQueue } from '../../../src/access/clients/lookup-queue.ts';

const owner: KeyOwner = { id: 1n, clientId: 1n };

/** A queue whose queries end when the test ends them. A hash that begins with "key" exists. */
function openQueue(bounds: ConstructorParameters<typeof LookupQueue>[1] = {}) {
  const queries: Array<{ hashes: readonly string[]; end: () => void; fail: (error: Error) => void }> = [];
  const begun: Array<readonly string[]> = [];
  const queue = new LookupQueue((hashes) => {
    const { promise, resolve, reject } = Promise.withResolvers<Map<string, KeyOwner>>();
    queries.push({
      hashes,
      end: () => resolve(new Map(hashes.filter((hash) => hash.startsWith('key')).map((hash) => [hash, owner]))),
      fail: reject,
    });
    begun.push(hashes);
    return promise;
  }, bounds);
  return {
    queue,
    /** The hashes sent to PostgreSQL, query by query. */
    begun,
    queries,
    /** Ends queries, oldest first, and lets others begin, until none is in flight or `until` returns true. */
    async drain(until = () => false): Promise<void> {
      for (let query = queries.shift(); query && !until(); query = queries.shift()) {
        query.end();
        await new Promise(setImmediate);
      }
    },
  };
}

const many = (count: number, prefix: string) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
const outcomesOf = async (lookups: ReadonlyArray<Promise<KeyOwner | undefined>>) =>
  (await Promise.allSettled(lookups)).map((one) =>
    one.status === 'fulfilled' ? one.value !== undefined : (one.reason as { code?: string }).code,
  );
const oneAtATime = { queriesMax: 1, batchSizeMax: 1 };

describe('LookupQueue', () => {
  test('says of each hash whether it is a key', async () => {
    const { queue, drain } = openQueue();
    const lookups = ['key 1', 'invented 1', 'key 2', 'key 3', 'invented 2', 'key 4'].map((hash) => queue.find(hash, 'A'));
    await drain();
    expect(await outcomesOf(lookups)).toEqual([true, false, true, true, false, true]);
  });

  test('has at most 4 queries in flight, of at most 32 hashes each', async () => {
    const { queue, queries, begun, drain } = openQueue();
    const lookups = many(1_000, 'invented ').map((hash) => queue.find(hash, 'A'));
    let atOnceMax = 0;
    await drain(() => {
      atOnceMax = Math.max(atOnceMax, queries.length + 1);
      return false;
    });
    await Promise.all(lookups);
    expect(atOnceMax).toBe(4);
    expect(Math.max(...begun.map((hashes) => hashes.length))).toBe(32);
    expect(begun.length).toBeLessThanOrEqual(4 + Math.ceil(996 / 32));
  });

  test('takes the oldest look-up of a network first', async () => {
    const { queue, begun, drain } = openQueue(oneAtATime);
    const lookups = ['1', '2', '3', '4'].map((hash) => queue.find(hash, 'A'));
    await drain();
    await Promise.all(lookups);
    expect(begun.flat()).toEqual(['1', '2', '3', '4']);
  });

  test('lets the only look-up of a network wait for just one of a network that has 1,000 pending', async () => {
    const { queue, begun, drain } = openQueue(oneAtATime);
    const flood = many(1_000, 'invented ').map((hash) => queue.find(hash, 'A'));
    const valid = queue.find('key', 'B');
    await drain();
    expect(await valid).toBe(owner);
    expect(begun.flat().indexOf('key')).toBeLessThanOrEqual(2);
    await Promise.all(flood);
  });

  test('takes one look-up per network and turn, also within one query', async () => {
    const { queue, begun, drain } = openQueue({ queriesMax: 1, batchSizeMax: 6 });
    const lookups = [queue.find('first', 'A')];
    for (const network of ['A', 'B', 'C']) lookups.push(...many(network === 'C' ? 1 : 5, network).map((hash) => queue.find(hash, network)));
    await drain();
    await Promise.all(lookups);
    expect(begun).toEqual([['first'], ['A0', 'B0', 'C0', 'A1', 'B1', 'A2'], ['B2', 'A3', 'B3', 'A4', 'B4']]);
  });

  test('resolves a newcomer within one turn of 10,000 networks that each send 5 at once, and drops theirs', async () => {
    const { queue, begun, drain } = openQueue({ waitMsMax: 60_000 });
    const flood: Array<Promise<KeyOwner | undefined>> = [];
    for (const hash of many(5, 'invented ')) {
      for (const network of many(10_000, 'botnet ')) flood.push(queue.find(`${hash} ${network}`, network));
    }
    const outcomes = outcomesOf(flood);
    const valid = queue.find('key', 'newcomer');
    await drain();
    expect(await valid).toBe(owner);
    expect(begun.findIndex((hashes) => hashes.includes('key'))).toBeLessThanOrEqual(4 + Math.ceil(10_001 / 32));
    const responded = (await outcomes).filter((outcome) => outcome === false).length;
    expect(responded).toBe(20_000 + 4 - 1);
    expect(queue.size).toBe(0);
  });

  test('with too many pending in total drops the oldest of the longest queue', async () => {
    const { queue, drain } = openQueue({ ...oneAtATime, pendingMax: 5 });
    const inFlight = queue.find('in flight', 'A');
    const long = many(4, 'long ').map((hash) => queue.find(hash, 'A'));
    const short = queue.find('key short', 'B');
    const newcomers = many(2, 'key new ').map((hash) => queue.find(hash, hash));
    const outcomes = outcomesOf([inFlight, ...long, short, ...newcomers]);
    await drain();
    expect(await outcomes).toEqual([false, 'unavailable', 'unavailable', false, false, true, true, true]);
  });

  test('with too many pending of a network drops the oldest of that network', async () => {
    const { queue, drain } = openQueue({ ...oneAtATime, pendingOfNetworkMax: 2 });
    const outcomes = outcomesOf(['in flight', '1', '2', '3', 'key'].map((hash) => queue.find(hash, 'A')));
    const other = queue.find('key', 'B');
    await drain();
    expect(await outcomes).toEqual([false, 'unavailable', 'unavailable', false, true]);
    expect(await other).toBe(owner);
  });

  test('rejects a dropped look-up with Retry-After: 1', async () => {
    const { queue, drain } = openQueue({ ...oneAtATime, pendingOfNetworkMax: 1 });
    const [, dropped, ...others] = ['in flight', 'dropped', 'newer'].map((hash) => queue.find(hash, 'A'));
    await expect(dropped).rejects.toMatchObject({ code: 'unavailable', status: 503, headers: { 'retry-after': '1' } });
    await drain();
    await Promise.all(others);
  });

  test('drops look-ups that have waited too long, and resolves those in flight', async () => {
    const { queue, drain } = openQueue({ ...oneAtATime, waitMsMax: 10 });
    const inFlight = queue.find('key', 'A');
    await expect(queue.find('late', 'A')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(queue.find('late', 'B')).rejects.toMatchObject({ code: 'unavailable' });
    await drain();
    expect(await inFlight).toBe(owner);
    expect(queue.size).toBe(0);
  });

  test('shares a look-up that is pending in the same network, or in flight in any', async () => {
    const { queue, begun, drain } = openQueue(oneAtATime);
    const lookups = [queue.find('in flight', 'A'), queue.find('in flight', 'A'), queue.find('in flight', 'B')];
    lookups.push(queue.find('pending', 'A'), queue.find('pending', 'A'));
    await drain();
    await Promise.all(lookups);
    expect(begun.flat()).toEqual(['in flight', 'pending']);
  });

  test('does not share a look-up that is pending in the queue of another network', async () => {
    const { queue, begun, drain } = openQueue(oneAtATime);
    const flood = many(100, 'invented ').map((hash) => queue.find(hash, 'A'));
    const lookups = [queue.find('key', 'A'), queue.find('key', 'B')];
    await drain();
    expect(await outcomesOf(lookups)).toEqual([true, true]);
    expect(begun.flat().indexOf('key')).toBeLessThanOrEqual(2);
    await Promise.all(flood);
  });

  test('rejects only the look-ups of a query that fails, and continues', async () => {
    const { queue, queries, drain } = openQueue({ queriesMax: 1, batchSizeMax: 2 });
    const outcomes = outcomesOf(['1', '2', '3', 'key'].map((hash) => queue.find(hash, 'A')));
    queries.shift()?.fail(Object.assign(new Error('gone'), { code: 'gone' }));
    await new Promise(setImmediate);
    await drain();
    expect(await outcomes).toEqual(['gone', false, false, true]);
  });

  test('is empty once everything is resolved, dropped or failed', async () => {
    const { queue, queries, drain } = openQueue({ queriesMax: 2, batchSizeMax: 3, pendingMax: 50, pendingOfNetworkMax: 20 });
    const flood = many(300, 'invented ').map((hash, i) => queue.find(hash, `network ${i % 7}`));
    const outcomes = outcomesOf(flood);
    expect(queue.size).toBeGreaterThan(50);
    queries.shift()?.fail(new Error('gone'));
    await new Promise(setImmediate);
    await drain();
    expect(new Set(await outcomes)).toEqual(new Set([false, 'unavailable', undefined]));
    expect(queue.size).toBe(0);
  });
});
