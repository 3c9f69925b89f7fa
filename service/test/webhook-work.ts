// A worker's webhook tasks, run in the test's process.
import { Deliverer } from '../src/changes/delivery/deliverer.ts';
import { SafeSender } from '../src/changes/delivery/safe-sender.ts';
import { Publisher } from '../src/changes/events/publisher.ts';
import type { Dependencies } from '../src/dependencies.ts';
import type { ServiceDb } from '../src/platform/db/handles.ts';
import { poll } from './poll.ts';
import type { TestKey, TestResponse, TestStore } from './test-store.ts';

export async function publishAll({ db }: Dependencies): Promise<void> {
  await new Publisher({ db, batchSizeMax: 500, beforePublishing: async () => {} }).publish();
}

export interface Work extends AsyncDisposable {
  /** The endpoints that it disabled. */
  readonly disabled: Array<{ id: bigint; reason: string }>;
}

/** Delivers until it is disposed. Errors are thrown then, unless they are expected. */
export function deliver({ db }: { readonly db: ServiceDb }, { mayFail = false } = {}): Work {
  const stopping = new AbortController();
  const sender = new SafeSender({ toLoopback: true });
  const disabled: Array<{ id: bigint; reason: string }> = [];
  const failures: unknown[] = [];
  const deliverer = new Deliverer({
    db,
    sender,
    onDisabled: (webhook) => disabled.push(webhook),
    onError: (error) => failures.push(error),
  });
  const running = deliverer.run(stopping.signal);
  return {
    disabled,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
      await sender.close();
      if (failures.length > 0 && !mayFail) throw failures[0];
    },
  };
}

export interface WebhookBody {
  readonly id: number;
  readonly url: string;
  readonly types: string[];
  readonly description: string;
  readonly status: string;
  readonly disabledReason: string | null;
  readonly failingSince: string | null;
  readonly secret?: string;
}

export interface DeliveryBody {
  readonly id: number;
  readonly eventId: string;
  readonly type: string;
  readonly status: string;
  readonly attemptCount: number;
  readonly nextAttemptAt: string | null;
  readonly attempts: Array<{ status: number | null; answer: string | null; error: string | null; durationMs: number }>;
}

export async function addEndpoint(store: TestStore, { key }: TestKey, body: object): Promise<WebhookBody & { secret: string }> {
  const response = await store.call<WebhookBody & { secret: string }>('POST', '/v1/webhooks', { key, body });
  if (response.status !== 201) throw new Error(`no endpoint was added: ${response.text}`);
  return response.json;
}

export async function addAnimal(store: TestStore, { key }: TestKey, name = 'Biscuit'): Promise<number> {
  const { json } = await store.call<{ id: number }>('POST', '/v1/pets', { key, body: { name, categoryId: 1 } });
  return json.id;
}

export const deliveriesOf = async (store: TestStore, { key }: TestKey, id: number, query = ''): Promise<DeliveryBody[]> =>
  (await store.call<DeliveryBody[]>('GET', `/v1/webhooks/${id}/deliveries${query}`, { key })).json;

export const deliveryOf = (store: TestStore, { key }: TestKey, id: number, deliveryId: number): Promise<TestResponse<DeliveryBody>> =>
  store.call<DeliveryBody>('GET', `/v1/webhooks/${id}/deliveries/${deliveryId}`, { key });

export const until = <T>(read: () => Promise<T>, isExpected: (value: T) => boolean): Promise<T> => poll(read).until(isExpected);
