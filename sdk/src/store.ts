import type {
  Application,
  ApplicationDecline,
  ApplicationEvent,
  Category,
  Delivery,
  DeliveryWithAttempts,
  Facets,
  GetUsageData,
  Hold,
  Int64,
  ListApplicationsData,
  ListCategoriesData,
  ListDeliveriesData,
  ListEventsData,
  ListListingFacetsData,
  ListListingsData,
  ListOrdersData,
  ListPetsData,
  ListSheltersData,
  ListWebhooksData,
  NewApplication,
  NewHold,
  NewOrder,
  NewPet,
  NewShelter,
  NewWebhook,
  Order,
  OrderEvent,
  Outcome,
  OutcomeType,
  Pet,
  PetChanges,
  PetEvent,
  PetListing,
  PetShelter,
  Photo,
  PhotoChanges,
  Profile,
  ProfileChanges,
  Replay,
  Replayed,
  Shelter,
  ShelterChanges,
  ShelterQuestions,
  SiteSettings,
  SiteSettingsChanges,
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
import { createTurns } from './turns.ts';

interface WriteOptions extends CallOptions {
  /** By default each call generates one. Pass your own if another process may retry the call. */
  readonly idempotencyKey?: string;
}

interface ChangeOptions extends CallOptions {
  /** The ETag of what is changed: the change is rejected if it has changed since. */
  readonly ifMatch?: string;
}

interface DeclineOptions extends WriteOptions {
  readonly message?: string;
}

/** How many photos a store accepts from a client at once, and how long it lets each take. */
const uploadsMax = 2;
const uploadTimeoutMs = 600_000;

export type Store = ReturnType<typeof createStore>;

/**
 * A client for one store and API key. Create one per key and reuse it: its calls share the rate limit. Throws a TypeError if the
 * URL or the key is missing or can't be right.
 */
export function createStore(options: StoreOptions = {}) {
  const transport = createTransport(options);
  const store = {
    pets: petsOf(transport),
    shelters: sheltersOf(transport),
    site: siteOf(transport),
    listings: listingsOf(transport),
    categories: categoriesOf(transport),
    applications: applicationsOf(transport),
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
  const holdOf = (id: Int64) => ({ url: '/pets/{petId}/hold', path: { petId: id } }) as const;
  return {
    list: (query?: ListPetsData['query'], options?: CallOptions): Listing<Pet> =>
      createListing(transport, { url: '/pets', query, options }),
    /** Undefined if the animal does not exist or was removed. */
    find: async (id: Int64, options?: CallOptions): Promise<Pet | undefined> =>
      (await readPage<Pet>(transport, { url: '/pets', query: { id: [id] }, options })).items[0],
    /** @deprecated Removed on 5 December 2030: use `find`. */
    get: (id: Int64, options?: CallOptions) => request<Pet>(transport, { ...one(id), options }),
    add: (pet: NewPet, options?: WriteOptions) => post<Pet>(transport, { url: '/pets', body: pet }, options),
    /** For keys of the store, and of the animal's shelter. */
    update: (id: Int64, changes: PetChanges, options?: ChangeOptions) =>
      request<Pet>(transport, { method: 'PATCH', ...one(id), body: changes, headers: { 'if-match': options?.ifMatch }, options }),
    /** For keys of the store, and of the animal's shelter: removes an animal that was added by mistake. */
    remove: (id: Int64, options?: ChangeOptions) =>
      request<void>(transport, { method: 'DELETE', ...one(id), headers: { 'if-match': options?.ifMatch }, options }),
    /** How an animal has left the store, for its staff. No request is sent yet. */
    outcome: (id: Int64) => outcomeOf(transport, id),
    /** For the store's own keys: moves an animal to another shelter. */
    move: (id: Int64, to: PetShelter, options?: CallOptions) =>
      request<PetShelter>(transport, { method: 'PUT', url: '/pets/{petId}/shelter', path: { petId: id }, body: to, options }),
    /** For keys of the store, and of the animal's shelter: says that it is not ready to be adopted for a while, or changes what was said. */
    hold: (id: Int64, hold: NewHold, options?: CallOptions) =>
      request<Hold>(transport, { method: 'PUT', ...holdOf(id), body: hold, options }),
    /** For the same keys: the hold with its note. */
    getHold: (id: Int64, options?: CallOptions) => request<Hold>(transport, { ...holdOf(id), options }),
    /** For the same keys. Also succeeds if the animal is not held. */
    endHold: (id: Int64, options?: CallOptions) => request<void>(transport, { method: 'DELETE', ...holdOf(id), options }),
    /** The profile of an animal. No request is sent yet. */
    profile: (id: Int64) => profileOf(transport, id),
    photos: photosOf(transport),
  };
}

function sheltersOf(transport: Transport) {
  const one = (id: Int64) => ({ url: '/shelters/{shelterId}', path: { shelterId: id } }) as const;
  const questionsOf = (id: Int64) => ({ ...one(id), url: '/shelters/{shelterId}/questions' }) as const;
  return {
    list: (query?: ListSheltersData['query'], options?: CallOptions): Listing<Shelter> =>
      createListing(transport, { url: '/shelters', query, options }),
    get: (id: Int64, options?: CallOptions) => request<Shelter>(transport, { ...one(id), options }),
    /** For the store's own keys. */
    create: (shelter: NewShelter, options?: WriteOptions) => post<Shelter>(transport, { url: '/shelters', body: shelter }, options),
    /** For keys of the store, and of the shelter. Null removes a value. */
    update: (id: Int64, changes: ShelterChanges, options?: ChangeOptions) =>
      request<Shelter>(transport, { method: 'PATCH', ...one(id), body: changes, headers: { 'if-match': options?.ifMatch }, options }),
    /** What it asks those who apply for its animals. */
    questions: (id: Int64, options?: CallOptions) => request<ShelterQuestions>(transport, { ...questionsOf(id), options }),
    /** For keys of the store, and of the shelter: replaces them all. */
    setQuestions: (id: Int64, body: ShelterQuestions, options?: ChangeOptions) =>
      request<ShelterQuestions>(transport, { method: 'PUT', ...questionsOf(id), body, headers: { 'if-match': options?.ifMatch }, options }),
  };
}

function siteOf(transport: Transport) {
  return {
    /** Colours, imprint and privacy, as the store wants them on the sites of its adopters. */
    get: (options?: CallOptions) => request<SiteSettings>(transport, { url: '/site', options }),
    /** For the store's own keys. Null removes a value. */
    update: (changes: SiteSettingsChanges, options?: ChangeOptions) =>
      request<SiteSettings>(transport, {
        method: 'PATCH',
        url: '/site',
        body: changes,
        headers: { 'if-match': options?.ifMatch },
        options,
      }),
  };
}

/** For keys of the store, and of the animal's shelter. */
function outcomeOf(transport: Transport, petId: Int64) {
  const one = { url: '/pets/{petId}/outcome', path: { petId } } as const;
  return {
    /** Takes the animal off every list. For 30 days it can be undone. */
    record: (type: OutcomeType, options?: WriteOptions & ChangeOptions) =>
      post<Outcome>(transport, { ...one, body: { type }, headers: { 'if-match': options?.ifMatch } }, options),
    get: (options?: CallOptions) => request<Outcome>(transport, { ...one, options }),
    /** Lists the animal again, as pending. */
    undo: (options?: CallOptions) => request<Pet>(transport, { method: 'DELETE', ...one, options }),
  };
}

function profileOf(transport: Transport, id: Int64) {
  const one = { url: '/pets/{petId}/profile', path: { petId: id } } as const;
  const write = (method: 'PUT' | 'PATCH', body: ProfileChanges, options: ChangeOptions | undefined) =>
    request<Profile>(transport, { ...one, method, body, headers: { 'if-match': options?.ifMatch }, options });
  return {
    get: (options?: CallOptions) => request<Profile>(transport, { ...one, options }),
    /** With its ETag, for `ifMatch`. */
    getWithEtag: async (options?: CallOptions): Promise<{ profile: Profile; etag: string }> => {
      const { body, headers } = await transport.call({ ...one, options });
      return { profile: body as Profile, etag: headers.get('etag') ?? '' };
    },
    /** Replaces the profile: what is left out is removed. */
    put: (profile: ProfileChanges, options?: ChangeOptions) => write('PUT', profile, options),
    /** Changes the given fields. Null removes a value. */
    patch: (changes: ProfileChanges, options?: ChangeOptions) => write('PATCH', changes, options),
  };
}

/** A place, such as the `coords` that a browser gives, or its latitude and longitude as text, such as `48.2,16.37`. */
type Near = string | { readonly latitude: number; readonly longitude: number };
type Search<Query> = Omit<NonNullable<Query>, 'near'> & { readonly near?: Near };

function listingsOf(transport: Transport) {
  const queryOf = <Query extends { near?: Near }>({ near, ...query }: Query) => ({
    ...query,
    // The service rounds it to 0.01 degrees, so nothing more of a place is sent.
    ...(near !== undefined && { near: typeof near === 'string' ? near : `${near.latitude.toFixed(2)},${near.longitude.toFixed(2)}` }),
  });
  return {
    /** Animals with their profiles, photos and shelters. */
    search: (query: Search<ListListingsData['query']> = {}, options?: CallOptions): Listing<PetListing> =>
      createListing(transport, { url: '/listings', query: queryOf(query), options }),
    /** How many of the animals that a search finds are of each breed, age, size and sex. */
    facets: (query: Search<ListListingFacetsData['query']> = {}, options?: CallOptions) =>
      request<Facets>(transport, { url: '/listings/facets', query: queryOf(query), options }),
  };
}

function photosOf(transport: Transport) {
  const one = (id: Int64, photoId: Int64) => ({ url: '/pets/{petId}/photos/{photoId}', path: { petId: id, photoId } }) as const;
  const inTurn = createTurns(uploadsMax);
  return {
    /** In the order in which they are shown. */
    list: (id: Int64, options?: CallOptions) => request<Photo[]>(transport, { url: '/pets/{petId}/photos', path: { petId: id }, options }),
    get: (id: Int64, photoId: Int64, options?: CallOptions) => request<Photo>(transport, { ...one(id, photoId), options }),
    /**
     * A JPEG, PNG or WebP of at most 20 MB. It is processed afterwards: read it again until its status is `ready`. The same bytes for
     * the same animal are the same photo. Two are sent at a time, others wait.
     */
    add: (id: Int64, photo: Blob, options?: CallOptions) =>
      inTurn(() =>
        request<Photo>(transport, {
          method: 'POST',
          url: '/pets/{petId}/photos',
          path: { petId: id },
          body: photo,
          timeoutMs: uploadTimeoutMs,
          options,
        }),
      ),
    /** Sets the alternative text, or moves the photo: position 0 is the first. */
    update: (id: Int64, photoId: Int64, changes: PhotoChanges, options?: CallOptions) =>
      request<Photo>(transport, { method: 'PATCH', ...one(id, photoId), body: changes, options }),
    remove: (id: Int64, photoId: Int64, options?: CallOptions) =>
      request<void>(transport, { method: 'DELETE', ...one(id, photoId), options }),
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

function applicationsOf(transport: Transport) {
  const one = (id: Int64) => ({ url: '/applications/{applicationId}', path: { applicationId: id } }) as const;
  const act = (
    action: 'review' | 'accept' | 'decline' | 'reopen' | 'withdraw',
    id: Int64,
    options: WriteOptions | undefined,
    body?: ApplicationDecline,
  ) => post<Application>(transport, { ...one(id), url: `/applications/{applicationId}/${action}`, body }, options);
  return {
    /** Without what the adopters have answered. */
    list: (query?: ListApplicationsData['query'], options?: CallOptions): Listing<Application> =>
      createListing(transport, { url: '/applications', query, options }),
    get: (id: Int64, options?: CallOptions) => request<Application>(transport, { ...one(id), options }),
    /** Asks for an animal for an adopter. The animal stays available: others may ask too, and staff choose. */
    submit: (application: NewApplication, options?: WriteOptions) =>
      post<Application>(transport, { url: '/applications', body: application }, options),
    /** One that its adopter has not confirmed yet, with the adopter's data. */
    remove: (id: Int64, options?: CallOptions) => request<void>(transport, { method: 'DELETE', ...one(id), options }),
    /** If staff have accepted it, its order is cancelled. */
    withdraw: (id: Int64, options?: WriteOptions) => act('withdraw', id, options),
    /** For keys of the store, and of the animal's shelter, like everything below. */
    review: (id: Int64, options?: WriteOptions) => act('review', id, options),
    /** Chooses this adopter: an approved order reserves the animal. */
    accept: (id: Int64, options?: WriteOptions) => act('accept', id, options),
    /** The adopter is told the message. */
    decline: (id: Int64, { message, ...options }: DeclineOptions = {}) =>
      act('decline', id, options, { ...(message !== undefined && { message }) }),
    /** One that was declined or closed, or lately withdrawn by a link of its adopter. */
    reopen: (id: Int64, options?: WriteOptions) => act('reopen', id, options),
    /** Adds a note of staff, which is `note` then. Null removes the newest that you have written. */
    note: (id: Int64, note: string | null, options?: CallOptions) =>
      request<Application>(transport, { method: 'PATCH', ...one(id), body: { note }, options }),
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
    /** For keys of the store, and of the animal's shelter, like `complete` and `return`. */
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
    page: (query?: ListEventsData['query'], options?: CallOptions): Promise<Page<PetEvent | OrderEvent | ApplicationEvent>> =>
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
  request<T>(transport, { ...call, method: 'POST', headers: { ...call.headers, 'idempotency-key': options?.idempotencyKey }, options });
