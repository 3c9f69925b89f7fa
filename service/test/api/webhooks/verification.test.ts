// New and repointed endpoints get nothing but tests until they accept one.

import { beforeEach, describe, expect, test } from 'vitest';
import { theService } from '../../../src/domain/actor.ts';
import { poll } from '../../poll.ts';
import { webhookBench } from '../../webhook-bench.ts';
import { type Reply, verifySignature, WebhookReceiver } from '../../webhook-receiver.ts';
import { addAnimals, hurry, namesOf, publishChanges, publishNames } from '../../webhook-steps.ts';
import type { DeliveryBody } from '../../webhook-work.ts';

const bench = await webhookBench();
// In the other tests endpoints are verified from the start.
await bench.store.asOwner('alter table webhooks alter column verified_at drop default');

/** Where an endpoint is repointed to. */
let elsewhere: WebhookReceiver;
beforeEach(async () => {
  elsewhere = await WebhookReceiver.open();
  return () => elsewhere[Symbol.asyncDispose]();
});

const publish = (...names: string[]) => publishNames(bench.store, ...names);
const hasStatus = (id: number, expected: string) => poll(() => bench.webhook(id)).until(({ status }) => status === expected);
const typesOf = ({ received }: WebhookReceiver) => received.map(({ json }) => json.type);
const respondWith = (status: number, receiver = bench.receiver) => {
  receiver.respond = () => ({ status });
};

/** The receiver doesn't respond until the returned function is called. */
function hang(receiver = bench.receiver): (reply: Reply) => void {
  const { promise, resolve } = Promise.withResolvers<Reply>();
  receiver.respond = () => promise;
  return resolve;
}

const testsOf = (id: number) =>
  bench.store.write<{ status: string; attempts: bigint }>(
    'select status, attempt_count as attempts from delivery_exceptions where webhook_id = $1 and pet_id is null order by delivery_id',
    id,
  );
/** Waits until so many attempts of the last test are stored. */
const isTried = (id: number, attempts: bigint) => poll(() => testsOf(id)).until((tests) => tests.at(-1)?.attempts === attempts);

/** An endpoint whose first test failed. */
async function unverified() {
  respondWith(500);
  const webhook = await bench.endpoint();
  await isTried(webhook.id, 1n);
  return webhook;
}

async function verified() {
  const webhook = await bench.endpoint();
  await hasStatus(webhook.id, 'enabled');
  bench.receiver.received.splice(0);
  return webhook;
}

const changesAreRead = async () => {
  await using other = await WebhookReceiver.open();
  await bench.endpoint({ url: other.url, types: ['pet.removed'] });
  await other.has(1);
};

describe('A new endpoint', () => {
  test('that is unverified can be sent back as GET returns it, which changes nothing', async () => {
    const { id } = await unverified();
    const shown = await bench.webhook(id);
    const { status, json } = await bench.call('PATCH', `/${id}`, shown);
    expect([status, json]).toMatchObject([200, { id, status: 'unverified', url: shown.url }]);
  });

  test('is unverified until it accepts a signed test, and then gets what was published since it was added', async () => {
    respondWith(500);
    await publish('before');
    const { id, status, secret } = await bench.endpoint();
    expect(status).toBe('unverified');
    const [pet = 0] = await addAnimals(bench.store, 1);
    await publishChanges(
      bench.store,
      ['1', '2', '3'].map((name) => ({ petId: pet, name })),
    );
    await publish('a', 'b');
    await isTried(id, 1n);
    expect((await bench.deliveries(id)).map((one) => [one.type, one.status, one.attemptCount])).toEqual([
      ...Array.from({ length: 5 }, () => ['pet.updated', 'pending', 0]),
      ['webhook.test', 'pending', 1],
    ]);
    expect(await bench.webhook(id)).toMatchObject({ status: 'unverified', failingSince: expect.any(String) });
    respondWith(204);
    await hurry(bench.store, id);
    await bench.hasDelivered(id, 6);
    expect(await bench.webhook(id)).toMatchObject({ status: 'enabled', failingSince: null });
    const [first] = bench.receiver.received;
    if (!first) throw new Error('nothing received');
    expect(verifySignature(first, secret)).toMatchObject({ type: 'webhook.test', data: {} });
    expect(typesOf(bench.receiver)).toEqual(['webhook.test', 'webhook.test', ...Array.from({ length: 5 }, () => 'pet.updated')]);
    const names = namesOf(bench.receiver);
    expect(names.filter((name) => /\d/.test(name))).toEqual(['1', '2', '3']);
    expect(names.toSorted()).toEqual(['1', '2', '3', 'a', 'b']);
  });

  test('that accepts the test at once is enabled at once', async () => {
    const { id } = await bench.endpoint();
    await hasStatus(id, 'enabled');
    await publish('a');
    await bench.names(1);
    expect(typesOf(bench.receiver)).toEqual(['webhook.test', 'pet.updated']);
  });

  test('that is tested by its owner is verified too, without waiting for the next try', async () => {
    const { id } = await unverified();
    await bench.store.write(`update delivery_exceptions set next_attempt_at = now() + interval '2 hours' where webhook_id = $1`, id);
    respondWith(204);
    const { status, json } = await bench.call<DeliveryBody>('POST', `/${id}/test`);
    expect(status).toBe(202);
    await hasStatus(id, 'enabled');
    expect(bench.receiver.received.at(-1)?.json.id).toBe(json.eventId);
  });

  test('gets one test at a time, whichever worker sends it', async () => {
    const { id } = await unverified();
    await bench.restartWorker();
    await bench.call('PATCH', `/${id}`, { description: 'a note' });
    await changesAreRead();
    expect(await testsOf(id)).toMatchObject([{ status: 'pending', attempts: 1n }]);
    expect(bench.receiver.received).toHaveLength(1);
  });

  test('that accepts no test in 10 tries is disabled, and gets another 10 when it is enabled', async () => {
    const { id } = await unverified();
    await publish('queued');
    await bench.store.write('update delivery_exceptions set attempt_count = 9, retry_count = 9 where webhook_id = $1', id);
    await hurry(bench.store, id);
    const { disabledReason } = await hasStatus(id, 'disabled');
    expect(disabledReason).toBe('The receiver accepted no test. Enable the endpoint to try again.');
    await publish('missed');
    await bench.setStatus(id, 'enabled');
    expect(await bench.webhook(id)).toMatchObject({ status: 'unverified', disabledReason: null });
    await poll(() => testsOf(id)).until((tests) => tests.length === 2 && tests[1]?.attempts === 1n);
    expect(await testsOf(id)).toMatchObject([{ status: 'failed', attempts: 10n }, { status: 'pending' }]);
    respondWith(204);
    await hurry(bench.store, id);
    await hasStatus(id, 'enabled');
    expect(await bench.names(1)).toEqual(['queued']);
  });

  test('that responds with 410 to the test is disabled', async () => {
    respondWith(410);
    const { id } = await bench.endpoint();
    expect((await hasStatus(id, 'disabled')).disabledReason).toContain('410');
  });

  test('stays unverified while it is disabled and enabled', async () => {
    const { id } = await unverified();
    await bench.setStatus(id, 'disabled');
    await bench.setStatus(id, 'enabled');
    expect((await bench.webhook(id)).status).toBe('unverified');
    respondWith(204);
    await hurry(bench.store, id);
    expect((await hasStatus(id, 'enabled')).disabledReason).toBeNull();
  });

  test('that is replayed gets the replay once it is verified', async () => {
    await publish('earlier');
    const { id } = await unverified();
    const range = { from: new Date(Date.now() - 60_000).toISOString(), to: new Date(Date.now() + 60_000).toISOString() };
    const { json } = await bench.call<{ count: number }>('POST', `/${id}/replay`, range);
    // A replay sends what waits for its next attempt at once: the test.
    await isTried(id, 2n);
    await changesAreRead();
    expect(namesOf(bench.receiver)).toEqual([]);
    respondWith(204);
    await hurry(bench.store, id);
    const names = await bench.names(json.count);
    expect(names).toContain('earlier');
  });
});

describe('An endpoint that gets another url', () => {
  test('is unverified again, and its queued events go only to the new address, after that has accepted a test', async () => {
    const { id, secret } = await verified();
    await bench.stopWorker();
    await publish('a', 'b');
    respondWith(500, elsewhere);
    const { json } = await bench.call('PATCH', `/${id}`, { url: elsewhere.url });
    expect(json).toMatchObject({ status: 'unverified', url: elsewhere.url });
    bench.startWorker();
    await elsewhere.has(1);
    await isTried(id, 1n);
    expect([typesOf(elsewhere), typesOf(bench.receiver)]).toEqual([['webhook.test'], []]);
    respondWith(204, elsewhere);
    await hurry(bench.store, id);
    await poll(() => namesOf(elsewhere)).until((names) => names.length === 2);
    expect((await bench.webhook(id)).status).toBe('enabled');
    expect(bench.receiver.received).toEqual([]);
    for (const received of elsewhere.received) expect(verifySignature(received, secret)).toBeDefined();
  });

  test('gets nothing twice that it had got at the old one', async () => {
    const { id } = await verified();
    await publish('a', 'b');
    await bench.names(2);
    await bench.call('PATCH', `/${id}`, { url: elsewhere.url });
    await hasStatus(id, 'enabled');
    await publish('c');
    await poll(() => namesOf(elsewhere)).until((names) => names.length > 0);
    expect([namesOf(bench.receiver).toSorted(), namesOf(elsewhere)]).toEqual([['a', 'b'], ['c']]);
  });

  test('with the same url stays verified', async () => {
    const { id } = await verified();
    const { json } = await bench.call('PATCH', `/${id}`, { url: bench.receiver.url, types: [] });
    expect(json).toMatchObject({ status: 'enabled' });
    expect(await testsOf(id)).toHaveLength(1);
  });

  test.each(['before', 'after'])('is not verified by the old one, which accepts a test %s the worker knows of the change', async (when) => {
    const { id } = await verified();
    const respond = hang();
    await bench.call('POST', `/${id}/test`);
    await bench.receiver.has(1);
    respondWith(500, elsewhere);
    if (when === 'before') respond({ status: 204 });
    await bench.call('PATCH', `/${id}`, { url: elsewhere.url });
    if (when === 'after') await changesAreRead();
    respond({ status: 204 });
    await poll(() => testsOf(id)).until((tests) => tests.filter(({ status }) => status === 'delivered').length === 2);
    await publish('secret');
    await elsewhere.has(1);
    await changesAreRead();
    expect((await bench.webhook(id)).status).toBe('unverified');
    expect([...namesOf(bench.receiver), ...namesOf(elsewhere)]).toEqual([]);
    respondWith(204, elsewhere);
    await hurry(bench.store, id);
    await poll(() => namesOf(elsewhere)).until((names) => names.length === 1);
    expect((await bench.webhook(id)).status).toBe('enabled');
  });

  test('while its test is in flight to the old one is tested at the new one', async () => {
    const respond = hang();
    const { id } = await bench.endpoint();
    await bench.receiver.has(1);
    await bench.call('PATCH', `/${id}`, { url: elsewhere.url });
    await changesAreRead();
    respond({ status: 204 });
    await elsewhere.has(1);
    expect((await hasStatus(id, 'enabled')).url).toBe(elsewhere.url);
  });
});

describe('An endpoint that is being changed when the result of a test is stored', () => {
  /** The next try gets this response while the endpoint is locked, until the result is stored. */
  async function respondWhileLocked(id: number, reply: Reply, stored: string): Promise<void> {
    const respond = hang();
    await hurry(bench.store, id);
    await bench.receiver.has(2);
    await bench.store.dependencies.db.transaction(async (tx) => {
      await tx.query({ text: 'select from webhooks where id = $1 for no key update', values: [id] });
      respond(reply);
      respondWith(204);
      await poll(() => testsOf(id)).until((tests) => tests[0]?.status === stored);
    }, theService);
  }

  test('is verified by another test', async () => {
    const { id } = await unverified();
    await respondWhileLocked(id, { status: 204 }, 'delivered');
    await hasStatus(id, 'enabled');
    expect(await testsOf(id)).toMatchObject([{ status: 'delivered' }, { status: 'delivered' }]);
  });

  test('is tested again if that was the last try', async () => {
    const { id } = await unverified();
    await bench.store.write('update delivery_exceptions set retry_count = 9 where webhook_id = $1', id);
    await respondWhileLocked(id, { status: 500 }, 'failed');
    await hasStatus(id, 'enabled');
    expect(await testsOf(id)).toMatchObject([{ status: 'failed' }, { status: 'delivered' }]);
  });
});
