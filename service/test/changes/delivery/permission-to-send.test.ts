// What may be sent to an endpoint is decided immediately before sending.

import { beforeEach, describe, expect, test } from 'vitest';
import { poll } from '../../poll.ts';
import { openTestStore, type TestKey } from '../../test-store.ts';
import { WebhookReceiver } from '../../webhook-receiver.ts';
import { addAnimal, addEndpoint, deliver, deliveriesOf, publishAll, type WebhookBody } from '../../webhook-work.ts';

let partner: TestKey;
let receiver: WebhookReceiver;
const store = await openTestStore({ env: { HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on' } });
// In other tests endpoints are verified from the start.
await store.asOwner('alter table webhooks alter column verified_at drop default');
beforeEach(async () => {
  partner = await store.createKey();
  receiver = await WebhookReceiver.open();
  return () => receiver[Symbol.asyncDispose]();
});

const typesAt = ({ received }: WebhookReceiver) => received.map(({ json }) => json.type);
const isEnabled = (id: number) =>
  poll(async () => (await store.call<WebhookBody>('GET', `/v1/webhooks/${id}`, { key: partner.key })).json).until(
    ({ status }) => status === 'enabled',
  );

describe('An endpoint that has not accepted a test', () => {
  test('gets nothing else, and then what was published meanwhile', async () => {
    receiver.respond = () => ({ status: 401 });
    const { id, status } = await addEndpoint(store, partner, { url: receiver.url });
    await using _ = deliver(store.dependencies);
    await addAnimal(store, partner);
    await publishAll(store.dependencies);
    await receiver.has(1);
    await store.call('POST', `/v1/webhooks/${id}/test`, { key: partner.key });
    await receiver.has(2);
    expect([status, ...typesAt(receiver)]).toEqual(['unverified', 'webhook.test', 'webhook.test']);
    receiver.respond = () => ({ status: 204 });
    await store.call('POST', `/v1/webhooks/${id}/test`, { key: partner.key });
    await isEnabled(id);
    await poll(() => typesAt(receiver)).until((types) => types.includes('pet.created'));
  });

  test('because it got another address, gets nothing else there', async () => {
    await using other = await WebhookReceiver.open();
    other.respond = () => ({ status: 401 });
    await using _ = deliver(store.dependencies);
    const { id } = await addEndpoint(store, partner, { url: receiver.url });
    await isEnabled(id);
    await store.call('PATCH', `/v1/webhooks/${id}`, { key: partner.key, body: { url: other.url } });
    await addAnimal(store, partner);
    await publishAll(store.dependencies);
    await other.has(1);
    await store.call('POST', `/v1/webhooks/${id}/test`, { key: partner.key });
    await other.has(2);
    expect(typesAt(other)).toEqual(['webhook.test', 'webhook.test']);
    expect(typesAt(receiver)).toEqual(['webhook.test']);
  });
});

test('An event that waits for a retry is not sent once the key of the endpoint may not read it any more', async () => {
  receiver.respond = ({ json }) => ({ status: json.type === 'webhook.test' ? 204 : 500 });
  await using _ = deliver(store.dependencies);
  const { id } = await addEndpoint(store, partner, { url: receiver.url });
  await isEnabled(id);
  await addAnimal(store, partner);
  await publishAll(store.dependencies);
  const pending = () => deliveriesOf(store, partner, id, '?status=pending');
  await poll(pending).until(([delivery]) => delivery?.attemptCount === 1);
  await store.write(`update api_keys set scopes = array_remove(scopes, 'pets:read') where id = $1`, partner.id);
  receiver.respond = () => ({ status: 204 });
  // Makes the retry due.
  await store.call('PATCH', `/v1/webhooks/${id}`, { key: partner.key, body: { status: 'enabled' } });
  await poll(pending).until((deliveries) => deliveries.length === 0);
  expect(typesAt(receiver)).toEqual(['webhook.test', 'pet.created']);
});
