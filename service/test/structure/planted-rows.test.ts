// A final status of an order, a private event type and a scope are each a row of one table. Here they are planted in a copy of the
// service, and nothing else is changed but the type in PostgreSQL: everything must follow. Rows that are not complete do not compile:
// tables.types.ts.

import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { plantMutant } from '../../../testkit/mutant.ts';
import { theService } from '../../src/domain/actor.ts';
import type { EventType, PrivateEventType } from '../../src/domain/event-types.ts';
import type { Scope } from '../../src/domain/scopes.ts';
import { act, addPet, createManager, type OrderBody, placeOrder, readPet } from '../adoption-steps.ts';
import { cloneTemplate, executeAsOwner } from '../databases.ts';
import { disposeAfterAll } from '../dispose-after-all.ts';
import { publishAll } from '../event-steps.ts';
import { addShelter, createShelterKey } from '../shelter-steps.ts';
import { openTestStore, type TestKey } from '../test-store.ts';

const edits = [
  {
    file: 'domain/order-states.ts',
    from: '  returned: {\n',
    to: `  turned_down: { isOpen: false, reserves: false, end: 'without adoption', meaning: 'Turned down.', event: 'The order was turned down.' },\n  returned: {\n`,
  },
  {
    file: 'domain/order-states.ts',
    from: '  return: {\n',
    to: `  turn_down: { from: ['placed'], to: 'turned_down', pet: { from: 'pending', to: 'available' }, by: 'staff', summary: 'Turns down.' },\n  return: {\n`,
  },
  {
    file: 'domain/event-types.ts',
    from: `  'pet.removed': {`,
    to: `  'pet.note_added': { meaning: 'A note.', audience: 'private', data: 'pet', keepsListsValid: true },\n  'pet.removed': {`,
  },
  {
    file: 'domain/scopes.ts',
    from: `  'store:manage': {`,
    to: `  'foster:describe': { givenTo: 'staff', meaning: 'Describe.', permits: { describePets: 'own shelter' } },\n  'store:manage': {`,
  },
];
const noteAdded = 'pet.note_added' as PrivateEventType;
const fosterScope = 'foster:describe' as Scope;

/** A module of the copy. */
const planted = (file: string) => import(pathToFileURL(path.join(tree.root, 'service/src', file)).href);

const tree = disposeAfterAll(plantMutant(edits));
const databaseUrl = await cloneTemplate(inject('postgresUrl'));
await executeAsOwner(databaseUrl, `alter type order_status add value 'turned_down'`);
const [{ createApp }, { openDependencies }] = [await planted('app.ts'), await planted('dependencies.ts')];
const store = await openTestStore({ env: { DATABASE_URL: databaseUrl }, code: { createApp, openDependencies } });
const [manager, partner] = [await createManager(store), await store.createKey()];
const document = (await store.call('GET', '/openapi.json')).text;

const readFeed = async ({ key }: TestKey, query = '') =>
  (await store.call<Array<{ type: string }>>('GET', `/v1/events${query}`, { key })).json.map(({ type }) => type);

describe('A planted final status', () => {
  let order: OrderBody;
  beforeAll(async () => {
    order = await placeOrder(store, partner, (await addPet(store, partner)).id);
  });

  test('is reached by its action, which changes the animal', async () => {
    expect(await act(store, manager, order.id, 'turn_down')).toMatchObject({ status: 200, json: { status: 'turned_down' } });
    expect(await readPet(store, partner, order.petId)).toMatchObject({ status: 'available' });
    expect((await act(store, manager, order.id, 'approve')).json).toMatchObject({
      message: `Order ${order.id} is already turned_down, so it can't be approved. No further action is possible.`,
    });
    expect((await act(store, partner, order.id, 'turn_down')).status).toBe(403);
  });

  test('is in the OpenAPI document, with its action and its event', () => {
    for (const text of ['turn_downOrder', 'turned_down: Turned down.', 'order.turned_down', 'The order was turned down.'])
      expect(document).toContain(text);
  });

  test('has an event that its client gets, and no other', async () => {
    await publishAll(store);
    expect(await readFeed(partner, '?type=order.turned_down')).toEqual(['order.turned_down']);
    expect(await readFeed(await store.createKey(), '?type=order.turned_down')).toEqual([]);
  });

  test('is legal in the history', async () => {
    const { verifyHistory } = await planted('adoption/verify/verify.ts');
    expect((await verifyHistory(store.dependencies.db, () => {})).violation).toBeUndefined();
  });

  test("has its adopter's data erased after the period for orders without an adoption", async () => {
    const { eraseOldAdopters } = await planted('adoption/orders/adopters.ts');
    const retention = { adopterDays: 90, adoptionDays: undefined };
    const erase = () =>
      eraseOldAdopters(
        store.dependencies.db,
        () => true,
        retention,
        100,
        async () => 0,
      );
    expect(await erase()).toBe(0);
    await store.write(`update orders set updated_at = now() - interval '91 days' where id = ${order.id}`);
    expect(await erase()).toBe(1);
  });
});

describe('A planted private event type', () => {
  let stranger: TestKey;
  beforeAll(async () => {
    stranger = await store.createKey({ scopes: ['pets:read', 'webhooks:manage'] });
    const { id } = await addPet(store, partner);
    const { recordEvents } = await planted('changes/events/events.ts');
    const event = { type: noteAdded, petId: BigInt(id), clientId: partner.clientId, data: '{}' };
    await store.dependencies.db.transaction((tx) => recordEvents(tx, event), theService);
    await publishAll(store);
  });

  test('is in the feed of its client and of the store, and in no other', async () => {
    for (const query of ['', `?type=${noteAdded}`]) {
      expect(await readFeed(partner, query)).toContain(noteAdded);
      expect(await readFeed(manager, query)).toContain(noteAdded);
      expect(await readFeed(stranger, query)).not.toContain(noteAdded);
      expect(await readFeed(await store.createKey(), query)).not.toContain(noteAdded);
    }
  });

  test('is in the streams of the same', async () => {
    const { matches } = await planted('changes/events/events.ts');
    const { visibilityOf } = await planted('domain/actor.ts');
    const event = { type: noteAdded, clientId: partner.clientId, shelterId: 1n };
    const interests = { shelterIds: [], categoryIds: [] };
    const seenBy = ({ clientId }: TestKey) => {
      const orders = visibilityOf({ clientId, shelterId: null, scopes: ['orders:read'] });
      return matches(event, { type: undefined, orders, interests });
    };
    expect([seenBy(partner), seenBy(stranger)]).toEqual([true, false]);
    expect(matches(event, { type: undefined, orders: 'none', interests })).toBe(false);
  });

  test('is not sent to an endpoint of a key without a scope for it', async () => {
    const body = { url: 'https://example.org/hooks', types: [noteAdded] };
    const response = await store.call<{ message: string }>('POST', '/v1/webhooks', { key: stranger.key, body });
    expect(response.status).toBe(403);
    expect(response.json.message).toContain(`Events of type ${noteAdded} need the scope orders:read`);
    expect(response.headers['www-authenticate']).toBe('Bearer error="insufficient_scope", scope="orders:read"');
    const { subscriptionOf } = await planted('changes/webhooks/subscriptions.ts');
    const endpoint = { clientId: stranger.clientId, shelterId: null, types: [], mayReadPublic: true, mayReadPrivate: false };
    const { publicTypes, privateTypes } = subscriptionOf(endpoint) as Record<string, readonly EventType[]>;
    expect([publicTypes?.includes(noteAdded), privateTypes]).toEqual([false, []]);
  });
});

describe('A planted scope', () => {
  test('permits what its row says, and nothing else', async () => {
    const shelter = await addShelter(store);
    const { id } = await addPet(store, await createShelterKey(store, shelter));
    const [here, elsewhere] = [
      await createShelterKey(store, shelter, [fosterScope]),
      await createShelterKey(store, await addShelter(store), [fosterScope]),
    ];
    const status = async ({ key }: TestKey, method: string, target: string, body: object) =>
      (await store.call(method, target, { key, body })).status;
    expect(await status(here, 'PUT', `/v1/pets/${id}/profile`, {})).toBe(200);
    expect(await status(elsewhere, 'PUT', `/v1/pets/${id}/profile`, {})).toBe(403);
    expect(await status(here, 'PATCH', `/v1/pets/${id}`, { name: 'Rex' })).toBe(403);
    expect(await status(here, 'GET', '/v1/pets', {})).toBe(403);
  });

  test('is in the documents, and in errors, as one that would do', async () => {
    expect(document).toContain(`pets:write or ${fosterScope} or store:manage or shelter:manage`);
    const { id } = await addPet(store, await store.createKey());
    const response = await store.call<{ message: string }>('PUT', `/v1/pets/${id}/profile`, { key: partner.key, body: {} });
    expect(response.json.message).toContain(`has pets:write or ${fosterScope} or shelter:manage,`);
  });

  test('is given to staff only, and accepted by the command line', async () => {
    const { defaultScopes, isScope } = await planted('domain/scopes.ts');
    expect([isScope(fosterScope), defaultScopes.includes(fosterScope)]).toEqual([true, false]);
  });
});
