import { describe, expect, test } from 'vitest';
import { inlineComponents } from '../../src/platform/http/openapi-components.ts';
import { addPet, adopter, createManager } from '../adoption-steps.ts';
import { openTestStore } from '../test-store.ts';

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, { readonly headers?: Readonly<Record<string, unknown>> }>>;
}

const store = await openTestStore({ env: { HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on' } });
const key = await createManager(store, {
  scopes: ['pets:read', 'pets:write', 'orders:read', 'orders:write', 'store:manage', 'webhooks:manage'],
});
const document = (await store.call<{ paths: Record<string, Record<string, Operation>> }>('GET', '/openapi.json')).json;
const operations: Array<Operation & { readonly method: string; readonly path: string }> = Object.entries(
  inlineComponents(document, document.paths),
).flatMap(([path, methods]) => Object.entries(methods).map(([method, one]) => ({ ...one, method: method.toUpperCase(), path })));

interface Creation {
  readonly body: unknown;
  readonly id?: number;
  /** Where there is one at most, so that it has no id. */
  readonly location?: string;
}

/** A valid request for each operation that creates something, with its ids. */
const requests: Readonly<Record<string, () => Promise<Creation>>> = {
  createPet: async () => ({ body: { name: 'Biscuit', categoryId: 1 } }),
  createShelter: async () => ({ body: { name: 'Danube Shelter' } }),
  putCategory: async () => ({ body: { name: 'Dogs' }, id: 4_711 }),
  placeOrder: async () => ({ body: { petId: (await addPet(store, key)).id, adopter } }),
  submitApplication: async () => ({ body: { petId: (await addPet(store, key)).id, adopter } }),
  createWebhook: async () => ({ body: { url: 'https://example.org/hooks' } }),
  recordOutcome: async () => {
    const { id } = await addPet(store, key);
    return { body: { type: 'transferred' }, id, location: `/v1/pets/${id}/outcome` };
  },
};

describe('A 201', () => {
  test('is documented for these operations, all with Location', () => {
    const creating = operations.filter(({ responses }) => responses['201']);
    expect(creating.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(requests).sort());
    for (const { responses } of creating) expect(responses['201']?.headers).toHaveProperty('Location');
  });

  test.each(Object.entries(requests))(
    'of %s has the path of what was created in Location, and a retry has the same',
    async (name, prepare) => {
      const { method = '', path = '' } = operations.find(({ operationId }) => operationId === name) ?? {};
      const { body, id, location } = await prepare();
      const send = () =>
        store.call<{ id: number }>(method, `/v1${path.replace(/\{\w+\}/, String(id))}`, {
          key: key.key,
          body,
          headers: { 'idempotency-key': `retry of ${name}`.replaceAll(' ', '-') },
        });
      const created = await send();
      expect(created.status).toBe(201);
      expect(created.headers.location).toBe(location ?? `/v1${path.replace(/\/\{\w+\}/, '')}/${created.json.id}`);
      if (method !== 'POST') return;
      const retried = await send();
      expect(retried.headers).toMatchObject({ 'idempotent-replayed': 'true', location: created.headers.location });
    },
  );

  test('leads to the created animal, order, application or endpoint', async () => {
    for (const name of ['createPet', 'placeOrder', 'submitApplication', 'createWebhook']) {
      const { path = '' } = operations.find(({ operationId }) => operationId === name) ?? {};
      const { body } = (await requests[name]?.()) ?? {};
      const { headers, json } = await store.call<{ id: number }>('POST', `/v1${path}`, { key: key.key, body });
      const found = await store.call<{ id: number }>('GET', String(headers.location), { key: key.key });
      expect({ name, status: found.status, id: found.json.id }).toEqual({ name, status: 200, id: json.id });
    }
  });
});

describe('A category that is only renamed', () => {
  test('is 200 without Location', async () => {
    const put = () => store.call('PUT', '/v1/categories/4712', { key: key.key, body: { name: 'Cats' } });
    expect((await put()).headers.location).toBe('/v1/categories/4712');
    const { status, headers } = await put();
    expect([status, headers.location]).toEqual([200, undefined]);
  });
});
