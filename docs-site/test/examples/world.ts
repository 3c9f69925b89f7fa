import { createManager } from '../../../service/test/adoption-steps.ts';
import { executeAsOwner } from '../../../service/test/databases.ts';
import { createPhotoStore, type PhotoTestStore } from '../../../service/test/photo-steps.ts';
import type { TestKey, TestStore } from '../../../service/test/test-store.ts';
import { WebhookReceiver } from '../../../service/test/webhook-receiver.ts';

/** A new store, the keys of a partner and of the store's staff, and the partner's server. */
export interface World extends AsyncDisposable {
  readonly store: TestStore;
  readonly photos: PhotoTestStore;
  readonly partner: TestKey;
  readonly staff: TestKey;
  readonly receiver: WebhookReceiver;
}

export async function createWorld(): Promise<World> {
  await using resources = new AsyncDisposableStack();
  const photos = resources.use(await createPhotoStore());
  const { store } = photos;
  const receiver = resources.use(await WebhookReceiver.open());
  const [partner, staff] = [await store.createKey({ client: 'Happy Tails' }), await createManager(store, { client: 'The shelter' })];
  // In other tests endpoints are verified from the start.
  await executeAsOwner(store.dependencies.config.databaseUrl, 'alter table webhooks alter column verified_at drop default');
  const owned = resources.move();
  return { store, photos, partner, staff, receiver, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

export async function placeOrder({ store, partner }: World, petId: number, adopter: { name: string; email: string }): Promise<void> {
  const { status, text } = await store.call('POST', '/v1/store/orders', { key: partner.key, body: { petId, adopter } });
  if (status !== 201) throw new Error(`no order was placed: ${text}`);
}

export async function submitApplication({ store, partner }: World, petId: number, adopter: { name: string; email: string }): Promise<void> {
  const { status, text } = await store.call('POST', '/v1/applications', { key: partner.key, body: { petId, adopter } });
  if (status !== 201) throw new Error(`no application was submitted: ${text}`);
}

export async function completeOrder({ store, staff }: World, orderId: number): Promise<void> {
  const { status, text } = await store.call('POST', `/v1/store/orders/${orderId}/complete`, { key: staff.key });
  if (status !== 200) throw new Error(`the order was not completed: ${text}`);
}
