import type {
  Category,
  Delivery,
  DeliveryWithAttempts,
  GetUsageData,
  Int64,
  ListCategoriesData,
  ListDeliveriesData,
  ListEventsData,
  ListOrdersData,
  ListPetsData,
  ListWebhooksData,
  NewOrder,
  NewPet,
  NewWebhook,
  Order,
  OrderEvent,
  Pet,
  PetChanges,
  PetEvent,
  Replay,
  Replayed,
  Usage,
  Webhook,
  WebhookChanges,
  WebhookWithSecret,
} from './api-types.gen.ts';
import { type FeedEvent, type FollowOptions, followFeed } from './feed.ts';
import { createListing, type Listing, type Page, readPage } from './listing.ts';
import { printedAs } from './printing.ts';
import type { StoreOptions } from './store-options.ts';
import { type Call, type CallOptions, createTransport, type Transport } from './transport.ts';

interface WriteOptions extends CallOptions {
  /** By default each call generates one. Pass your own if another process may retry the call. */
  readonly idempotencyKey?: string;
}

interface ChangeOptions extends CallOptions {
  /** The animal's ETag: the change is rejected if the animal has changed since. */
  readonly ifMatch?: string;
}

export type Store = ReturnType<typeof createStore>;

/**
 * A client for one store and API key. Create one per key and reuse it: its calls share the rate limit. Throws a TypeError if the
 * URL or the key is missing or can't be right.
 */
export function createStore(options: StoreOptions = {}) {
  const transport = createTransport(options);
  const store = {
    pets: petsOf(transport),
    categories: categoriesOf(transport),
    orders: ordersOf(transport),
    events: eventsOf(transport),
    webhooks: webhooksOf(transport),
    /** How many requests this client has sent, by interval and by key. The last seconds may be missing. */
    usage: (query?: GetUsageData['query'], options?: CallOptions) => request<Usage>(transport, { url: '/usage', query, options }),
    /** The quota from the last response; undefined before the first. */
    get rateLimit() {
      return transport.rateLimit;
    },
  };
  return printedAs(store, 'Store', () => ({ url: transport.base, rateLimit: transport.rateLimit }));
}

function petsOf(transport: Transport) {
  const one = (id: Int64) => ({ url: '/pets/{petId}', path: { petId: id } }) as const;
  return {
    list: (query?: ListPetsData['query'], options?: CallOptions): Listing<Pet> =>
      createListing(transport, { url: '/pets', query, options }),
    /** Undefined if the animal does not exist or was removed. */
    find: async (id: Int64, options?: CallOptions): Promise<Pet | undefined> =>
      (await readPage<Pet>(transport, { url: '/pets', query: { id: [id] }, options })).items[0],
    /** @deprecated Removed on 5 December 2030: use `find`. */
    get: (id: Int64, options?: CallOptions) => request<Pet>(transport, { ...one(id), options }),
    add: (pet: NewPet, options?: WriteOptions) => post<Pet>(transport, { url: '/pets', body: pet }, options),
    /** For the store's own keys. */
    update: (id: Int64, changes: PetChanges, options?: ChangeOptions) =>
      request<Pet>(transport, { method: 'PATCH', ...one(id), body: changes, headers: { 'if-match': options?.ifMatch }, options }),
    /** For the store's own keys: removes an animal that was added by mistake. */
    remove: (id: Int64, options?: ChangeOptions) =>
      request<void>(transport, { method: 'DELETE', ...one(id), headers: { 'if-match': options?.ifMatch }, options }),
  };
}

function categoriesOf(transport: Transport) {
  return {
    list: (query?: ListCategoriesData['query'], options?: CallOptions): Listing<Category> =>
      createListing(transport, { url: '/categories', query, options }),
    /** For the store's own keys. */
    name: (id: Int64, name: string, options?: CallOptions) =>
      request<Category>(transport, { method: 'PUT', url: '/categories/{categoryId}', path: { categoryId: id }, body: { name }, options }),
    /** For the store's own keys: removes a category that has neither a name nor an animal. */
    remove: (id: Int64, options?: CallOptions) =>
      request<void>(transport, { method: 'DELETE', url: '/categories/{categoryId}', path: { categoryId: id }, options }),
  };
}

function ordersOf(transport: Transport) {
  const act = (action: 'approve' | 'complete' | 'cancel' | 'return', id: Int64, options: WriteOptions | undefined) =>
    post<Order>(transport, { url: `/store/orders/{orderId}/${action}`, path: { orderId: id } }, options);
  return {
    list: (query?: ListOrdersData['query'], options?: CallOptions): Listing<Order> =>
      createListing(transport, { url: '/store/orders', query, options }),
    get: (id: Int64, options?: CallOptions) =>
      request<Order>(transport, { url: '/store/orders/{orderId}', path: { orderId: id }, options }),
    /** Promises an animal to an adopter: it is pending, and nobody else can order it. */
    place: (order: NewOrder, options?: WriteOptions) => post<Order>(transport, { url: '/store/orders', body: order }, options),
    cancel: (id: Int64, options?: WriteOptions) => act('cancel', id, options),
    /** For the store's own keys, like `complete` and `return`. */
    approve: (id: Int64, options?: WriteOptions) => act('approve', id, options),
    complete: (id: Int64, options?: WriteOptions) => act('complete', id, options),
    return: (id: Int64, options?: WriteOptions) => act('return', id, options),
  };
}

function eventsOf(transport: Transport) {
  return {
    /** Every change as it happens; resumes after a lost connection. */
    follow: (options: FollowOptions = {}): AsyncIterable<FeedEvent> => followFeed(transport, options),
    /** One page of the feed. Its cursor is always set: pass it to read what comes next. */
    page: (query?: ListEventsData['query'], options?: CallOptions): Promise<Page<PetEvent | OrderEvent>> =>
      readPage(transport, { url: '/events', query, options }),
  };
}

function webhooksOf(transport: Transport) {
  const path = (id: Int64) => ({ webhookId: id });
  return {
    list: (query?: ListWebhooksData['query'], options?: CallOptions): Listing<Webhook> =>
      createListing(transport, { url: '/webhooks', query, options }),
    get: (id: Int64, options?: CallOptions) => request<Webhook>(transport, { url: '/webhooks/{webhookId}', path: path(id), options }),
    /** The secret is only in this response. */
    add: (webhook: NewWebhook, options?: WriteOptions) => post<WebhookWithSecret>(transport, { url: '/webhooks', body: webhook }, options),
    update: (id: Int64, changes: WebhookChanges, options?: CallOptions) =>
      request<Webhook>(transport, { method: 'PATCH', url: '/webhooks/{webhookId}', path: path(id), body: changes, options }),
    remove: (id: Int64, options?: CallOptions) =>
      request<void>(transport, { method: 'DELETE', url: '/webhooks/{webhookId}', path: path(id), options }),
    /** The old secret stays valid for 24 hours: deliveries are signed with both. */
    rotateSecret: (id: Int64, options?: WriteOptions) =>
      post<WebhookWithSecret>(transport, { url: '/webhooks/{webhookId}/rotate-secret', path: path(id) }, options),
    test: (id: Int64, options?: WriteOptions) => post<Delivery>(transport, { url: '/webhooks/{webhookId}/test', path: path(id) }, options),
    deliveries: (id: Int64, query?: ListDeliveriesData['query'], options?: CallOptions): Listing<Delivery> =>
      createListing(transport, { url: '/webhooks/{webhookId}/deliveries', path: path(id), query, options }),
    delivery: (id: Int64, deliveryId: Int64, options?: CallOptions) =>
      request<DeliveryWithAttempts>(transport, {
        url: '/webhooks/{webhookId}/deliveries/{deliveryId}',
        path: { ...path(id), deliveryId },
        options,
      }),
    replay: (id: Int64, what: Replay, options?: WriteOptions) =>
      post<Replayed>(transport, { url: '/webhooks/{webhookId}/replay', path: path(id), body: what }, options),
  };
}

async function request<T>(transport: Transport, call: Call): Promise<T> {
  return (await transport.call(call)).body as T;
}

const post = <T>(transport: Transport, call: Call, options: WriteOptions | undefined) =>
  request<T>(transport, { ...call, method: 'POST', headers: { 'idempotency-key': options?.idempotencyKey }, options });
