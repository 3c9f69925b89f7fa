import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mintApiKey } from '../../src/clients/api-key.ts';
import { KeyFinder, TooManyLookups } from '../../src/clients/key-finder.ts';
import type { Db } from '../../src/db/pool.ts';
import { createTestStore, type TestStore } from '../test-store.ts';

let store: TestStore;
let finder: KeyFinder;
let queries: number;
beforeAll(async () => {
  store = await createTestStore();
});
afterAll(() => store[Symbol.asyncDispose]());
beforeEach(() => {
  queries = 0;
  const counted: Db = {
    query: (statement) => {
      queries += 1;
      return store.dependencies.db.query(statement);
    },
  };
  finder = new KeyFinder(counted);
});

const create = async () => (await store.createKey()).key;
const invent = () => mintApiKey('production');

describe('KeyFinder', () => {
  test('remembers a key that was read under an epoch', async () => {
    const key = await create();
    await finder.lookUp(key, 'a', 'epoch');
    expect(finder.recall(key)).toMatchObject({ epoch: 'epoch' });
  });

  test('does not remember a key that was read without one', async () => {
    const key = await create();
    await finder.lookUp(key, 'a', undefined);
    expect(finder.recall(key)).toBeUndefined();
  });

  test('forgets what it remembers when it is told to', async () => {
    const key = await create();
    await finder.lookUp(key, 'a', 'epoch');
    finder.forgetAll();
    expect(finder.recall(key)).toBeUndefined();
  });

  test('does not remember what was being read when it was told to forget', async () => {
    const key = await create();
    const reading = finder.lookUp(key, 'a', 'epoch');
    finder.forgetAll();
    expect(await reading).toMatchObject({ epoch: 'epoch' });
    expect(finder.recall(key)).toBeUndefined();
  });

  test('asks once for a key that does not exist, however often it is sent', async () => {
    const key = invent();
    for (let i = 0; i < 10; i += 1) expect(await finder.lookUp(key, 'a', undefined)).toBeUndefined();
    expect(queries).toBe(1);
  });

  test('asks twice for a hundred at once: nobody shares a query that began before they asked', async () => {
    const key = await create();
    const found = await Promise.all(Array.from({ length: 100 }, () => finder.lookUp(key, 'a', undefined)));
    expect(found.every((known) => known !== undefined)).toBe(true);
    expect(queries).toBe(2);
  });

  test('looks up 60 keys that do not exist for an address, and refuses more', async () => {
    for (let i = 0; i < 60; i += 1) await finder.lookUp(invent(), 'a', undefined);
    const refused = await Promise.allSettled(Array.from({ length: 60 }, () => finder.lookUp(invent(), 'a', undefined)));
    const reasons = refused.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason);
    expect(reasons[0]).toBeInstanceOf(TooManyLookups);
    expect(queries).toBeLessThan(120);
  });

  test('refuses an address nothing for what another has sent', async () => {
    for (let i = 0; i < 60; i += 1) await finder.lookUp(invent(), 'a', undefined);
    expect(await finder.lookUp(invent(), 'b', undefined)).toBeUndefined();
  });

  test('charges nothing for keys that exist', async () => {
    const hashes: string[] = [];
    for (let i = 0; i < 70; i += 1) hashes.push(await create());
    for (const key of hashes) expect(await finder.lookUp(key, 'a', undefined)).toBeDefined();
  });
});
