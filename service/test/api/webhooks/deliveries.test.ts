import { beforeEach, describe, expect, test } from 'vitest';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import { errorResponse } from '../../error-response.ts';
import { poll } from '../../poll.ts';
import { openTestStore, type TestKey } from '../../test-store.ts';
import { verifySignature, WebhookReceiver } from '../../webhook-receiver.ts';
import {
  addAnimal,
  addEndpoint,
  type DeliveryBody,
  deliver,
  deliveriesOf,
  deliveryOf,
  publishAll,
  type WebhookBody,
} from '../../webhook-work.ts';

let partner: TestKey;
let receiver: WebhookReceiver;
const store = await openTestStore({ env: { HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on' } });
const work = disposeAfterAll(deliver(store.dependencies));
beforeEach(async () => {
  partner = await store.createKey();
  receiver = await WebhookReceiver.open();
  return () => receiver[Symbol.asyncDispose]();
});

const call = <Body>(method: string, path: string, body?: unknown) =>
  store.call<Body>(method, `/v1/webhooks${path}`, { key: partner.key, body });
const endpoint = (body: object = {}) => addEndpoint(store, partner, { url: receiver.url, ...body });
const change = (petId: number, name: string) =>
  store.write(
    `insert into outbox (type, pet_id, data) values ('pet.updated', $1, $2)`,
    petId,
    JSON.stringify({ pet: { id: petId, name } }),
  );
/** Makes pending retries due now, since they would be hours later. */
async function hurry(id: number, more = ''): Promise<void> {
  const sql = (text: string) => store.write(text, id);
  await sql(`update delivery_exceptions set next_attempt_at = now() ${more} where webhook_id = $1 and next_attempt_at < 'infinity'`);
  await sql('update webhooks set is_changed = true, revision = revision + 1 where id = $1');
}
const statuses = async (id: number) => (await deliveriesOf(store, partner, id)).map(({ status }) => status);
const settled = (id: number) => poll(() => statuses(id)).until((all) => all.length > 0 && all.every((status) => status === 'delivered'));

describe('an event', () => {
  test('is sent as it is in the feed, signed as Standard Webhooks specifies', async () => {
    const { secret } = await endpoint();
    await addAnimal(store, partner, 'Pretzel');
    await publishAll(store.dependencies);
    const [received] = await receiver.has(1);
    if (!received) throw new Error('nothing received');
    expect(verifySignature(received, secret)).toMatchObject({ type: 'pet.created', data: { pet: { name: 'Pretzel' } } });
    expect(received.headers).toMatchObject({ 'webhook-id': received.json.id, 'content-type': 'application/json' });
    const feed = await store.call('GET', '/v1/events?limit=100', { key: partner.key });
    expect(feed.text).toContain(received.text);
    expect(() => verifySignature({ ...received, text: received.text.replace('Pretzel', 'Bretzel') }, secret)).toThrow(
      'No matching signature',
    );
  });

  test('is sent to enabled endpoints that subscribe to its type, and to no other', async () => {
    await endpoint({ types: ['pet.created'] });
    const other = await endpoint({ types: ['pet.removed'] });
    const off = await endpoint();
    await call('PATCH', `/${off.id}`, { status: 'disabled' });
    await addAnimal(store, partner);
    await publishAll(store.dependencies);
    await receiver.has(1);
    expect([await statuses(other.id), await statuses(off.id)]).toEqual([[], []]);
  });

  test('about an order is sent only to endpoints of its client, and only if their key may read orders', async () => {
    const own = await endpoint({ types: ['order.placed'] });
    const stranger = await store.createKey();
    const foreign = await addEndpoint(store, stranger, { url: receiver.url });
    const client = `half ${partner.clientId}`;
    const whole = await store.createKey({ client });
    const half = await store.createKey({ client, scopes: ['pets:read', 'webhooks:manage'] });
    const blind = await addEndpoint(store, half, { url: receiver.url });
    const petId = await addAnimal(store, partner);
    const otherPetId = await addAnimal(store, partner);
    const adopter = { name: 'Ada', email: 'ada@example.org' };
    await store.call('POST', '/v1/store/orders', { key: partner.key, body: { petId, adopter } });
    await store.call('POST', '/v1/store/orders', { key: whole.key, body: { petId: otherPetId, adopter } });
    await publishAll(store.dependencies);
    await settled(own.id);
    const types = async (key: TestKey, id: number) => (await deliveriesOf(store, key, id)).map(({ type }) => type);
    expect(await types(partner, own.id)).toEqual(['order.placed']);
    expect((await types(stranger, foreign.id)).filter((type) => type.startsWith('order.'))).toEqual([]);
    expect((await types(half, blind.id)).filter((type) => type.startsWith('order.'))).toEqual([]);
    expect(receiver.received.every(({ text }) => !text.includes('ada@example.org'))).toBe(true);
  });

  test('waits while an earlier one about the same animal is undelivered; other animals are not delayed', async () => {
    receiver.respond = ({ json }) => ({ status: json.data.pet?.name === 'stubborn' ? 500 : 204 });
    const { id } = await endpoint({ types: ['pet.updated'] });
    const [first, second] = [await addAnimal(store, partner), await addAnimal(store, partner)];
    await change(first, 'stubborn');
    await change(first, 'later');
    await change(second, 'other');
    await publishAll(store.dependencies);
    await poll(() => statuses(id)).until((all) => all[2] === 'delivered');
    expect(await statuses(id)).toEqual(['pending', 'pending', 'delivered']);
    receiver.respond = () => ({ status: 204 });
    await hurry(id);
    await settled(id);
    const names = receiver.received.map(({ json }) => json.data.pet?.name);
    expect(names.filter((name) => name !== 'other').at(-1)).toBe('later');
    expect(names.indexOf('later')).toBe(names.lastIndexOf('later'));
  });
});

describe('a failed attempt', () => {
  test('is stored with the start of the response, and retried in 5 s', async () => {
    receiver.respond = () => ({ status: 503, body: 'x'.repeat(5_000) });
    const { id } = await endpoint();
    await addAnimal(store, partner);
    await publishAll(store.dependencies);
    const [delivery] = await poll(() => deliveriesOf(store, partner, id)).until((all) => all[0]?.attemptCount === 1);
    const { json } = await deliveryOf(store, partner, id, delivery?.id ?? 0);
    expect(json).toMatchObject({ status: 'pending', attempts: [{ status: 503, answer: 'x'.repeat(1_024), error: null }] });
    const delayMs = Date.parse(json.nextAttemptAt ?? '') - Date.now();
    expect(delayMs).toBeGreaterThan(3_000);
    expect(delayMs).toBeLessThan(5_500);
    expect((await call<WebhookBody>('GET', `/${id}`)).json.failingSince).not.toBeNull();
    receiver.respond = () => ({ status: 200 });
    await hurry(id);
    await settled(id);
    expect((await call<WebhookBody>('GET', `/${id}`)).json.failingSince).toBeNull();
  });

  test('includes a reset connection and a redirect', async () => {
    const elsewhere = await WebhookReceiver.open();
    receiver.respond = () => (receiver.received.length === 1 ? 'reset' : { status: 307, headers: { location: elsewhere.url } });
    const { id } = await endpoint();
    await addAnimal(store, partner);
    await publishAll(store.dependencies);
    const attempts = (count: number) => poll(() => deliveriesOf(store, partner, id)).until((all) => all[0]?.attemptCount === count);
    await attempts(1);
    await hurry(id);
    const [delivery] = await attempts(2);
    const { json } = await deliveryOf(store, partner, id, delivery?.id ?? 0);
    expect(json.attempts).toMatchObject([{ status: null, error: expect.stringMatching(/closed|ECONNRESET/) }, { status: 307 }]);
    expect(elsewhere.received).toEqual([]);
    await elsewhere[Symbol.asyncDispose]();
  });

  test('at the end of the schedule makes the delivery failed', async () => {
    receiver.respond = () => ({ status: 500 });
    const { id } = await endpoint();
    await addAnimal(store, partner);
    await publishAll(store.dependencies);
    await receiver.has(1);
    await poll(() => deliveriesOf(store, partner, id)).until((all) => all[0]?.attemptCount === 1);
    await hurry(id, ', attempt_count = 9, retry_count = 9');
    expect(await poll(() => deliveriesOf(store, partner, id, '?status=failed')).until((all) => all.length > 0)).toMatchObject([
      { status: 'failed', attemptCount: 10, nextAttemptAt: null },
    ]);
    receiver.respond = () => ({ status: 200 });
    expect(await call('POST', `/${id}/replay`, { failed: true })).toMatchObject({ status: 202, json: { count: 1 } });
    await settled(id);
  });

  test('with 410 disables the endpoint', async () => {
    receiver.respond = () => ({ status: 410 });
    const { id } = await endpoint();
    await addAnimal(store, partner);
    await publishAll(store.dependencies);
    const webhook = await poll(async () => (await call<WebhookBody>('GET', `/${id}`)).json).until(({ status }) => status === 'disabled');
    expect(webhook.disabledReason).toBe('The receiver responded with 410.');
    expect(work.disabled).toMatchObject(expect.arrayContaining([expect.objectContaining({ id: BigInt(id) })]));
    expect(await call('POST', `/${id}/test`)).toMatchObject(errorResponse(409, 'webhook_disabled', 'The receiver responded with 410.'));
    expect((await call<WebhookBody>('PATCH', `/${id}`, { status: 'enabled' })).json).toMatchObject({
      status: 'enabled',
      disabledReason: null,
    });
  });

  test('at an endpoint that has failed for 5 days disables it', async () => {
    receiver.respond = () => ({ status: 500 });
    const { id } = await endpoint();
    await store.write(`update webhooks set failing_since = now() - interval '5 days 1 minute' where id = $1`, id);
    await addAnimal(store, partner);
    await publishAll(store.dependencies);
    const webhook = await poll(async () => (await call<WebhookBody>('GET', `/${id}`)).json).until(({ status }) => status === 'disabled');
    expect(webhook.disabledReason).toBe('No delivery succeeded for 5 days.');
  });
});

test('after a rotation both secrets sign, and after 24 hours only the new one', async () => {
  const { id, secret } = await endpoint({ types: ['pet.removed'] });
  const rotated = await call<WebhookBody>('POST', `/${id}/rotate-secret`);
  const newSecret = rotated.json.secret ?? '';
  expect((await call('POST', `/${id}/test`)).status).toBe(202);
  const [both] = await receiver.has(1);
  if (!both) throw new Error('nothing received');
  expect(String(both.headers['webhook-signature']).split(' ')).toHaveLength(2);
  expect(verifySignature(both, secret)).toEqual(verifySignature(both, newSecret));
  await store.write('update webhooks set previous_secret_until = now() where id = $1', id);
  await call('POST', `/${id}/test`);
  const one = (await receiver.has(2))[1];
  if (!one) throw new Error('nothing received');
  expect(verifySignature(one, newSecret)).toMatchObject({ type: 'webhook.test' });
  expect(() => verifySignature(one, secret)).toThrow('No matching signature');
});

describe('a secret that is damaged in the database', () => {
  const damage = (id: number, secret: string) => store.write('update webhooks set secret = $2 where id = $1', id, secret);

  test.each(['', 'whsec_', 'whsec_AAAA', '"whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"'])(
    'as %j signs nothing: the attempt fails',
    async (secret) => {
      const { id } = await endpoint({ types: ['pet.removed'] });
      await damage(id, secret);
      const { json } = await call<DeliveryBody>('POST', `/${id}/test`);
      const attempted = await poll(() => deliveryOf(store, partner, id, json.id)).until(
        ({ json: delivery }) => delivery.attemptCount === 1,
      );
      expect(attempted.json).toMatchObject({
        status: 'pending',
        attempts: [{ status: null, error: expect.stringContaining('rotate-secret') }],
      });
      expect(receiver.received).toEqual([]);
    },
  );

  test('is repaired at once by a rotation', async () => {
    const { id } = await endpoint({ types: ['pet.removed'] });
    await damage(id, 'whsec_AAAA');
    const rotated = await call<WebhookBody>('POST', `/${id}/rotate-secret`);
    await call('POST', `/${id}/test`);
    const [received] = await receiver.has(1);
    if (!received) throw new Error('nothing received');
    expect(String(received.headers['webhook-signature']).split(' ')).toHaveLength(1);
    expect(verifySignature(received, rotated.json.secret ?? '')).toMatchObject({ type: 'webhook.test' });
  });
});

test('a test is sent only to its endpoint', async () => {
  const { id } = await endpoint();
  const other = await endpoint();
  const response = await call<DeliveryBody>('POST', `/${id}/test`);
  expect(response).toMatchObject({ status: 202, json: { type: 'webhook.test', eventId: `test_${response.json.id}` } });
  expect(response.headers.location).toBe(`/v1/webhooks/${id}/deliveries/${response.json.id}`);
  const [received] = await receiver.has(1);
  expect(received?.headers['webhook-id']).toBe(`test_${response.json.id}`);
  expect(await statuses(other.id)).toEqual([]);
});

describe('POST /v1/webhooks/{webhookId}/replay', () => {
  test('sends one delivery again with the same id', async () => {
    const { id } = await endpoint();
    await addAnimal(store, partner);
    await publishAll(store.dependencies);
    await settled(id);
    const [delivery] = await deliveriesOf(store, partner, id);
    expect(await call('POST', `/${id}/replay`, { deliveryId: delivery?.id })).toMatchObject({ status: 202, json: { count: 1 } });
    const received = await receiver.has(2);
    expect(received[1]?.headers['webhook-id']).toBe(received[0]?.headers['webhook-id']);
  });

  test('of a time range sends what was published in it, even what was never sent to the endpoint', async () => {
    const from = new Date(Date.now() - 1_000).toISOString();
    const { id } = await endpoint({ types: ['pet.created'] });
    await call('PATCH', `/${id}`, { status: 'disabled' });
    await addAnimal(store, partner, 'missed');
    await publishAll(store.dependencies);
    await call('PATCH', `/${id}`, { status: 'enabled' });
    const to = new Date(Date.now() + 1_000).toISOString();
    const response = await call<{ count: number }>('POST', `/${id}/replay`, { from, to });
    expect(response.status).toBe(202);
    expect(response.json.count).toBeGreaterThanOrEqual(1);
    await poll(() => receiver.received.map(({ json }) => json.data.pet?.name)).until((names) => names.includes('missed'));
  });

  test.each([
    [{}, 'an object with deliveryId, with failed, or with from and to'],
    [{ failed: false }, 'failed must be true'],
    [{ from: 'yesterday', to: '2026-11-15T10:00:00Z' }, 'from must be a time'],
    [{ failed: true, deliveryId: 1 }, 'an object with deliveryId, with failed, or with from and to'],
  ])('with %j is 400', async (body, why) => {
    const { id } = await endpoint();
    expect(await call('POST', `/${id}/replay`, body)).toMatchObject(errorResponse(400, 'invalid_body', why));
  });

  // The last is the first id that there can be.
  test.each(['999999', '-9223372036854775808'])('of a delivery that does not exist is 404: %s', async (deliveryId) => {
    const { id } = await endpoint();
    const replayed = await store.call('POST', `/v1/webhooks/${id}/replay`, { key: partner.key, raw: `{"deliveryId":${deliveryId}}` });
    expect(replayed).toMatchObject(errorResponse(404, 'delivery_not_found'));
    expect(await call('GET', `/${id}/deliveries/${deliveryId}`)).toMatchObject(errorResponse(404, 'delivery_not_found'));
  });
});

test('a page is not filled by deliveries whose events the feed no longer has', async () => {
  const { id } = await endpoint();
  await addAnimal(store, partner, 'Pretzel');
  await addAnimal(store, partner, 'Biscuit');
  await publishAll(store.dependencies);
  await receiver.has(2);
  await settled(id);
  const [first, second] = (await deliveriesOf(store, partner, id)).filter(({ type }) => type === 'pet.created');
  const drop = (position: number | undefined) => store.write('update feed set first_position = $1', position);
  await drop(second?.id);
  const { json } = await call<DeliveryBody[]>('GET', `/${id}/deliveries?limit=1`);
  await drop(1);
  expect(json).toMatchObject([{ id: second?.id }]);
  expect(first?.id).toBeLessThan(second?.id ?? 0);
});

test('deliveries of a removed endpoint are not sent', async () => {
  const { id } = await endpoint();
  await call('DELETE', `/${id}`);
  await addAnimal(store, partner);
  await publishAll(store.dependencies);
  const rows = await store.read('select from delivery_exceptions where webhook_id = $1', id);
  expect(rows).toEqual([]);
});
