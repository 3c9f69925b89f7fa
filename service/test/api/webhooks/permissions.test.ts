// What an endpoint may get is decided when it is sent: by its types, and by what its key may read at that moment.

import { describe, expect, test } from 'vitest';
import { testAuthor } from '../../../../testkit/test-author.ts';
import { disableWebhooksOfEndedKeys, revokeKeyAndWebhooks, rotateKeyAndWebhooks } from '../../../src/changes/webhooks/endpoint-keys.ts';
import type { Scope } from '../../../src/domain/scopes.ts';
import { poll } from '../../poll.ts';
import type { TestKey } from '../../test-store.ts';
import { webhookBench } from '../../webhook-bench.ts';
import { WebhookReceiver } from '../../webhook-receiver.ts';
import { addAnimals, type Change, hurry, namesOf, publishChanges } from '../../webhook-steps.ts';
import { addEndpoint } from '../../webhook-work.ts';

const bench = await webhookBench();
const journal = () => true;

/** Another key of the partner's client. */
async function keyWith(...scopes: Scope[]): Promise<TestKey> {
  const [client] = await bench.store.write<{ name: string }>('select name from clients where id = $1', bench.partner.clientId);
  return bench.store.createKey({ client: client?.name ?? '', scopes });
}

/** An endpoint that gets every type that its key may read. */
const endpoint = (key: TestKey, url = bench.receiver.url) => addEndpoint(bench.store, key, { url });

/** Publishes an event of each type, each about another animal. Orders are the partner's. Names are the types. */
async function publish(...types: Array<NonNullable<Change['type']>>): Promise<void> {
  const petIds = await addAnimals(bench.store, types.length);
  await publishChanges(
    bench.store,
    types.map((type, i) => ({
      type,
      name: type,
      petId: petIds[i] ?? 0,
      ...(type.startsWith('order.') && { clientId: bench.partner.clientId }),
    })),
  );
}

const setScopes = (key: TestKey, ...scopes: Scope[]) =>
  bench.store.asOwner('update api_keys set scopes = $2 where id = $1', key.id, scopes);
const patch = (id: number, body: object, key = bench.partner) => bench.call('PATCH', `/${id}`, body, key);
const received = async (count: number, receiver = bench.receiver) =>
  (await poll(() => namesOf(receiver)).until((names) => names.length >= count)).toSorted();
const listed = async (id: number) => (await bench.deliveries(id)).map(({ type, status }) => `${type} ${status}`);

/** Waits until the worker has sent everything else that it may send. */
async function allIsSent(): Promise<void> {
  await using other = await WebhookReceiver.open();
  await addEndpoint(bench.store, bench.partner, { url: other.url, types: ['pet.removed'] });
  await publish('pet.removed');
  await other.has(1);
}

describe('An endpoint of a key', () => {
  test('without pets:read gets no events about animals, and those of its orders', async () => {
    const { id } = await endpoint(await keyWith('orders:read', 'webhooks:manage'));
    await publish('pet.updated', 'order.placed', 'pet.created');
    expect(await received(1)).toEqual(['order.placed']);
    await allIsSent();
    await bench.hasDelivered(id, 1);
    expect(await listed(id)).toEqual(['order.placed delivered']);
  });

  test('without orders:read gets no events about orders; store:manage is as good', async () => {
    await using managers = await WebhookReceiver.open();
    await endpoint(await keyWith('pets:read', 'webhooks:manage'));
    await endpoint(await keyWith('pets:read', 'store:manage', 'webhooks:manage'), managers.url);
    await publish('pet.updated', 'order.placed');
    expect(await received(2, managers)).toEqual(['order.placed', 'pet.updated']);
    expect(await received(1)).toEqual(['pet.updated']);
  });

  test('that loses a scope gets nothing more that needs it, also what is queued or waits for a retry', async () => {
    bench.receiver.respond = ({ json }) => ({ status: json.type === 'order.placed' ? 500 : 204 });
    const { id } = await endpoint(bench.partner);
    await publish('order.placed');
    await poll(() => bench.deliveries(id)).until(([delivery]) => delivery?.attemptCount === 1);
    await bench.stopWorker();
    await publish('order.approved', 'pet.updated');
    expect(await listed(id)).toEqual(['order.placed pending', 'order.approved pending', 'pet.updated pending']);
    await setScopes(bench.partner, 'pets:read', 'webhooks:manage');
    expect(await listed(id)).toEqual(['order.placed pending', 'pet.updated pending']);
    bench.startWorker();
    await hurry(bench.store, id);
    await poll(() => listed(id)).until((all) => all.join() === 'pet.updated delivered');
    expect(namesOf(bench.receiver)).toEqual(['order.placed', 'pet.updated']);
  });

  test('that loses a scope while the worker runs gets nothing more, although no endpoint was changed', async () => {
    await endpoint(bench.partner);
    await publish('order.placed', 'pet.updated');
    expect(await received(2)).toEqual(['order.placed', 'pet.updated']);
    await setScopes(bench.partner, 'orders:read', 'webhooks:manage');
    await publish('order.approved', 'pet.created');
    expect(await received(3)).toEqual(['order.approved', 'order.placed', 'pet.updated']);
    await setScopes(bench.partner, 'pets:read', 'webhooks:manage');
    await publish('order.completed', 'pet.status_changed');
    expect(await received(4)).toEqual(['order.approved', 'order.placed', 'pet.status_changed', 'pet.updated']);
  });

  test('that expires gets nothing more from that moment on, and its successor what was queued', async () => {
    const old = await keyWith('pets:read', 'orders:read', 'webhooks:manage');
    const { id } = await endpoint(old);
    await publish('pet.created');
    await received(1);
    const { db } = bench.store.dependencies;
    await rotateKeyAndWebhooks(db, journal, testAuthor, old.id, { overlapSeconds: 3_600, environment: 'production' });
    // Added during the overlap.
    const late = await endpoint(old);
    await bench.store.asOwner(`update api_keys set expires_at = now() where id = $1`, old.id);
    await publish('pet.updated');
    await received(2);
    await allIsSent();
    await poll(() => listed(id)).until((all) => all.join() === 'pet.created delivered,pet.updated delivered,pet.removed delivered');
    expect(namesOf(bench.receiver)).toHaveLength(3);
    expect(await listed(late.id)).toEqual(['pet.updated pending', 'pet.removed pending']);
    await disableWebhooksOfEndedKeys(db, 60);
    await poll(() => listed(late.id)).until((all) => all.join() === 'pet.updated delivered,pet.removed delivered');
    expect(await bench.webhook(late.id)).toMatchObject({ status: 'enabled' });
  });

  test('that is revoked gets nothing more, unless its endpoints are kept on purpose', async () => {
    await using kept = await WebhookReceiver.open();
    const keys = [await keyWith('pets:read', 'webhooks:manage'), await keyWith('pets:read', 'webhooks:manage')] as const;
    const disabled = await endpoint(keys[0]);
    await endpoint(keys[1], kept.url);
    await bench.stopWorker();
    await publish('pet.created');
    const { db } = bench.store.dependencies;
    await revokeKeyAndWebhooks(db, journal, testAuthor, keys[0].id, 'disable');
    await revokeKeyAndWebhooks(db, journal, testAuthor, keys[1].id, 'keep');
    bench.startWorker();
    await publish('pet.updated');
    expect(await received(2, kept)).toEqual(['pet.created', 'pet.updated']);
    expect(namesOf(bench.receiver)).toEqual([]);
    expect(await listed(disabled.id)).toEqual(['pet.created pending']);
  });

  test('that is not recorded gets orders only if it was added with them', async () => {
    await using without = await WebhookReceiver.open();
    const [all, some] = [await endpoint(bench.partner), await endpoint(await keyWith('pets:read', 'webhooks:manage'), without.url)];
    await bench.store.write('update webhooks set key_id = null where id = any($1::bigint[])', [all.id, some.id]);
    await publish('order.placed', 'pet.updated');
    expect(await received(2)).toEqual(['order.placed', 'pet.updated']);
    expect(await received(1, without)).toEqual(['pet.updated']);
  });
});

describe('An endpoint that is changed', () => {
  test('to another url by a key without orders:read gets none of the orders that are queued', async () => {
    await using attacker = await WebhookReceiver.open();
    const { id } = await endpoint(bench.partner);
    const narrow = await keyWith('pets:read', 'webhooks:manage');
    await bench.stopWorker();
    await publish('order.placed', 'pet.updated', 'order.approved');
    expect((await patch(id, { url: attacker.url }, narrow)).status).toBe(200);
    await bench.store.write('update webhooks set verified_at = now() where id = $1', id);
    bench.startWorker();
    expect(await received(1, attacker)).toEqual(['pet.updated']);
    await publish('order.completed', 'pet.created');
    expect(await received(2, attacker)).toEqual(['pet.created', 'pet.updated']);
    expect(namesOf(bench.receiver)).toEqual([]);
  });

  test('to fewer types gets none of the others, also what is queued or waits for a retry', async () => {
    bench.receiver.respond = ({ json }) => ({ status: json.type === 'pet.created' ? 500 : 204 });
    const { id } = await endpoint(bench.partner);
    await publish('pet.created');
    await poll(() => bench.deliveries(id)).until(([delivery]) => delivery?.attemptCount === 1);
    await bench.stopWorker();
    await publish('pet.created', 'pet.updated', 'order.placed');
    await patch(id, { types: ['pet.updated', 'order.placed'] });
    bench.startWorker();
    await hurry(bench.store, id);
    expect(await received(3)).toEqual(['order.placed', 'pet.created', 'pet.updated']);
    await poll(() => listed(id)).until((all) => all.join() === 'pet.updated delivered,order.placed delivered');
  });

  test('to more types gets what is published from then on', async () => {
    const { id } = await addEndpoint(bench.store, bench.partner, { url: bench.receiver.url, types: ['pet.updated'] });
    await publish('pet.created', 'pet.updated');
    await received(1);
    await patch(id, { types: ['pet.updated', 'pet.created'] });
    await publish('pet.created', 'pet.removed');
    expect(await received(2)).toEqual(['pet.created', 'pet.updated']);
  });
});

describe('A replay', () => {
  const hourAround = () => ({ from: new Date(Date.now() - 1_800_000).toISOString(), to: new Date(Date.now() + 1_800_000).toISOString() });

  test('contains only what the key of the endpoint may read', async () => {
    const { id } = await endpoint(await keyWith('orders:read', 'webhooks:manage'));
    await publish('order.placed', 'pet.updated');
    await received(1);
    expect(await bench.call('POST', `/${id}/replay`, hourAround())).toMatchObject({ status: 202, json: { count: 1 } });
    expect(await received(2)).toEqual(['order.placed', 'order.placed']);
  });

  test('that was started before its key lost a scope contains nothing that needs it', async () => {
    const { id } = await endpoint(bench.partner);
    await publish('order.placed', 'pet.updated');
    await received(2);
    const [{ from: first = 0n } = {}] = await bench.store.write<{ from?: bigint }>('select max(position) - 2 as from from events');
    await bench.stopWorker();
    await bench.store.write(
      'insert into webhook_replays (webhook_id, client_id, position, to_position) values ($1, $2, $3, $4)',
      id,
      bench.partner.clientId,
      first,
      first + 2n,
    );
    await setScopes(bench.partner, 'pets:read', 'webhooks:manage');
    bench.startWorker();
    expect(await received(3)).toEqual(['order.placed', 'pet.updated', 'pet.updated']);
    await poll(() => bench.store.write('select from webhook_replays where webhook_id = $1', id)).until((rows) => rows.length === 0);
  });

  test('of one delivery that the key may not read any more sends nothing', async () => {
    const { id } = await endpoint(bench.partner);
    await publish('order.placed');
    await received(1);
    const [delivery] = await bench.hasDelivered(id, 1);
    await setScopes(bench.partner, 'pets:read', 'webhooks:manage');
    await bench.call('POST', `/${id}/replay`, { deliveryId: delivery?.id });
    await publish('pet.updated');
    await received(2);
    await poll(() => bench.store.write('select from delivery_exceptions where webhook_id = $1', id)).until((rows) => rows.length === 0);
    expect(namesOf(bench.receiver)).toEqual(['order.placed', 'pet.updated']);
  });
});
