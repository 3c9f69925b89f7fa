// GET /v1/webhooks/{webhookId}/deliveries: rows, delivered ones without a row, and events that are still queued, as one list.

import { describe, expect, test } from 'vitest';
import { errorResponse } from '../../error-response.ts';
import { walk } from '../../page-walk.ts';
import { poll } from '../../poll.ts';
import { webhookBench } from '../../webhook-bench.ts';
import { addAnimals, hurry, namesOf, publishChanges, publishNames } from '../../webhook-steps.ts';
import type { DeliveryBody } from '../../webhook-work.ts';

const bench = await webhookBench();

/** Returns their positions. */
async function publish(...names: string[]): Promise<number[]> {
  const last = await publishNames(bench.store, ...names);
  return names.map((_, i) => last - names.length + 1 + i);
}

const pages = async (id: number, limit: number, filter = '') =>
  (await walk(bench.store, bench.partner, `/v1/webhooks/${id}/deliveries?limit=${limit}${filter}`)) as DeliveryBody[][];
const one = (id: number, delivery: number | undefined) => bench.call<DeliveryBody>('GET', `/${id}/deliveries/${delivery}`);

/** An endpoint with a delivery in each state. */
async function withAllStates() {
  bench.receiver.respond = ({ json }) => {
    const name = json.data.pet?.name ?? 'test';
    return { status: ['a 1', 'c'].includes(name) ? 500 : 204, body: `about ${name}` };
  };
  const { id } = await bench.endpoint();
  const { json: test } = await bench.call<DeliveryBody>('POST', `/${id}/test`);
  const [retried, held, delivered, failed] = await publish('a 1', 'a 2', 'b', 'c');
  const attempts = () =>
    bench.store.write<{ attempts: bigint }>(
      'select attempt_count as attempts from delivery_exceptions where webhook_id = $1 order by delivery_id',
      id,
    );
  await poll(attempts).until((rows) => rows.map((row) => row.attempts).join() === '1,0,1,1');
  await bench.receiver.has(4);
  await bench.store.write('update delivery_exceptions set retry_count = 9 where webhook_id = $1 and delivery_id = $2', id, failed);
  await hurry(bench.store, id);
  await poll(attempts).until((rows) => rows.map((row) => row.attempts).join() === '2,0,2,1');
  await bench.stopWorker();
  const [queued, alsoQueued] = await publish('d', 'a 3');
  const { json: pendingTest } = await bench.call<DeliveryBody>('POST', `/${id}/test`);
  return { id, retried, held, delivered, failed, queued, alsoQueued, test: test.id, pendingTest: pendingTest.id };
}

test('The list has every delivery once, in order, tests last, whatever the page size and the filter', async () => {
  const { id, ...all } = await withAllStates();
  const expected = [
    [all.retried, 'pending', 2],
    [all.held, 'pending', 0],
    [all.delivered, 'delivered', 1],
    [all.failed, 'failed', 2],
    [all.queued, 'pending', 0],
    [all.alsoQueued, 'pending', 0],
    [all.test, 'delivered', 1],
    [all.pendingTest, 'pending', 0],
  ];
  const flat = (walked: DeliveryBody[][]) => walked.flat().map((delivery) => [delivery.id, delivery.status, delivery.attemptCount]);
  for (const limit of [1, 2, 3, 100]) {
    const walked = await pages(id, limit);
    expect(flat(walked)).toEqual(expected);
    expect(walked.slice(0, -1).every(({ length }) => length === limit)).toBe(true);
    for (const status of ['pending', 'delivered', 'failed']) {
      expect(flat(await pages(id, limit, `&status=${status}`))).toEqual(expected.filter((row) => row[1] === status));
    }
  }
  const listed = (await pages(id, 100)).flat();
  expect(listed.map(({ eventId }) => eventId)).toEqual(
    listed.map((delivery) => `${delivery.type === 'webhook.test' ? 'test' : 'evt'}_${delivery.id}`),
  );
  bench.startWorker();
});

test('One delivery is shown with its attempts, in each state', async () => {
  const { id, ...all } = await withAllStates();
  const attempts = async (delivery: number | undefined) =>
    (await one(id, delivery)).json.attempts.map(({ status, answer }) => [status, answer]);
  expect(await attempts(all.retried)).toEqual([
    [500, 'about a 1'],
    [500, 'about a 1'],
  ]);
  expect(await attempts(all.delivered)).toEqual([[204, null]]);
  expect(await attempts(all.test)).toEqual([[204, null]]);
  for (const delivery of [all.held, all.queued, all.alsoQueued, all.pendingTest]) expect(await attempts(delivery)).toEqual([]);
  const listed = (await pages(id, 100)).flat();
  for (const delivery of listed) expect((await one(id, delivery.id)).json).toMatchObject(delivery);
  expect((await one(id, all.failed)).json).toMatchObject({ status: 'failed', nextAttemptAt: null, deliveredAt: null });
  expect((await one(id, all.held)).json).toMatchObject({ status: 'pending', nextAttemptAt: null });
  expect((await one(id, all.delivered)).json).toMatchObject({ deliveredAt: expect.any(String), nextAttemptAt: null });
  bench.startWorker();
});

describe('A delivery is 404', () => {
  test('if the event is of another type, from before the endpoint was added, or of the future', async () => {
    const [before] = await publish('before');
    const { id } = await bench.endpoint();
    const [petId = 0] = await addAnimals(bench.store, 1);
    const other = await publishChanges(bench.store, [{ petId, name: 'other', type: 'pet.created' }]);
    const [own = 0] = await publish('own');
    await bench.hasDelivered(id, 1);
    for (const delivery of [before, other, own + 1, 0, -1]) {
      expect(await one(id, delivery)).toMatchObject(errorResponse(404, 'delivery_not_found'));
    }
    for (const text of ['evt_1', '9223372036854775808', '1.5', '%00']) {
      expect((await bench.call('GET', `/${id}/deliveries/${text}`)).status).toBe(404);
    }
    const stranger = await bench.store.createKey();
    expect(await bench.call('GET', `/${id}/deliveries/${own}`, undefined, stranger)).toMatchObject(errorResponse(404, 'webhook_not_found'));
  });
});

test('While deliveries are made and retried, each look has every one exactly once', async () => {
  bench.receiver.respond = ({ json }) => {
    const name = json.data.pet?.name ?? '';
    const isFirst = namesOf(bench.receiver).filter((other) => other === name).length === 1;
    return { status: isFirst && name.endsWith('3') ? 500 : 204 };
  };
  const { id } = await bench.endpoint();
  const positions = await publish(...Array.from({ length: 120 }, (_, i) => `a${i % 20} ${i}`));
  let looks = 0;
  for (let isDone = false; !isDone; looks += 1) {
    const listed = (await pages(id, 50)).flat();
    expect(listed.map((delivery) => delivery.id)).toEqual(positions);
    if (looks % 3 === 0) await hurry(bench.store, id);
    isDone = listed.every(({ status }) => status === 'delivered');
    if (looks > 300) throw new Error('not delivered');
  }
  expect(looks).toBeGreaterThan(2);
  expect(new Set(namesOf(bench.receiver)).size).toBe(120);
});
