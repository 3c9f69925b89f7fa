import { beforeEach, describe, expect, test, vi } from 'vitest';
import { startRedis } from '../../../../testkit/servers.ts';
import { ChangeLog, logLength, petLog } from '../../../src/animals/list-cache/change-log.ts';
import type { Footprint, PetChange } from '../../../src/animals/list-cache/shown-changes.ts';
import { addPet, createManager, type PetBody } from '../../adoption-steps.ts';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import { openTestStore } from '../../test-store.ts';

const redis = disposeAfterAll(await startRedis());
const store = await openTestStore({ env: { REDIS_URL: redis.url } });
const [key, manager] = [await store.createKey(), await createManager(store)];

const footprintOf = (categoryId: bigint): Footprint => ({ categoryId, status: undefined, ids: undefined, after: 0n, last: undefined });
const client = () => store.dependencies.redis.client;
const readToken = async () => (await client().get(store.dependencies.redisKeys.catalogueToken)) ?? undefined;

/** On a busy machine Redis may be late. Then a writer notes its change in PostgreSQL and announces it later: these tests wait for that. */
const busy = { interval: 5 };

async function addTo(categoryId: number): Promise<PetBody> {
  const before = await readToken();
  const pet = await addPet(store, key, { categoryId });
  await vi.waitFor(async () => expect(await readToken()).not.toBe(before), busy);
  return pet;
}

/** As in a Redis that has lost its log. */
const setTokenOnly = (token: string) => client().set(store.dependencies.redisKeys.catalogueToken, token);
const commandCalls = async (command: string) =>
  Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(await client().info('commandstats'))?.[1] ?? 0);

describe('The log of changes', () => {
  let log: ChangeLog<PetChange, Footprint>;
  /** What the process had read before the test's changes. */
  let version: number;
  const touched = (...categories: bigint[]) => categories.map((id) => log.hasTouched(footprintOf(id), version));
  /** Redis may also be late for the reader, who then knows no version. */
  const readUp = () =>
    vi.waitFor(async () => {
      const read = await log.versionOf(await readToken());
      expect(read).toBeDefined();
      return read;
    }, busy);
  beforeEach(async () => {
    await addTo(1);
    log = new ChangeLog(store.dependencies.redis, store.dependencies.redisKeys, petLog);
    version = (await readUp()) ?? 0;
  });

  test('tells a process what has changed, and nothing else', async () => {
    await addTo(2);
    await addTo(3);
    expect(await readUp()).toBeGreaterThan(version);
    expect(touched(1n, 2n, 3n, 4n)).toEqual([false, true, true, false]);
  });

  test('has both categories of an animal that was moved', async () => {
    const { id } = await addTo(2);
    version = (await readUp()) ?? 0;
    await store.call('PATCH', `/v1/pets/${id}`, { key: manager.key, body: { categoryId: 3 } });
    await readUp();
    expect(touched(1n, 2n, 3n)).toEqual([false, true, true]);
  });

  test('has the category of an animal that was removed', async () => {
    const { id } = await addTo(2);
    version = (await readUp()) ?? 0;
    await store.call('DELETE', `/v1/pets/${id}`, { key: manager.key });
    await readUp();
    expect(touched(1n, 2n)).toEqual([false, true]);
  });

  test('is not read for a token that is known, and the version is there at once', async () => {
    const token = await readToken();
    expect(log.versionOf(token)).toBe(version);
    await addTo(2);
    await readUp();
    // The reply to an earlier request arrives later.
    expect(log.versionOf(token)).toBe(log.version);
  });

  test('is read once for concurrent requests', async () => {
    await addTo(2);
    const token = await readToken();
    const before = await commandCalls('lrange');
    const versions = await Promise.all([log.versionOf(token), log.versionOf(token), log.versionOf(token)]);
    expect(new Set(versions).size).toBe(1);
    expect((await commandCalls('lrange')) - before).toBe(1);
  });

  test('is read again for a token that was set after a read had been sent', async () => {
    await addTo(2);
    const reading = log.versionOf(await readToken());
    await addTo(3);
    await Promise.all([reading, readUp()]);
    expect(touched(2n, 3n)).toEqual([true, true]);
  });

  test('leads over many entries', async () => {
    for (let i = 0; i < 20; i += 1) await addTo(2);
    await readUp();
    expect(touched(1n, 2n)).toEqual([false, true]);
  });

  test('that is too short makes every page invalid', async () => {
    await addTo(2);
    await client().ltrim(store.dependencies.redisKeys.catalogueLog, 0, -1 - logLength);
    for (let i = 0; i < logLength; i += 1) await addTo(2);
    await readUp();
    expect(touched(1n, 2n)).toEqual([true, true]);
    version = log.version;
    await addTo(2);
    await readUp();
    expect(touched(1n, 2n)).toEqual([false, true]);
  });

  test('without an entry for the token makes every page invalid', async () => {
    await setTokenOnly('lost-1');
    await readUp();
    expect(touched(1n)).toEqual([true]);
    version = log.version;
    // The entries after that token tell again what has changed.
    await addTo(2);
    await readUp();
    expect(touched(1n, 2n)).toEqual([false, true]);
  });

  test('with such a token in its middle makes every page invalid', async () => {
    await addTo(2);
    await setTokenOnly('lost-2');
    await addTo(2);
    await readUp();
    expect(touched(1n)).toEqual([true]);
  });

  test('that Redis has lost makes every page invalid', async () => {
    await client().flushall();
    await addTo(2);
    await readUp();
    expect(touched(1n)).toEqual([true]);
  });

  test('makes pages invalid that were read before the process knew a token', async () => {
    const fresh = new ChangeLog(store.dependencies.redis, store.dependencies.redisKeys, petLog);
    const atFirst = fresh.version;
    await fresh.versionOf(await readToken());
    expect(fresh.hasTouched(footprintOf(1n), atFirst)).toBe(true);
  });

  test('has the last changes in memory: a page from before them is invalid, a later one is not', async () => {
    const { catalogueToken, catalogueLog } = store.dependencies.redisKeys;
    const push = async (i: number, changes: number) => {
      const text = Array.from({ length: changes }, (_, n) => `${1_000_000 + n}::2/available`).join(' ');
      await client().lpush(catalogueLog, `many-${i} ${await readToken()} ${text}`);
      await setTokenOnly(`many-${i}`);
    };
    const readMany = async (from: number, to: number) => {
      for (let i = from; i < to; i += 1) await push(i, 100);
      expect(await client().exists(catalogueToken)).toBe(1);
      return (await readUp()) ?? 0;
    };
    const early = version;
    version = await readMany(0, 12);
    expect([log.hasTouched(footprintOf(1n), early), touched(1n, 2n)]).toEqual([false, [false, false]]);
    await readMany(12, 21);
    expect([log.hasTouched(footprintOf(1n), early), touched(1n, 2n)]).toEqual([true, [false, true]]);
  });

  test('gives no version if Redis does not reply', async () => {
    await addTo(2);
    const token = await readToken();
    await redis.signal('SIGSTOP');
    const reading = log.versionOf(token);
    expect(await reading).toBeUndefined();
    await redis.signal('SIGCONT');
    await expect.poll(() => store.dependencies.redis.up).toBe(true);
    await readUp();
    expect(touched(1n, 2n)).toEqual([false, true]);
  });
});
