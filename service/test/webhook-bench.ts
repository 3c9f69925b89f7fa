// For the tests of a file: a store with a worker that sends webhooks. For each test: a partner with a receiver.

import { afterAll, beforeEach } from 'vitest';
import { poll } from './poll.ts';
import { openTestStore, type TestKey, type TestResponse, type TestStore } from './test-store.ts';
import { WebhookReceiver } from './webhook-receiver.ts';
import { namesOf } from './webhook-steps.ts';
import { addEndpoint, type DeliveryBody, deliver, deliveriesOf, type WebhookBody, type Work } from './webhook-work.ts';

/** Registers the hooks that open and close it. */
export async function webhookBench(): Promise<WebhookBench> {
  const bench = new WebhookBench(await openTestStore({ env: { HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on', HOMEWARD_POOL_SIZE: '10' } }));
  bench.startWorker();
  afterAll(() => bench.stopWorker());
  beforeEach(async () => {
    bench.partner = await bench.store.createKey();
    bench.receiver = await WebhookReceiver.open();
    const { receiver } = bench;
    return () => receiver[Symbol.asyncDispose]();
  });
  return bench;
}

export class WebhookBench {
  readonly store: TestStore;
  partner!: TestKey;
  receiver!: WebhookReceiver;
  work: Work | undefined;

  constructor(store: TestStore) {
    this.store = store;
  }

  startWorker(): void {
    this.work ??= deliver(this.store.dependencies);
  }

  /** As at a shutdown: what is in flight is finished first. */
  async stopWorker(): Promise<void> {
    const { work } = this;
    this.work = undefined;
    await work?.[Symbol.asyncDispose]();
  }

  /** Another worker continues. */
  async restartWorker(): Promise<void> {
    await this.stopWorker();
    this.startWorker();
  }

  call<Body>(method: string, path: string, body?: unknown, { key } = this.partner): Promise<TestResponse<Body>> {
    return this.store.call<Body>(method, `/v1/webhooks${path}`, { key, body });
  }

  /** By default it gets the events that `publishChanges` makes. */
  endpoint(body: object = {}, key = this.partner): Promise<WebhookBody & { secret: string }> {
    return addEndpoint(this.store, key, { url: this.receiver.url, types: ['pet.updated'], ...body });
  }

  async webhook(id: number): Promise<WebhookBody> {
    return (await this.call<WebhookBody>('GET', `/${id}`)).json;
  }

  async setStatus(id: number, status: 'enabled' | 'disabled'): Promise<void> {
    const response = await this.call('PATCH', `/${id}`, { status });
    if (response.status !== 200) throw new Error(response.text);
  }

  deliveries(id: number, query = '?limit=100'): Promise<DeliveryBody[]> {
    return deliveriesOf(this.store, this.partner, id, query);
  }

  /** Waits until the statuses of all deliveries are these. */
  async hasStatuses(id: number, ...expected: string[]): Promise<DeliveryBody[]> {
    return poll(() => this.deliveries(id)).until((all) => all.map(({ status }) => status).join() === expected.join());
  }

  /** Waits until so many deliveries are stored as delivered, and none is pending. */
  async hasDelivered(id: number, count: number): Promise<DeliveryBody[]> {
    return poll(() => this.deliveries(id)).until((all) => all.length === count && all.every(({ status }) => status === 'delivered'));
  }

  /** Waits until the receiver has got so many events. Returns the names of their animals. */
  async names(count: number): Promise<string[]> {
    return poll(() => namesOf(this.receiver)).until((names) => names.length >= count);
  }
}
