// Endpoints that are disabled, or whose client is suspended: what was queued before is sent later, what came meanwhile is not.

import { describe, expect, test } from 'vitest';
import { testAuthor } from '../../../../testkit/test-author.ts';
import { setSuspended } from '../../../src/access/clients/clients.ts';
import { listDeliveries } from '../../../src/changes/webhooks/deliveries.ts';
import { enableByOperator } from '../../../src/changes/webhooks/webhooks.ts';
import { errorResponse } from '../../error-response.ts';
import { poll } from '../../poll.ts';
import { webhookBench } from '../../webhook-bench.ts';
import { WebhookReceiver } from '../../webhook-receiver.ts';
import { feedEnd, namesOf, publishNames, sharesCursor } from '../../webhook-steps.ts';

const bench = await webhookBench();

const publish = (...names: string[]) => publishNames(bench.store, ...names);

/** Waits until the worker has read all changes of endpoints: it reads them together, and before it sends a test to another one. */
async function changesAreRead(): Promise<void> {
  await using other = await WebhookReceiver.open();
  const { id } = await bench.endpoint({ url: other.url, types: ['pet.removed'] });
  await bench.call('POST', `/${id}/test`);
  await other.has(1);
}

const delivered = (count: number) => Array.from({ length: count }, () => 'delivered');
const pending = (count: number) => Array.from({ length: count }, () => 'pending');
const positionOf = async (id: number) =>
  (await bench.store.write<{ position: bigint | null }>('select position from webhooks where id = $1', id))[0]?.position;

async function suspend(isSuspended: boolean): Promise<void> {
  const { db } = bench.store.dependencies;
  const [client] = await bench.store.write<{ name: string }>('select name from clients where id = $1', bench.partner.clientId);
  await setSuspended(db, () => true, testAuthor, client?.name ?? '', isSuspended);
}

/** The deliveries, also of a suspended client. */
async function list(id: number): Promise<Array<[bigint, string]>> {
  const all = await listDeliveries(bench.store.dependencies.db, BigInt(id), undefined, { afterId: undefined, limit: 100 });
  return all.map((delivery) => [delivery.id, delivery.status]);
}

describe('An endpoint that was disabled and is enabled', () => {
  test('gets what was queued before, and not what came meanwhile', async () => {
    const { id } = await bench.endpoint();
    const release = bench.receiver.hang();
    await publish('a', 'b', 'c', 'd', 'e', 'f');
    await bench.receiver.has(2);
    await bench.setStatus(id, 'disabled');
    await publish('missed');
    expect(await bench.deliveries(id)).toMatchObject(Array.from({ length: 6 }, () => ({ status: 'pending', attemptCount: 0 })));
    release();
    await bench.hasStatuses(id, ...delivered(2), ...pending(4));
    await bench.setStatus(id, 'enabled');
    await bench.hasDelivered(id, 6);
    await publish('g');
    await bench.hasDelivered(id, 7);
    expect(namesOf(bench.receiver).sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  });

  test('before what was in flight has ended gets the rest', async () => {
    const { id } = await bench.endpoint();
    const release = bench.receiver.hang();
    await publish('a', 'b', 'c', 'd');
    await bench.receiver.has(2);
    await bench.setStatus(id, 'disabled');
    await changesAreRead();
    await bench.setStatus(id, 'enabled');
    release();
    await bench.hasDelivered(id, 4);
    expect(namesOf(bench.receiver).sort()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('several times before it has caught up skips each pause, and nothing else', async () => {
    const { id } = await bench.endpoint();
    await bench.stopWorker();
    for (const round of [1, 2, 3]) {
      await publish(`queued ${round}`);
      await bench.setStatus(id, 'disabled');
      await publish(`missed ${round}`);
      await bench.setStatus(id, 'enabled');
      expect(await bench.deliveries(id)).toMatchObject(pending(round).map((status) => ({ status })));
    }
    await publish('last');
    bench.startWorker();
    await bench.hasDelivered(id, 4);
    expect(namesOf(bench.receiver).sort()).toEqual(['last', 'queued 1', 'queued 2', 'queued 3']);
    const ranges = await bench.store.write('select from webhooks, unnest(skipped) where id = $1', id);
    expect(ranges).toHaveLength(3);
    await sharesCursor(bench.store, id);
    expect(await bench.store.write(`select from webhooks where id = $1 and skipped = '{}'`, id)).toHaveLength(1);
  });

  test('gets nothing that came meanwhile, also if another worker continues', async () => {
    const { id } = await bench.endpoint();
    await bench.setStatus(id, 'disabled');
    await publish('missed');
    await bench.setStatus(id, 'enabled');
    await publish('a');
    await bench.hasDelivered(id, 1);
    await bench.restartWorker();
    await publish('b');
    await bench.hasDelivered(id, 2);
    expect(namesOf(bench.receiver)).toEqual(['a', 'b']);
  });

  test('is not disturbed by a later change while events wait', async () => {
    const { id } = await bench.endpoint();
    await bench.setStatus(id, 'disabled');
    await publish('missed');
    await bench.setStatus(id, 'enabled');
    await publish('a');
    await bench.hasDelivered(id, 1);
    await sharesCursor(bench.store, id);
    const release = bench.receiver.hang();
    await publish('b', 'c', 'd', 'e', 'f');
    await bench.receiver.has(3);
    await bench.call('PATCH', `/${id}`, { description: 'no more than a note' });
    await changesAreRead();
    release();
    await bench.hasDelivered(id, 6);
    expect(namesOf(bench.receiver).sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  test('after more events than a worker reads at once gets none from before', async () => {
    await bench.stopWorker();
    await publish(...Array.from({ length: 550 }, (_, i) => `before-${i}`));
    const paused = await bench.endpoint();
    await bench.setStatus(paused.id, 'disabled');
    await publish(...Array.from({ length: 550 }, (_, i) => `meanwhile-${i}`));
    await bench.setStatus(paused.id, 'enabled');
    const late = await bench.endpoint();
    bench.startWorker();
    await publish('after');
    await bench.hasDelivered(late.id, 1);
    await bench.hasDelivered(paused.id, 1);
    expect(namesOf(bench.receiver)).toEqual(['after', 'after']);
  });
});

describe('A suspended client', () => {
  test('that is resumed gets what was queued before, and not what came meanwhile', async () => {
    const { id } = await bench.endpoint();
    await bench.stopWorker();
    await publish('a', 'b');
    await suspend(true);
    await publish('missed');
    bench.startWorker();
    const before = await list(id);
    expect(before.map(([, status]) => status)).toEqual(pending(2));
    await publish('missed too');
    expect(await list(id)).toEqual(before);
    await suspend(false);
    expect((await list(id)).map(([position]) => position)).toEqual(before.map(([position]) => position));
    await bench.hasDelivered(id, 2);
    await publish('c');
    await bench.hasDelivered(id, 3);
    expect(namesOf(bench.receiver).sort()).toEqual(['a', 'b', 'c']);
  });

  test('is paused until both pauses have ended, if its endpoint is disabled too', async () => {
    const { id } = await bench.endpoint();
    await publish('a');
    await bench.hasDelivered(id, 1);
    await bench.setStatus(id, 'disabled');
    await publish('missed 1');
    await suspend(true);
    await publish('missed 2');
    await suspend(false);
    await publish('missed 3');
    expect((await list(id)).map(([, status]) => status)).toEqual(delivered(1));
    await bench.setStatus(id, 'enabled');
    await publish('b');
    await bench.hasDelivered(id, 2);
    expect(namesOf(bench.receiver)).toEqual(['a', 'b']);
  });

  test('gets nothing more once its suspension is committed, also what is queued already', async () => {
    const { id } = await bench.endpoint();
    const release = bench.receiver.hang();
    await publish('a', 'b', 'c', 'd', 'e', 'f');
    await bench.receiver.has(2);
    await suspend(true);
    release();
    await poll(() => list(id)).until((all) => all.filter(([, status]) => status === 'delivered').length === 2);
    await bench.restartWorker();
    await publish('missed');
    expect(namesOf(bench.receiver)).toHaveLength(2);
    await suspend(false);
    await bench.hasDelivered(id, 6);
  });
});

describe('An endpoint that is removed', () => {
  test('gets nothing more, also what is queued, and is not found', async () => {
    const { id } = await bench.endpoint();
    const witness = await bench.endpoint({ types: ['pet.removed'] });
    const release = bench.receiver.hang();
    await publish('a', 'b', 'c', 'd');
    await bench.receiver.has(2);
    expect(await bench.call('DELETE', `/${id}`)).toMatchObject({ status: 204 });
    release();
    await publish('e');
    const { json } = await bench.call<{ id: number }>('POST', `/${witness.id}/test`);
    await bench.hasDelivered(witness.id, 1);
    expect(namesOf(bench.receiver)).toHaveLength(2);
    expect(bench.receiver.received.at(-1)?.json.id).toBe(`test_${json.id}`);
    expect(await bench.call('GET', `/${id}/deliveries`)).toMatchObject(errorResponse(404, 'webhook_not_found'));
  });
});

describe('The 101st pause while deliveries are queued', () => {
  test('is 409, and after it has caught up it may be enabled again', async () => {
    const { id } = await bench.endpoint();
    await bench.stopWorker();
    // Positions without events, so that nothing has to be sent.
    await bench.store.write('update feed set last_position = last_position + 202');
    const end = await feedEnd(bench.store);
    await bench.store.write(
      `update webhooks set skipped = (select range_agg(int8range(n, n + 1)) from generate_series($2::bigint - 200, $2::bigint - 1, 2) as n)
        where id = $1`,
      id,
      end,
    );
    await bench.setStatus(id, 'disabled');
    const response = await bench.call('PATCH', `/${id}`, { status: 'enabled' });
    expect(response).toMatchObject(errorResponse(409, 'webhook_disabled', 'disabled 100 times'));
    expect((await bench.webhook(id)).status).toBe('disabled');
    // Enabled by an operator, it catches up.
    await enableByOperator(bench.store.dependencies.db, BigInt(id));
    bench.startWorker();
    await sharesCursor(bench.store, id);
    await bench.setStatus(id, 'disabled');
    await bench.setStatus(id, 'enabled');
    expect(await positionOf(id)).toBe(BigInt(end));
  });
});
