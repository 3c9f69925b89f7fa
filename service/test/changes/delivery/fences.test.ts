// What a worker that was suspended until its lease expired does when it continues: it still has the number of its lease, and another
// worker has its shard.

import { describe, expect, test } from 'vitest';
import { disableEndpoints, insertVerifications, markRead, selectChanged } from '../../../src/changes/delivery/endpoint-queries.ts';
import {
  deleteRows,
  finishTests,
  holdRows,
  insertFailed,
  insertHeld,
  lockOwnShards,
  retryNow,
  updateHealth,
  updateRows,
  verifyEndpoints,
  wakeNext,
} from '../../../src/changes/delivery/result-queries.ts';
import {
  acquireShards,
  insertWorker,
  joinEndpoints,
  moveEndpoints,
  moveReplays,
  moveShards,
  releaseShards,
} from '../../../src/changes/delivery/shard-queries.ts';
import { theService } from '../../../src/domain/actor.ts';
import type { Transaction } from '../../../src/platform/db/handles.ts';
import { openTestStore } from '../../test-store.ts';
import { addEndpoint } from '../../webhook-work.ts';

const store = await openTestStore({ env: { HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on' } });
const { db } = store.dependencies;
const key = await store.createKey();
const shard = key.clientId % 256n;
const url = 'http://127.0.0.1:9/hooks';
const id = BigInt((await addEndpoint(store, key, { url })).id);

async function acquire(): Promise<bigint> {
  await store.write(`update webhook_workers set expires_at = now() - interval '1 second'`);
  const worker = await insertWorker(db, 600);
  expect(await acquireShards(db, worker.id, [shard])).toHaveLength(1);
  return worker.id;
}
const suspended = await acquire();
const owner = await acquire();

test('0 of 200 changes of an endpoint are lost if the suspended worker reads them first', async () => {
  let lost = 0;
  for (let round = 0; round < 200; round += 1) {
    await store.write('update webhooks set types = $2 where id = $1', id, [round % 2 === 0 ? 'pet.created' : 'pet.removed']);
    await markRead(db, suspended, await selectChanged(db, [shard], 10));
    const changed = await selectChanged(db, [shard], 10);
    if (changed.length === 0) lost += 1;
    await markRead(db, owner, changed);
    expect(await selectChanged(db, [shard], 10)).toEqual([]);
  }
  expect(lost).toBe(0);
});

describe('The suspended worker changes nothing, and the owner of the shard does, by', () => {
  const row = (deliveryId: bigint) => ({ webhookId: id, deliveryId });
  const event = (deliveryId: bigint) => ({ ...row(deliveryId), petId: 1n, createdAt: new Date(0), isReplay: false });
  const [first, second, waiting, ofTest] = [1n, 2n, 3n, 2_000_000_000_000_000n];
  const unverified = `update webhooks set verified_at = null; delete from delivery_exceptions where pet_id is null`;

  test.each<[string, (tx: Transaction, workerId: bigint) => Promise<unknown>, string?]>([
    [
      'marking a change as read',
      async (tx, worker) => markRead(tx, worker, await selectChanged(tx, [shard], 10)),
      `update webhooks set types = '{pet.updated}'`,
    ],
    ['queueing a test', (tx, worker) => insertVerifications(tx, worker, [id]), unverified],
    ['verifying an endpoint', (tx, worker) => verifyEndpoints(tx, worker, [{ id, url }]), unverified],
    ['disabling an endpoint', (tx, worker) => disableEndpoints(tx, worker, [{ id, reason: 'x' }])],
    ['recording that it fails', (tx, worker) => updateHealth(tx, worker, [{ id, since: new Date() }], 5)],
    ['deleting a row', (tx, worker) => deleteRows(tx, worker, [row(first)])],
    ['finishing a test', (tx, worker) => finishTests(tx, worker, [row(ofTest)])],
    ['a retry that has failed', (tx, worker) => updateRows(tx, worker, [{ ...row(first), isScheduled: true, delaySeconds: 60 }])],
    ['a first attempt that has failed', (tx, worker) => insertFailed(tx, worker, [{ ...event(9n), delaySeconds: 60 }])],
    ['an event that waits', (tx, worker) => insertHeld(tx, worker, [event(9n)])],
    ['holding a row', (tx, worker) => holdRows(tx, worker, [row(second)])],
    [
      'waking the next event',
      (tx, worker) => wakeNext(tx, worker, [{ webhookId: id, petId: 1n, isReplay: false }]),
      `delete from delivery_exceptions where delivery_id < ${waiting}`,
    ],
    [
      'making retries due',
      (tx, worker) => retryNow(tx, worker, [id]),
      `update delivery_exceptions set next_attempt_at = now() + interval '1 day'`,
    ],
    ['moving the cursor of a shard', (tx, worker) => moveShards(tx, worker, [{ id: shard, position: 0n }])],
    ['moving the cursor of an endpoint', (tx, worker) => moveEndpoints(tx, worker, [{ id, position: 0n }])],
    ['joining the cursor of the shard', (tx, worker) => joinEndpoints(tx, worker, [{ id, floor: 0n }]), 'update webhooks set position = 0'],
    ['moving a replay', (tx, worker) => moveReplays(tx, worker, [{ webhookId: id, position: 4n }])],
    [
      'ending a replay',
      (tx, worker) => moveReplays(tx, worker, [{ webhookId: id, position: 4n }]),
      'update webhook_replays set position = 5',
    ],
    ['releasing a shard', (tx, worker) => releaseShards(tx, worker, [shard])],
  ])('%s', async (_, write, setup = '') => {
    const rolledBack = new Error('rolled back');
    const work = db.transaction(async (tx) => {
      await tx.query({ text: `update webhooks set verified_at = now(), position = null where id = ${id}` });
      await tx.query({
        text: `insert into delivery_exceptions (webhook_id, delivery_id, pet_id, next_attempt_at)
          values (${id}, ${first}, 1, now()), (${id}, ${second}, 1, now()), (${id}, ${waiting}, 1, 'infinity'), (${id}, ${ofTest}, null, now())`,
      });
      await tx.query({
        text: `insert into webhook_replays (webhook_id, client_id, position, to_position) values (${id}, ${key.clientId}, 0, 5)`,
      });
      for (const text of setup.split(';')) if (text) await tx.query({ text });
      const before = await dump(tx);
      await write(tx, suspended);
      expect(await dump(tx)).toEqual(before);
      await write(tx, owner);
      expect(await dump(tx)).not.toEqual(before);
      throw rolledBack;
    }, theService);
    await expect(work).rejects.toBe(rolledBack);
  });

  /** Also rows that were written without a change. */
  async function dump(tx: Transaction): Promise<unknown> {
    const tables = ['webhooks', 'delivery_exceptions', 'webhook_replays', 'webhook_shards'];
    const rows = tables.map((table) => `(select json_agg(json_build_array(ctid, ${table}) order by ctid) from ${table}) as ${table}`);
    return (await tx.query({ text: `select ${rows.join()}` })).rows;
  }
});

test('a shard whose owner is writing is not taken until the commit', async () => {
  const next = await insertWorker(db, 600);
  await store.write(`update webhook_workers set expires_at = now() - interval '1 second' where id = $1`, owner);
  await db.transaction(async (tx) => {
    expect(await lockOwnShards(tx, owner, [shard])).toEqual(new Set([shard]));
    expect(await acquireShards(db, next.id, [shard])).toEqual([]);
  }, theService);
  await db.transaction(async (tx) => {
    await moveEndpoints(tx, owner, [{ id, position: 0n }]);
    expect(await acquireShards(db, next.id, [shard])).toEqual([]);
  }, theService);
  expect(await acquireShards(db, next.id, [shard])).toHaveLength(1);
});
