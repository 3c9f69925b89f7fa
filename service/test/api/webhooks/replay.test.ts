// POST /v1/webhooks/{webhookId}/replay: one delivery, failed ones, or a time range.

import { describe, expect, test } from 'vitest';
import { errorResponse } from '../../error-response.ts';
import { poll } from '../../poll.ts';
import type { TestKey } from '../../test-store.ts';
import { webhookBench } from '../../webhook-bench.ts';
import { type Received, type Reply, WebhookReceiver } from '../../webhook-receiver.ts';
import { addAnimals, feedEnd, hurry, namesOf, passTime, publishChanges } from '../../webhook-steps.ts';
import type { DeliveryBody } from '../../webhook-work.ts';

const bench = await webhookBench();
const hour = 3_600_000;

/** Ids of animals by name. */
const animals = new Map<string, number>();

/** Publishes an event for each name. The animal is given by the name up to the first space. */
async function publish(...names: string[]): Promise<number> {
  for (const animal of new Set(names.map(animalOf))) {
    if (!animals.has(animal)) animals.set(animal, (await addAnimals(bench.store, 1))[0] ?? 0);
  }
  return publishChanges(
    bench.store,
    names.map((name) => ({ petId: animals.get(animalOf(name)) ?? 0, name })),
  );
}
const animalOf = (name: string) => `${name.split(' ')[0]} of ${bench.partner.id}`;
const nameOf = ({ json }: Received) => json.data.pet?.name ?? '';
const accept = () => {
  bench.receiver.respond = () => ({ status: 204 });
};
const replay = (id: number, body: object, key?: TestKey) => bench.call<{ count: number }>('POST', `/${id}/replay`, body, key);
const rowsOf = (id: number) =>
  bench.store.write<{ status: string; attempts: bigint }>(
    'select status, attempt_count as attempts from delivery_exceptions where webhook_id = $1 order by delivery_id',
    id,
  );

/** A range of time that contains only what `work` publishes. */
async function during(work: () => Promise<unknown>): Promise<{ from: string; to: string }> {
  const now = async () => (await bench.store.write<{ now: Date }>(`select clock_timestamp() as now`))[0]?.now.toISOString() ?? '';
  const from = await now();
  await new Promise((resolve) => setTimeout(resolve, 3));
  await work();
  await new Promise((resolve) => setTimeout(resolve, 3));
  const to = await now();
  return { from, to };
}

/** Makes the pending deliveries fail for good at their next attempt. */
async function failForGood(id: number): Promise<void> {
  await bench.store.write(`update delivery_exceptions set retry_count = 9 where webhook_id = $1 and next_attempt_at < 'infinity'`, id);
  await hurry(bench.store, id);
}

describe('A replay of one delivery', () => {
  test('that was delivered sends it again, and counts its attempts from 1 again', async () => {
    const { id } = await bench.endpoint();
    const delivery = await publish('a');
    await bench.hasDelivered(id, 1);
    for (const count of [2, 3]) {
      expect(await replay(id, { deliveryId: delivery })).toMatchObject({ status: 202, json: { count: 1 } });
      await bench.names(count);
      expect(await bench.hasDelivered(id, 1)).toMatchObject([{ id: delivery, attemptCount: 1 }]);
    }
    expect(new Set(bench.receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([`evt_${delivery}`]));
    const { json } = await bench.call<DeliveryBody>('GET', `/${id}/deliveries/${delivery}`);
    expect(json.attempts).toMatchObject([{ status: 204 }, { status: 204 }, { status: 204 }]);
    expect(await rowsOf(id)).toEqual([]);
  });

  test('that waits for its next attempt sends it now, and what waits behind it afterwards', async () => {
    bench.receiver.respond = () => ({ status: 500 });
    const { id } = await bench.endpoint();
    const last = await publish('a 1', 'a 2', 'a 3');
    await poll(() => rowsOf(id)).until((rows) => rows.length === 3 && rows[0]?.attempts === 1n);
    accept();
    expect(await replay(id, { deliveryId: last - 2 })).toMatchObject({ status: 202, json: { count: 1 } });
    await bench.hasDelivered(id, 3);
    await publish('a 4');
    await bench.hasDelivered(id, 4);
    expect(namesOf(bench.receiver)).toEqual(['a 1', 'a 1', 'a 2', 'a 3', 'a 4']);
  });

  test('that waits behind another does not let it overtake', async () => {
    bench.receiver.respond = () => ({ status: 500 });
    const { id } = await bench.endpoint();
    const last = await publish('a 1', 'a 2', 'a 3');
    await poll(() => rowsOf(id)).until((rows) => rows.length === 3 && rows[0]?.attempts === 1n);
    accept();
    expect(await replay(id, { deliveryId: last - 1 })).toMatchObject({ status: 202, json: { count: 1 } });
    await bench.hasDelivered(id, 3);
    expect(namesOf(bench.receiver)).toEqual(['a 1', 'a 1', 'a 2', 'a 3']);
  });

  test('that is still queued leaves it queued', async () => {
    const { id } = await bench.endpoint();
    await bench.stopWorker();
    const last = await publish('a', 'b');
    expect(await replay(id, { deliveryId: last })).toMatchObject({ status: 202, json: { count: 1 } });
    expect(await rowsOf(id)).toEqual([]);
    bench.startWorker();
    await bench.hasDelivered(id, 2);
    expect(namesOf(bench.receiver).sort()).toEqual(['a', 'b']);
  });

  test('that is a test sends the test again', async () => {
    const { id } = await bench.endpoint();
    const { json } = await bench.call<DeliveryBody>('POST', `/${id}/test`);
    await bench.hasDelivered(id, 1);
    expect(await replay(id, { deliveryId: json.id })).toMatchObject({ status: 202, json: { count: 1 } });
    await bench.receiver.has(2);
    expect(await bench.hasDelivered(id, 1)).toMatchObject([{ id: json.id, attemptCount: 1, type: 'webhook.test' }]);
    expect(bench.receiver.received[1]?.text).toBe(bench.receiver.received[0]?.text);
  });

  test('of another endpoint, or that was never sent to this one, is 404', async () => {
    const [own, other] = [await bench.endpoint(), await bench.endpoint({ types: ['pet.removed'] })];
    const delivery = await publish('a');
    await bench.hasDelivered(own.id, 1);
    expect(await replay(other.id, { deliveryId: delivery })).toMatchObject(errorResponse(404, 'delivery_not_found'));
    const stranger = await bench.store.createKey();
    expect(await replay(own.id, { deliveryId: delivery }, stranger)).toMatchObject(errorResponse(404, 'webhook_not_found'));
    expect(bench.receiver.received).toHaveLength(1);
  });
});

describe('A replay of failed deliveries', () => {
  test('sends those that failed for good, in order by animal, and no other', async () => {
    bench.receiver.respond = (request) => ({ status: nameOf(request) === 'b' ? 204 : 500 });
    const { id } = await bench.endpoint();
    await publish('a 1', 'b', 'a 2', 'c');
    const attempts = (...expected: bigint[]) =>
      poll(() => rowsOf(id)).until((rows) => rows.map((row) => row.attempts).join() === expected.join());
    await attempts(1n, 0n, 1n);
    await failForGood(id);
    await attempts(2n, 1n, 2n);
    await failForGood(id);
    await bench.hasStatuses(id, 'failed', 'delivered', 'failed', 'failed');
    accept();
    const before = bench.receiver.received.length;
    expect(await replay(id, { failed: true })).toMatchObject({ status: 202, json: { count: 3 } });
    await bench.hasDelivered(id, 4);
    const again = namesOf(bench.receiver).slice(before);
    expect(again.toSorted()).toEqual(['a 1', 'a 2', 'c']);
    expect(again.indexOf('a 1')).toBeLessThan(again.indexOf('a 2'));
    expect(await replay(id, { failed: true })).toMatchObject({ status: 202, json: { count: 0 } });
  });

  test('that fail again are retried, and hold back no new event', async () => {
    bench.receiver.respond = () => ({ status: 500 });
    const { id } = await bench.endpoint();
    await publish('a 1');
    await bench.hasStatuses(id, 'pending');
    await bench.names(1);
    await poll(() => rowsOf(id)).until(([row]) => row?.attempts === 1n);
    await failForGood(id);
    await bench.hasStatuses(id, 'failed');
    bench.receiver.respond = (request) => ({ status: nameOf(request) === 'a 1' ? 500 : 204 });
    await replay(id, { failed: true });
    await poll(() => rowsOf(id)).until(([row]) => row?.status === 'pending' && row.attempts === 1n);
    await publish('a 2');
    await bench.hasStatuses(id, 'pending', 'delivered');
    accept();
    await hurry(bench.store, id);
    await bench.hasDelivered(id, 2);
    expect(namesOf(bench.receiver)).toEqual(['a 1', 'a 1', 'a 1', 'a 2', 'a 1']);
  });
});

describe('A replay of a time range', () => {
  test('sends everything in order by animal, also what was never sent, and only what the endpoint subscribes to', async () => {
    await bench.endpoint();
    const range = await during(async () => {
      await publish(...[1, 2, 3, 4].flatMap((n) => [`a ${n}`, `b ${n}`, `c ${n}`]));
      await publishChanges(bench.store, [{ petId: animals.get(animalOf('a')) ?? 0, name: 'other', type: 'pet.created' }]);
    });
    await publish('a 5');
    const { id } = await bench.endpoint();
    await bench.names(13);
    bench.receiver.received.splice(0);
    expect(await replay(id, range)).toMatchObject({ status: 202, json: { count: 12 } });
    const names = await bench.names(12);
    await bench.hasDelivered(id, 12);
    for (const animal of ['a', 'b', 'c']) {
      expect(names.filter((name) => name.startsWith(animal))).toEqual([1, 2, 3, 4].map((n) => `${animal} ${n}`));
    }
    expect(names).toHaveLength(12);
  });

  test('can be started again once it is done, and not before, for any endpoint of the client', async () => {
    const [first, second] = [await bench.endpoint(), await bench.endpoint({ types: ['pet.updated', 'pet.created'] })];
    const range = await during(() => publish('a 1', 'a 2', 'b 1'));
    await bench.names(6);
    await bench.stopWorker();
    expect(await replay(first.id, range)).toMatchObject({ status: 202, json: { count: 3 } });
    for (const { id } of [first, second]) {
      const response = await replay(id, range);
      expect(response).toMatchObject(errorResponse(409, 'replay_in_progress', `A replay for endpoint ${first.id} is still in progress`));
    }
    const stranger = await bench.store.createKey();
    const foreign = await bench.endpoint({}, stranger);
    expect(await replay(foreign.id, range, stranger)).toMatchObject({ status: 202, json: { count: 3 } });
    bench.startWorker();
    await bench.names(12);
    const again = await poll(() => replay(second.id, range)).until(({ status }) => status !== 409);
    expect(again).toMatchObject({ status: 202, json: { count: 3 } });
    await bench.names(15);
  });

  test('of a removed or disabled endpoint does not stand in the way of another', async () => {
    const [removed, disabled, other] = [await bench.endpoint(), await bench.endpoint(), await bench.endpoint()];
    const range = await during(() => publish('a'));
    await bench.names(3);
    await bench.stopWorker();
    expect((await replay(removed.id, range)).status).toBe(202);
    await bench.call('DELETE', `/${removed.id}`);
    expect((await replay(disabled.id, range)).status).toBe(202);
    await bench.setStatus(disabled.id, 'disabled');
    expect((await replay(other.id, range)).status).toBe(202);
    await bench.setStatus(disabled.id, 'enabled');
    bench.startWorker();
    await bench.names(4);
    await poll(() => bench.store.write('select from webhook_replays where client_id = $1', bench.partner.clientId)).until(
      (rows) => rows.length === 0,
    );
    expect(namesOf(bench.receiver)).toHaveLength(4);
  });

  test('with failures delays no new event, not even of the same animal, and retries in order', async () => {
    const { id } = await bench.endpoint();
    const range = await during(() => publish('a 1', 'a 2', 'a 3', 'b 1'));
    await bench.hasDelivered(id, 4);
    bench.receiver.received.splice(0);
    bench.receiver.respond = (request) => ({ status: nameOf(request) === 'a 1' ? 500 : 204 });
    await replay(id, range);
    await poll(() => rowsOf(id)).until((rows) => rows.length === 3 && rows[0]?.attempts === 1n);
    await publish('a 4');
    await bench.hasStatuses(id, 'pending', 'pending', 'pending', 'delivered', 'delivered');
    // The replay is done: what is left waits in rows.
    passTime(5_000);
    await poll(() => bench.store.write('select from webhook_replays where client_id = $1', bench.partner.clientId)).until(
      (rows) => rows.length === 0,
    );
    await bench.restartWorker();
    accept();
    await hurry(bench.store, id);
    await bench.hasDelivered(id, 5);
    const names = namesOf(bench.receiver);
    expect(names.filter((name) => ['a 1', 'a 2', 'a 3'].includes(name))).toEqual(['a 1', 'a 1', 'a 2', 'a 3']);
    expect(names.filter((name) => ['a 4', 'b 1'].includes(name))).toHaveLength(2);
  });

  test('leaves new events their turn', async () => {
    const { id } = await bench.endpoint();
    await using other = await WebhookReceiver.open();
    const range = await during(() => publish(...Array.from({ length: 60 }, (_, i) => `a${i}`)));
    await bench.endpoint({ url: other.url });
    await bench.hasDelivered(id, 60);
    bench.receiver.received.splice(0);
    // The receiver responds one by one.
    const waiting: Array<() => void> = [];
    bench.receiver.respond = () => new Promise<Reply>((resolve) => waiting.push(() => resolve({ status: 204 })));
    await replay(id, range);
    await bench.receiver.has(2);
    await publish('new 1', 'new 2');
    // By now the worker knows of them.
    await other.has(2);
    const next = async () => {
      waiting.shift()?.();
      const { length } = bench.receiver.received;
      await bench.receiver.has(length + 1);
    };
    for (let i = 0; i < 10; i += 1) await next();
    expect(namesOf(bench.receiver)).toContain('new 1');
    accept();
    for (const respond of waiting.splice(0)) respond();
    await bench.names(62);
  });

  test('is continued by another worker, which sends nothing twice', async () => {
    const { id } = await bench.endpoint();
    const range = await during(() =>
      publish(...Array.from({ length: 30 }, (_, i) => `a${i} 1`), ...Array.from({ length: 30 }, (_, i) => `a${i} 2`)),
    );
    await bench.hasDelivered(id, 60);
    bench.receiver.received.splice(0);
    await replay(id, range);
    await bench.receiver.has(12);
    await bench.restartWorker();
    await bench.receiver.has(30);
    await bench.restartWorker();
    await bench.names(60);
    await poll(() => bench.store.write('select from webhook_replays where client_id = $1', bench.partner.clientId)).until(
      (rows) => rows.length === 0,
    );
    const names = namesOf(bench.receiver);
    expect(names).toHaveLength(60);
    for (let i = 0; i < 30; i += 1) expect(names.indexOf(`a${i} 1`)).toBeLessThan(names.indexOf(`a${i} 2`));
  });

  test('of more than 10,000 events is 400 and queues nothing; of 10,000 it is 202', async () => {
    await bench.stopWorker();
    const [petId] = await addAnimals(bench.store, 1);
    await bench.store.write(
      `with range as (update feed set last_position = last_position + 10001 returning last_position - 10001 as before)
        insert into events (position, published_at, type, pet_id, at, data)
          select before + n, now() + interval '1 hour' + n * interval '1 ms', 'pet.updated', $1, now(), '{}'
            from range, generate_series(1, 10001) as n`,
      petId,
    );
    const { id } = await bench.endpoint();
    const [last] = await bench.store.write<{ at: Date }>('select max(published_at) as at from events');
    const end = last?.at.getTime() ?? 0;
    const range = (toMs: number) => ({ from: new Date(end - hour / 2).toISOString(), to: new Date(toMs).toISOString() });
    expect(await replay(id, range(end + 2))).toMatchObject(errorResponse(400, 'invalid_body', 'more than 10000 events'));
    expect(await bench.store.write('select from webhook_replays where webhook_id = $1', id)).toEqual([]);
    expect(await replay(id, range(end))).toMatchObject({ status: 202, json: { count: 10_000 } });
    await bench.call('DELETE', `/${id}`);
    await bench.store.write('update webhook_shards set position = $1', await feedEnd(bench.store));
    bench.startWorker();
  });

  test('without an event is 202 with the count 0, and blocks nothing', async () => {
    const { id } = await bench.endpoint();
    const empty = { from: '2020-01-01T00:00:00Z', to: '2020-01-02T00:00:00Z' };
    for (let i = 0; i < 2; i += 1) expect(await replay(id, empty)).toMatchObject({ status: 202, json: { count: 0 } });
  });
});
