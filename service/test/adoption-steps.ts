// Setup steps for tests about animals and orders. A step that fails ends the test.

import type { PetStatus } from '../src/domain/pet-statuses.ts';
import { defaultScopes } from '../src/domain/scopes.ts';
import type { CallOptions, KeyOptions, TestKey, TestResponse, TestStore } from './test-store.ts';

export interface PetBody {
  readonly id: number;
  readonly name: string;
  readonly categoryId: number;
  readonly status: PetStatus;
}

export interface OrderBody {
  readonly id: number;
  readonly petId: number;
  readonly status: string;
  readonly adopter: { readonly name: string; readonly email: string } | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly expiresAt: string;
}

export const adopter = { name: 'Ada Lovelace', email: 'ada@example.org' };

/** A separate address for each animal: a client may have only 3 open orders for one address. */
export const adopterOf = (petId: number) => ({ ...adopter, email: `ada.${petId}@example.org` });

/** A key of the store's staff. */
export const createManager = (store: TestStore, options: KeyOptions = {}): Promise<TestKey> =>
  store.createKey({ ...options, scopes: [...defaultScopes, 'store:manage'] });

export async function addPet(store: TestStore, { key }: TestKey, pet: Partial<Omit<PetBody, 'id'>> = {}): Promise<PetBody> {
  const response = await store.call<PetBody>('POST', '/v1/pets', { key, body: { name: 'Biscuit', categoryId: 1, ...pet } });
  return expectStatus(response, 201);
}

export async function readPet(store: TestStore, { key }: TestKey, id: number): Promise<PetBody | undefined> {
  const response = await store.call<PetBody[]>('GET', `/v1/pets?id=${id}`, { key });
  return expectStatus(response, 200)[0];
}

export async function placeOrder(store: TestStore, { key }: TestKey, petId: number): Promise<OrderBody> {
  const response = await store.call<OrderBody>('POST', '/v1/store/orders', { key, body: { petId, adopter: adopterOf(petId) } });
  return expectStatus(response, 201);
}

/** Sends an action on an order and returns the response, whatever its status. */
export const act = (
  store: TestStore,
  { key }: TestKey,
  orderId: number,
  action: string,
  options: CallOptions = {},
): Promise<TestResponse<OrderBody>> => store.call('POST', `/v1/store/orders/${orderId}/${action}`, { key, ...options });

/** Sends several actions, each of which must succeed. */
export async function actAll(store: TestStore, key: TestKey, orderId: number, ...actions: string[]): Promise<void> {
  for (const action of actions) expectStatus(await act(store, key, orderId, action), 200);
}

/** Makes an order expire, whatever the clock says. */
export async function letExpire(store: TestStore, orderId: number): Promise<void> {
  await store.write(`update orders set expires_at = now() - interval '1 second' where id = $1`, orderId);
}

function expectStatus<Body>(response: TestResponse<Body>, status: number): Body {
  if (response.status === status) return response.json;
  throw new Error(`expected ${status}; got ${response.status} ${response.text}`);
}
