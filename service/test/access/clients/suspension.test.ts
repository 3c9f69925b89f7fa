// Suspended clients, and revoked or expired keys: their endpoints are disabled and their streams end.

import { describe, expect, test } from 'vitest';
import { StreamReader } from '../../../../testkit/stream-reader.ts';
import { testAuthor } from '../../../../testkit/test-author.ts';
import { settleClientChange } from '../../../src/access/clients/client-changes.ts';
import { setSuspended } from '../../../src/access/clients/clients.ts';
import {
  disableWebhooksOfEndedKeys,
  type OnRevocation,
  revokeKeyAndWebhooks,
  rotateKeyAndWebhooks,
} from '../../../src/changes/webhooks/endpoint-keys.ts';
import { disableByOperator, enableByOperator } from '../../../src/changes/webhooks/webhooks.ts';
import { theService } from '../../../src/domain/actor.ts';
import type { JournalEntry } from '../../../src/platform/journal/journal.ts';
import { errorResponse } from '../../error-response.ts';
import { countLockWaits } from '../../lock-waits.ts';
import { poll } from '../../poll.ts';
import { openTestStore, type TestKey } from '../../test-store.ts';
import { WebhookReceiver } from '../../webhook-receiver.ts';
import { addAnimal, addEndpoint, deliver, publishAll, type WebhookBody } from '../../webhook-work.ts';

const store = await openTestStore({ env: { HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on', HOMEWARD_POOL_SIZE: '10' } });

const entries: JournalEntry[] = [];
const journal = (entry: JournalEntry) => entries.push(entry) > 0;
const url = 'https://example.org/hooks';

const list = ({ key }: TestKey) => store.call('GET', '/v1/pets', { key });
const webhook = async ({ key }: TestKey, id: number) => (await store.call<WebhookBody>('GET', `/v1/webhooks/${id}`, { key })).json;
const patch = ({ key }: TestKey, id: number, body: object) => store.call<WebhookBody>('PATCH', `/v1/webhooks/${id}`, { key, body });

async function revoke({ id, clientId }: TestKey, onRevocation: OnRevocation = 'disable') {
  const { db, redis, redisKeys } = store.dependencies;
  const revoked = await revokeKeyAndWebhooks(db, journal, testAuthor, id, onRevocation);
  await settleClientChange(redis, redisKeys, clientId);
  return revoked;
}

async function suspend(name: string, isSuspended: boolean) {
  const { db, redis, redisKeys } = store.dependencies;
  const { client } = await setSuspended(db, journal, testAuthor, name, isSuspended);
  await settleClientChange(redis, redisKeys, client.id);
}

const rotate = ({ id }: TestKey, overlapSeconds: number) =>
  rotateKeyAndWebhooks(store.dependencies.db, journal, testAuthor, id, { overlapSeconds, environment: 'production' });

const expire = ({ id }: TestKey) => store.asOwner(`update api_keys set expires_at = now() - interval '1 s' where id = $1`, id);

describe('Revoking a key', () => {
  test('disables its endpoints, says which, and leaves those of the other keys of the client', async () => {
    const [leaked, other] = [await store.createKey({ client: 'Paws' }), await store.createKey({ client: 'Paws' })];
    const [first, second, third] = [
      await addEndpoint(store, leaked, { url }),
      await addEndpoint(store, other, { url }),
      await addEndpoint(store, leaked, { url }),
    ];
    const revoked = await revoke(leaked);
    expect(revoked.disabled).toEqual([BigInt(first.id), BigInt(third.id)]);
    expect(await webhook(other, first.id)).toMatchObject({
      status: 'disabled',
      disabledReason: `Key ${leaked.id}, which set up this endpoint, was revoked.`,
    });
    expect(await webhook(other, second.id)).toMatchObject({ status: 'enabled' });
    expect(entries.at(-1)).toEqual({ act: 'key_revoked', key: leaked.id, webhooks: revoked.disabled });
  });

  test('disables an endpoint that the key repointed, and not one that another key has repointed since', async () => {
    const [leaked, other] = [await store.createKey({ client: 'Hooves' }), await store.createKey({ client: 'Hooves' })];
    const [repointed, returned] = [await addEndpoint(store, other, { url }), await addEndpoint(store, leaked, { url })];
    await patch(leaked, repointed.id, { url: 'https://attacker.example/' });
    await patch(other, returned.id, { url });
    await patch(leaked, returned.id, { description: 'a description leads nowhere' });
    expect((await revoke(leaked)).disabled).toEqual([BigInt(repointed.id)]);
    expect((await webhook(other, returned.id)).status).toBe('enabled');
  });

  test('leaves them enabled if asked to; --all-webhooks also disables those without a key, which are otherwise listed', async () => {
    const keys = [];
    for (let i = 0; i < 3; i += 1) keys.push(await store.createKey({ client: 'Feathers' }));
    const [keep, plain, all] = keys as [TestKey, TestKey, TestKey];
    const [own, old] = [await addEndpoint(store, keep, { url }), await addEndpoint(store, plain, { url })];
    await store.asOwner('update webhooks set key_id = null where id = $1', old.id);
    const left = { id: BigInt(own.id), keyId: keep.id, url };
    const unowned = { id: BigInt(old.id), keyId: null, url };
    expect(await revoke(keep, 'keep')).toMatchObject({ disabled: [], stillEnabled: [left, unowned] });
    expect(await revoke(plain)).toMatchObject({ disabled: [], stillEnabled: [left, unowned] });
    expect(await revoke(all, 'disable-unowned-too')).toMatchObject({ disabled: [BigInt(old.id)], stillEnabled: [left] });
    const reader = await store.createKey({ client: 'Feathers' });
    expect((await webhook(reader, own.id)).status).toBe('enabled');
  });

  test('waits for an endpoint that the key is just adding, and disables that too', async () => {
    const leaked = await store.createKey({ client: 'Racer' });
    const [adding, revoking] = await store.dependencies.db.transaction(async (tx) => {
      // The lock stops the request after its key is checked and before its endpoint is added.
      await tx.query({ text: 'select from clients where id = $1 for no key update', values: [leaked.clientId] });
      const added = store.call<WebhookBody>('POST', '/v1/webhooks', { key: leaked.key, body: { url } });
      await poll(() => countLockWaits(store)).until((count) => count === 1n);
      const revoked = revoke(leaked);
      await poll(() => countLockWaits(store)).until((count) => count === 2n);
      return [added, revoked] as const;
    }, theService);
    const { json, status } = await adding;
    expect(status).toBe(201);
    expect((await revoking).disabled).toEqual([BigInt(json.id)]);
  });

  test('is not undone by a concurrent request that enables the endpoint, with the same key or another of the client', async () => {
    const [leaked, other] = [await store.createKey({ client: 'Pouncer' }), await store.createKey({ client: 'Pouncer' })];
    const endpoints = [await addEndpoint(store, leaked, { url }), await addEndpoint(store, leaked, { url })];
    const ids = endpoints.map(({ id }) => BigInt(id));
    const [revoking, ...enabling] = await store.dependencies.db.transaction(async (tx) => {
      // The lock stops the revocation at the first endpoint, after the key is revoked and before anything is disabled.
      await tx.query({ text: 'select from webhooks where id = $1 for no key update', values: [ids[0]] });
      const revoked = revoke(leaked);
      await poll(() => countLockWaits(store)).until((count) => count === 1n);
      const enabled = [
        patch(leaked, endpoints[1]?.id ?? 0, { status: 'enabled' }),
        patch(other, endpoints[0]?.id ?? 0, { status: 'enabled' }),
      ];
      await poll(() => countLockWaits(store)).until((count) => count === 3n);
      return [revoked, ...enabled] as const;
    }, theService);
    expect((await revoking).disabled).toEqual(ids);
    expect((await Promise.all(enabling)).map(({ status }) => status)).toEqual([401, 200]);
    const rows = await store.read('select key_id as key, status from webhooks where id = any($1::bigint[]) order by id', ids);
    // The endpoint that another key enabled belongs to that key.
    expect(rows).toEqual([
      { key: other.id, status: 'enabled' },
      { key: leaked.id, status: 'disabled' },
    ]);
  });

  test('stops deliveries to its endpoints, from the next event on', async () => {
    await using receiver = await WebhookReceiver.open();
    const [leaked, reader] = [await store.createKey({ client: 'Fins' }), await store.createKey({ client: 'Fins' })];
    const { id } = await addEndpoint(store, leaked, { url: receiver.url });
    await using _ = deliver(store.dependencies);
    await addAnimal(store, reader);
    await publishAll(store.dependencies);
    await receiver.has(1);
    await revoke(leaked);
    await addAnimal(store, reader);
    await publishAll(store.dependencies);
    expect((await store.call<unknown[]>('GET', `/v1/webhooks/${id}/deliveries`, { key: reader.key })).json).toHaveLength(1);
  });
});

describe('An endpoint whose key was revoked', () => {
  test('that another key enables belongs to that key, and gets only what that key may read', async () => {
    const leaked = await store.createKey({ client: 'Scales' });
    const narrow = await store.createKey({ client: 'Scales', scopes: ['pets:read', 'webhooks:manage'] });
    const { id } = await addEndpoint(store, leaked, { url });
    await revoke(leaked);
    expect((await patch(narrow, id, { status: 'enabled' })).json).toMatchObject({ status: 'enabled', disabledReason: null });
    const rows = await store.read('select key_id, with_orders from webhooks where id = $1', id);
    expect(rows).toEqual([{ key_id: narrow.id, with_orders: false }]);
  });
});

describe('Rotating a key', () => {
  test('transfers its endpoints to the successor and says which', async () => {
    const old = await store.createKey({ client: 'Tails' });
    const { id } = await addEndpoint(store, old, { url });
    const { handedOver, record } = await rotate(old, 60);
    expect(handedOver).toEqual([BigInt(id)]);
    const successor = { ...old, id: record.id };
    expect((await revoke(successor)).disabled).toEqual([BigInt(id)]);
  });
});

describe('A key that expires', () => {
  const sweep = () => disableWebhooksOfEndedKeys(store.dependencies.db, 60);

  test('without a successor has its endpoints disabled, with the reason', async () => {
    const [key, reader] = [await store.createKey({ client: 'Shells' }), await store.createKey({ client: 'Shells' })];
    const { id } = await addEndpoint(store, key, { url });
    await expire(key);
    const reason = `Key ${key.id}, which set up this endpoint, expired and has no valid successor.`;
    expect(await sweep()).toEqual([{ id: BigInt(id), clientId: key.clientId, reason }]);
    expect(await webhook(reader, id)).toMatchObject({ status: 'disabled', disabledReason: reason });
    expect(await sweep()).toEqual([]);
  });

  test('with a successor has endpoints that it added during the overlap transferred to the latest successor', async () => {
    const first = await store.createKey({ client: 'Horns' });
    const { record: second } = await rotate(first, 60);
    const { record: third } = await rotate({ ...first, id: second.id }, 60);
    const { id } = await addEndpoint(store, first, { url });
    await expire(first);
    expect(await sweep()).toEqual([]);
    const rows = await store.read('select key_id, status from webhooks where id = $1', id);
    expect(rows).toEqual([{ key_id: third.id, status: 'enabled' }]);
  });

  test('whose successor was revoked in the meantime has its endpoints disabled', async () => {
    const first = await store.createKey({ client: 'Hides' });
    const { record: second } = await rotate(first, 60);
    await revoke({ ...first, id: second.id });
    const { id } = await addEndpoint(store, first, { url });
    await expire(first);
    expect(await sweep()).toMatchObject([{ id: BigInt(id) }]);
  });

  test('and whose endpoint an operator enables again has it stay enabled, without a key', async () => {
    const key = await store.createKey({ client: 'Quills' });
    const { id } = await addEndpoint(store, key, { url });
    await expire(key);
    await sweep();
    await enableByOperator(store.dependencies.db, BigInt(id));
    expect(await disableWebhooksOfEndedKeys(store.dependencies.db, undefined)).toEqual([]);
    const rows = await store.read('select key_id, status from webhooks where id = $1', id);
    expect(rows).toEqual([{ key_id: null, status: 'enabled' }]);
  });

  test('after it was revoked with its endpoints left enabled has them stay enabled', async () => {
    const key = await store.createKey({ client: 'Antlers' });
    await addEndpoint(store, key, { url });
    await revoke(key, 'keep');
    await expire(key);
    expect(await sweep()).toEqual([]);
  });
});

describe('A suspended client', () => {
  test('gets 403 client_suspended for every key on the next request, and is served again on the next one after it was resumed', async () => {
    const [one, other] = [await store.createKey({ client: 'Spines' }), await store.createKey({ client: 'Spines' })];
    for (const key of [one, other]) expect((await list(key)).status).toBe(200);
    await suspend('Spines', true);
    for (let i = 0; i < 3; i += 1) {
      for (const key of [one, other])
        expect(await list(key)).toMatchObject(errorResponse(403, 'client_suspended', 'Spines was suspended by the store at'));
    }
    await suspend('Spines', false);
    for (const key of [one, other]) expect((await list(key)).status).toBe(200);
    expect(entries.slice(-2)).toEqual([
      { act: 'client_suspended', client: one.clientId },
      { act: 'client_resumed', client: one.clientId },
    ]);
  });

  test('still uses up its rate limit: beyond it the response is 429', async () => {
    const key = await store.createKey({ client: 'Beaks', plan: { perMinute: 2, perDay: 100 } });
    await suspend('Beaks', true);
    const statuses = [];
    for (let i = 0; i < 3; i += 1) statuses.push((await list(key)).status);
    expect(statuses).toEqual([403, 403, 429]);
  });

  test('is sent nothing, and nothing is queued for it', async () => {
    await using receiver = await WebhookReceiver.open();
    await using bystander = await WebhookReceiver.open();
    const [key, other] = [await store.createKey({ client: 'Claws' }), await store.createKey()];
    await addEndpoint(store, key, { url: receiver.url });
    await addEndpoint(store, other, { url: bystander.url });
    await addAnimal(store, other);
    await publishAll(store.dependencies);
    await suspend('Claws', true);
    await addAnimal(store, other);
    await publishAll(store.dependencies);
    await using _ = deliver(store.dependencies);
    // By the second delivery, the deliverer has polled everything that is due more than once.
    await bystander.has(2);
    expect(receiver.received).toHaveLength(0);
    await suspend('Claws', false);
    await addAnimal(store, other);
    await publishAll(store.dependencies);
    // The event queued before the suspension and the one after it; not the one during it.
    await receiver.has(2);
    const { json } = await store.call<unknown[]>('GET', '/v1/webhooks', { key: key.key });
    expect(json).toHaveLength(1);
    expect(receiver.received).toHaveLength(2);
  });
});

describe('An open stream', () => {
  const open = ({ key }: TestKey) => StreamReader.open(`${store.url}/v1/events?cursor=latest`, { key });

  test.each([
    ['its key is revoked', (key: TestKey) => revoke(key)],
    ['its key expires', (key: TestKey) => expire(key)],
    ['its client is suspended', () => suspend('Streamer', true)],
  ])('ends within 1 s after %s, and that of another client stays open', async (_, end) => {
    const [key, other] = [await store.createKey({ client: 'Streamer' }), await store.createKey()];
    using stream = await open(key);
    using bystander = await open(other);
    await end(key);
    const endedAtMs = performance.now();
    await stream.until(() => stream.isEnded, 'end of the stream', 3_000);
    expect(performance.now() - endedAtMs).toBeLessThan(1_000);
    expect(bystander.isEnded).toBe(false);
    await suspend('Streamer', false);
  });
});

describe('Operators', () => {
  test('disable and enable an endpoint of any client', async () => {
    const key = await store.createKey();
    const { id } = await addEndpoint(store, key, { url });
    await disableByOperator(store.dependencies.db, journal, BigInt(id));
    expect(await webhook(key, id)).toMatchObject({ status: 'disabled', disabledReason: "Disabled by the store's operators." });
    expect(entries.at(-1)).toEqual({ act: 'webhook_disabled', webhook: BigInt(id) });
    await enableByOperator(store.dependencies.db, BigInt(id));
    expect(await poll(() => webhook(key, id)).until(({ status }) => status === 'enabled')).toMatchObject({ disabledReason: null });
    await expect(disableByOperator(store.dependencies.db, journal, 999_999n)).rejects.toThrow('999999');
  });
});
