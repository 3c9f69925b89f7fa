// Several workers: how they share the endpoints, take over from each other, and where they continue.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { moveEndpoints, moveShards } from '../../../src/changes/delivery/shard-queries.ts';
import { theService } from '../../../src/domain/actor.ts';
import { poll } from '../../poll.ts';
import { openTestStore, type TestKey } from '../../test-store.ts';
import { type Reply, WebhookReceiver } from '../../webhook-receiver.ts';
import { addAnimals, feedEnd, hurry, namesOf, passTime, publishChanges, publishNames, sharesCursor } from '../../webhook-steps.ts';
import { addEndpoint, deliver, type Work } from '../../webhook-work.ts';
import { FaultyDb } from './faulty-db.ts';

let receiver: WebhookReceiver;
interface Worker {
  readonly work: Work;
  readonly db: FaultyDb;
}
const workers = new Set<Worker>();
const store = await openTestStore({ env: { HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on', HOMEWARD_POOL_SIZE: '20' } });
beforeEach(async () => {
  receiver = await WebhookReceiver.open();
  return () => receiver[Symbol.asyncDispose]();
});
afterEach(async () => {
  for (const { db } of workers) db.resume();
  await Promise.all([...workers].map(stop));
  await store.write('update webhooks set removed_at = now() where removed_at is null');
});

function start(): Worker {
  const db = new FaultyDb(store.dependencies.db);
  const worker = { work: deliver({ db }), db };
  workers.add(worker);
  return worker;
}

async function stop(worker: Worker): Promise<void> {
  workers.delete(worker);
  await worker.work[Symbol.asyncDispose]();
}

/** As if the process were suspended for 20 s: its lease ends. */
async function suspend({ db }: Worker, clientId: bigint): Promise<void> {
  db.stall();
  passTime(20_000);
  await store.write(`update webhook_workers set expires_at = now() - interval '1 second' where id = $1`, await workerOf(clientId));
}

/** How many shards each worker has. */
async function shares(): Promise<number[]> {
  const rows = await store.write<{
    count: bigint;
  }>(`select count(*) from webhook_shards join webhook_workers on webhook_workers.id = worker_id and expires_at > now()
      group by worker_id order by worker_id`);
  return rows.map(({ count }) => Number(count));
}
const hasShares = (...expected: number[]) => poll(shares).until((counts) => counts.join() === expected.join());

const workerOf = async (clientId: bigint) =>
  (await store.write<{ worker: bigint }>('select worker_id as worker from webhook_shards where id = $1', clientId % 256n))[0]?.worker;

const endpoint = (key: TestKey, body: object = {}) => addEndpoint(store, key, { url: receiver.url, types: ['pet.updated'], ...body });

const publish = (...names: string[]) => publishNames(store, ...names);

const names = (count: number) => poll(() => namesOf(receiver)).until((all) => all.length >= count);

/** Waits until the attempts of so many deliveries are stored. */
const areStored = (count: number, id: number) =>
  poll(() => store.write('select from webhook_attempts where webhook_id = $1', id)).until((rows) => rows.length >= count);

const cursorsOf = async (id: number) => {
  const [row] = await store.write<{ own: bigint | null; shard: bigint }>(
    `select webhooks.position as own, webhook_shards.position as shard from webhooks join webhook_shards on webhook_shards.id = shard
      where webhooks.id = $1`,
    id,
  );
  return { own: row?.own === null ? null : Number(row?.own), shard: Number(row?.shard) };
};

describe('Workers', () => {
  test('share the shards evenly, and take over those of one that stops', async () => {
    const first = start();
    await hasShares(256);
    const second = start();
    await hasShares(128, 128);
    const third = start();
    await poll(shares).until((counts) => counts.length === 3 && Math.max(...counts) === 86);
    await stop(first);
    await hasShares(128, 128);
    await stop(third);
    await hasShares(256);
    await stop(second);
    expect(await shares()).toEqual([]);
  });

  test('that come and go lose no event, send none twice, and keep the order of each animal', async () => {
    const keys: TestKey[] = [];
    for (let i = 0; i < 12; i += 1) keys.push(await store.createKey());
    // Distant shards, so that each worker has some.
    for (const key of keys) await endpoint(key, { url: `${receiver.url}?${key.clientId}` });
    const petIds = await addAnimals(store, 4);
    let published = 0;
    const publishSome = async () => {
      for (let i = 0; i < 3; i += 1) {
        published += 4;
        await publishChanges(
          store,
          petIds.map((petId) => ({ petId, name: `${petId} ${published}` })),
        );
      }
    };
    let current = [start()];
    for (let round = 0; round < 4; round += 1) {
      const next = start();
      await publishSome();
      await Promise.all([publishSome(), current.length > 1 && current[0] ? stop(current[0]) : undefined]);
      current = [...current.slice(current.length > 1 ? 1 : 0), next];
    }
    await poll(() => receiver.received.length).until((count) => count >= published * keys.length);
    await Promise.all(current.map(stop));
    expect(receiver.received).toHaveLength(published * keys.length);
    const byEndpoint = Map.groupBy(receiver.received, ({ path }) => path);
    for (const received of byEndpoint.values()) {
      for (const petId of petIds) {
        const numbers = received.flatMap(({ json }) => {
          const [pet, number] = (json.data.pet?.name ?? '').split(' ');
          return pet === String(petId) ? [Number(number)] : [];
        });
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
        expect(numbers).toHaveLength(published / 4);
      }
    }
  });

  test('get the shards of a worker that hangs; when it is back it gets a new id and a share', async () => {
    const key = await store.createKey();
    const { id } = await endpoint(key);
    const first = start();
    await hasShares(256);
    await publish('a');
    await areStored(1, id);
    const before = await workerOf(key.clientId);
    await suspend(first, key.clientId);
    const second = start();
    await hasShares(256);
    await publish('b');
    await areStored(2, id);
    first.db.resume();
    await hasShares(128, 128);
    expect(await store.write('select from webhook_shards where worker_id = $1', before)).toEqual([]);
    await publish('c');
    await names(3);
    await Promise.all([stop(first), stop(second)]);
    expect(namesOf(receiver)).toEqual(['a', 'b', 'c']);
  });

  test('do not wait for an endpoint that hangs before they give up other shards', async () => {
    await store.asOwner('alter table clients alter column id restart with 2000');
    // Of the last shards, which are given up.
    const key = await store.createKey();
    expect(key.clientId % 256n).toBeGreaterThan(128n);
    await endpoint(key);
    start();
    await hasShares(256);
    const release = receiver.hang();
    await publish('a');
    await receiver.has(1);
    start();
    await hasShares(129, 127);
    release();
    await hasShares(128, 128);
    await publish('b');
    expect(await names(2)).toEqual(['a', 'b']);
  });
});

describe('A worker that takes over', () => {
  test('looks at the attempts, and repeats none that succeeded', async () => {
    const key = await store.createKey();
    const { id } = await endpoint(key);
    const crashed = start();
    await hasShares(256);
    await publish('a', 'b', 'c');
    await names(3);
    await areStored(3, id);
    // It has not stored its cursors yet.
    await suspend(crashed, key.clientId);
    start();
    await hasShares(256);
    await publish('d');
    await names(4);
    expect(namesOf(receiver).toSorted()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('sends what was in flight again, and the first worker, which is back, stores nothing but the attempt', async () => {
    const key = await store.createKey();
    const { id } = await endpoint(key);
    const crashed = start();
    await hasShares(256);
    const release = receiver.hang();
    const position = await publish('a');
    await receiver.has(1);
    receiver.respond = () => ({ status: 204 });
    await suspend(crashed, key.clientId);
    const second = start();
    await names(2);
    await areStored(1, id);
    release({ status: 500 });
    crashed.db.resume();
    await areStored(2, id);
    await hasShares(128, 128);
    expect(await store.write('select from delivery_exceptions where webhook_id = $1', id)).toEqual([]);
    const { json } = await store.call('GET', `/v1/webhooks/${id}/deliveries/${position}`, { key: key.key });
    expect(json).toMatchObject({
      status: 'delivered',
      attempts: expect.arrayContaining([{ status: 204 }, { status: 500 }].map((one) => expect.objectContaining(one))),
    });
    await Promise.all([stop(crashed), stop(second)]);
    expect(namesOf(receiver)).toEqual(['a', 'a']);
  });

  test('waits for results that the first one is just storing, and continues with them', async () => {
    const key = await store.createKey();
    const { id } = await endpoint(key);
    const first = start();
    await hasShares(256);
    receiver.respond = () => ({ status: 500 });
    first.db.stall(/insert-failed-deliveries/);
    await publish('a');
    await receiver.has(1);
    await poll(() => store.write(`select from pg_locks where relation = 'webhook_shards'::regclass and mode = 'RowShareLock'`)).until(
      (rows) => rows.length === 1,
    );
    receiver.respond = () => ({ status: 204 });
    passTime(20_000);
    await store.write(`update webhook_workers set expires_at = now() - interval '1 second' where id = $1`, await workerOf(key.clientId));
    start();
    await poll(shares).until((counts) => counts.at(-1) === 255);
    first.db.resume();
    await poll(shares).until((counts) => counts.length === 2 && counts.every((count) => count === 128));
    await hurry(store, id);
    await names(2);
    await poll(() => store.write('select from delivery_exceptions where webhook_id = $1', id)).until((rows) => rows.length === 0);
    expect(namesOf(receiver)).toEqual(['a', 'a']);
  });

  test('repeats nothing that was sent long before the cursor was stored', async () => {
    const key = await store.createKey();
    const { id } = await endpoint(key);
    const first = start();
    await hasShares(256);
    const { promise, resolve } = Promise.withResolvers<Reply>();
    receiver.respond = ({ json }) => (json.data.pet?.name === 'slow' ? promise : { status: 204 });
    const last = await publish('slow', 'quick');
    await names(2);
    await areStored(1, id);
    // As if the animal of the first event had had many: they are sent one after the other, and hold back the cursor.
    const earlier = `- interval '5 minutes'`;
    await store.asOwner(`update webhook_attempts set at = at ${earlier} where webhook_id = $1`, id);
    await store.asOwner(`update events set published_at = published_at ${earlier} where position > $1`, last - 2);
    passTime(6_000);
    await poll(() => store.write(`select from webhooks where id = $1 and position = $2`, id, last - 2)).until((rows) => rows.length === 1);
    await suspend(first, key.clientId);
    receiver.respond = () => ({ status: 204 });
    start();
    await names(3);
    await publish('new');
    await names(4);
    expect(namesOf(receiver)).toEqual(expect.arrayContaining(['slow', 'quick', 'slow', 'new']));
    expect(namesOf(receiver)).toHaveLength(4);
    resolve({ status: 204 });
  });
});

describe('Cursors', () => {
  test("of shards are stored after something was sent; an endpoint that has caught up shares its shard's", async () => {
    const key = await store.createKey();
    const { id } = await endpoint(key);
    start();
    await hasShares(256);
    expect((await cursorsOf(id)).own).toBe(await feedEnd(store));
    const end = await publish('a', 'b');
    await areStored(2, id);
    await sharesCursor(store, id);
    expect(await cursorsOf(id)).toEqual({ own: null, shard: end });
  });

  test('of an endpoint that lags behind are its own, so that it does not hold back its shard', async () => {
    const key = await store.createKey();
    const [lagging, other] = [await endpoint(key), await endpoint(key, { types: ['pet.created'] })];
    start();
    await hasShares(256);
    for (const { id } of [lagging, other]) await sharesCursor(store, id);
    const before = await feedEnd(store);
    const release = receiver.hang();
    const end = await publish('a', 'b', 'c');
    await receiver.has(2);
    // At first it holds the shard back.
    passTime(4_000);
    const [petId = 0] = await addAnimals(store, 1);
    receiver.respond = () => ({ status: 204 });
    const last = await publishChanges(store, [{ petId, name: 'created', type: 'pet.created' }]);
    await areStored(1, other.id);
    expect((await cursorsOf(lagging.id)).shard).toBeLessThanOrEqual(before);
    passTime(6_000);
    await poll(() => cursorsOf(lagging.id)).until(({ own, shard }) => own === before && shard === last);
    expect(await cursorsOf(other.id)).toEqual({ own: null, shard: last });
    release();
    await areStored(3, lagging.id);
    await sharesCursor(store, lagging.id);
    expect(end).toBe(before + 3);
  });

  test("of a shard wait for an endpoint that can't get its own, because it is being changed", async () => {
    const key = await store.createKey();
    const { id } = await endpoint(key);
    const first = start();
    await hasShares(256);
    await sharesCursor(store, id);
    const before = await feedEnd(store);
    const release = receiver.hang();
    await publish('a', 'b', 'c', 'd');
    await receiver.has(2);
    await store.dependencies.db.transaction(async (tx) => {
      await tx.query({ text: 'select from webhooks where id = $1 for no key update', values: [id] });
      passTime(65_000);
      await poll(() => store.write('select from webhook_shards where position >= $1', before + 4)).until((rows) => rows.length === 255);
    }, theService);
    expect(await cursorsOf(id)).toMatchObject({ own: null, shard: before });
    await suspend(first, key.clientId);
    receiver.respond = () => ({ status: 204 });
    start();
    await poll(() => new Set(namesOf(receiver)).size).until((count) => count === 4);
    release();
  });

  test('are not stored by a worker that has lost the shard', async () => {
    const key = await store.createKey();
    const { id } = await endpoint(key);
    start();
    await hasShares(256);
    await publish('a');
    await areStored(1, id);
    await sharesCursor(store, id);
    const cursors = await cursorsOf(id);
    const lost = ((await workerOf(key.clientId)) ?? 0n) - 1n;
    await store.dependencies.db.transaction(async (tx) => {
      await moveShards(tx, lost, [{ id: key.clientId % 256n, position: 1_000_000n }]);
      expect(await moveEndpoints(tx, lost, [{ id: BigInt(id), position: 1_000_000n }])).toEqual(new Set());
    }, theService);
    expect(await cursorsOf(id)).toEqual(cursors);
  });
});
