// What the publisher does on another server, without one: the rows that tell of servers are changed.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { StreamReader } from '../../../../testkit/stream-reader.ts';
import { Publisher, type PublisherParts, type ServerChange } from '../../../src/changes/events/publisher.ts';
import { addPet, createManager } from '../../adoption-steps.ts';
import { petIdOf, readOn } from '../../event-steps.ts';
import { createTestStore, type TestKey, type TestStore } from '../../test-store.ts';

let store: TestStore;
let manager: TestKey;
let changes: ServerChange[];
beforeEach(async () => {
  store = await createTestStore();
  manager = await createManager(store);
  changes = [];
});
afterEach(() => store[Symbol.asyncDispose]());

const publisherOf = (parts: Partial<PublisherParts> = {}) =>
  new Publisher({
    db: store.dependencies.db,
    batchSizeMax: 500,
    beforePublishing: async () => {},
    onServerChange: (change) => changes.push(change),
    ...parts,
  });
const asOwner = (text: string) => store.asOwner(text);
const feed = async () => {
  const rows = await store.read<{ last: bigint; gaps: string; mark: bigint; server: string | null }>(
    'select last_position as last, gaps::text, published_to as mark, server from feed',
  );
  return rows[0];
};
const publishTwo = async (publisher: Publisher) => {
  for (let i = 0; i < 2; i += 1) await addPet(store, manager);
  await publisher.publish();
};

describe('The publisher, on another server than the last position was assigned on', () => {
  test('leaves out what may have been assigned, once', async () => {
    const publisher = publisherOf();
    await publishTwo(publisher);
    await asOwner(`update feed set server = 'before'`);
    await publishTwo(publisher);
    await publishTwo(publisher);
    expect(changes).toMatchObject([{ from: 'before', gap: { from: 2n } }]);
    const to = changes[0]?.gap?.to ?? 0n;
    expect(to).toBeGreaterThan(10n ** 9n);
    expect(await feed()).toMatchObject({ last: to + 4n, gaps: `{[3,${to})}`, server: changes[0]?.to });
    expect([...publisher.servers]).toEqual([changes[0]?.to]);
  });

  test('notices it while there is nothing to publish', async () => {
    const publisher = publisherOf();
    await publishTwo(publisher);
    await asOwner(`update feed set server = 'before'`);
    expect(await publisher.publish()).toBe(0);
    expect(changes).toHaveLength(1);
  });

  test('goes on where PostgreSQL does not tell which server it is', async () => {
    await asOwner('revoke execute on function pg_control_system() from public');
    const publisher = publisherOf();
    await publishTwo(publisher);
    await asOwner(`update feed set server = 'before'`);
    await publishTwo(publisher);
    expect([changes, await feed()]).toMatchObject([[], { last: 4n, server: 'before' }]);
  });

  test('publishes what is at or below a mark of the server before, also one that is started later', async () => {
    await publishTwo(publisherOf());
    await asOwner('update feed set published_to = 1000000');
    await addPet(store, manager);
    expect(await publisherOf().publish()).toBe(1);
    expect((await feed())?.mark).toBeLessThan(1_000_000n);
  });

  test('two failovers leave two gaps, and a cursor between them stays valid', async () => {
    const publisher = publisherOf();
    await publishTwo(publisher);
    await asOwner(`update feed set server = 'first'`);
    await publisher.publish();
    const between = await readOn(store, manager);
    await asOwner(`update feed set server = 'second'`);
    const pet = await addPet(store, manager);
    const after = await readOn(store, manager, between.next);
    expect(after.events.map(petIdOf)).toEqual([pet.id]);
    expect((await feed())?.gaps.split('),')).toHaveLength(2);
  });
});

describe('A stream whose last event is lost', () => {
  const lostFrom3 = 'delete from events where position > 2; update feed set last_position = ';
  test.each([
    ['the feed ends before it', '2'],
    ['the gap is already there when it is next read', `1000000000, gaps = '{[3,1000000000)}'`],
  ])('ends when %s', async (_, last) => {
    const publisher = publisherOf();
    await publishTwo(publisher);
    using behind = await StreamReader.open(`${store.url}/v1/events`, { key: manager.key });
    await behind.untilCount(2);
    await publishTwo(publisher);
    await behind.untilCount(4);
    await asOwner(`${lostFrom3}${last}`);
    await vi.waitUntil(() => behind.isEnded, 5_000);
    const again = await StreamReader.open(`${store.url}/v1/events`, { key: manager.key, lastId: behind.lastId ?? '' });
    expect(again.status).toBe(410);
  });

  test('and not one that had got nothing that is lost', async () => {
    const publisher = publisherOf();
    await publishTwo(publisher);
    using reader = await StreamReader.open(`${store.url}/v1/events`, { key: manager.key });
    await reader.untilCount(2);
    await asOwner(`update feed set last_position = 1000000000, gaps = '{[3,1000000000)}'`);
    await publishTwo(publisher);
    expect(await reader.untilCount(4)).toHaveLength(4);
    expect(reader.isEnded).toBe(false);
  });
});
