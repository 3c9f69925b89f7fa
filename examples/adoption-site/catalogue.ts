import type {
  Application,
  Category,
  Correction,
  Facets,
  Int64,
  OpeningHours,
  Order,
  PetListing,
  Question,
  Shelter,
  SiteSettings,
  Store,
  Understood,
} from '@homeward/sdk';
import { townOf } from './animal-facts.ts';
import { addressOf, type Filter, isNarrow, placeText, searchOf } from './filter.ts';
import type { Place } from './filter-form.ts';

/** A cached entry expires after this time even if the feed reports no change, in case the feed was lost unnoticed. */
const cacheMsMax = 60_000;
/** A cached entry is used for at least this time, however much changes. */
const cacheMsMin = 1_000;
/** While the store is unreachable, stale entries up to this age are shown. */
const staleMsMax = 600_000;
/** Of each kind, so that a flood of searches does not evict the pages that most visitors open. */
const entriesMax = 500;
/** The last requests of a rate-limit window are reserved for adoptions. */
const requestsReservedForAdoptions = 5;
/** Searches leave this share of a window to pages without filters: anyone can think of more searches than the window has requests. */
const shareReservedForPages = 0.25;
const animalsPerPage = 24;
const animalsInFeed = 50;
const categoriesMax = 1_000;
/** A list to choose from can't be longer; a store may have thousands of shelters. */
const placesMax = 100;
/** With the pages of categories, a sitemap has fewer than the 50,000 addresses that it may have. */
const animalsInSitemapMax = 10_000;
const sitemapMsMax = 3_600_000;

export interface ListingPage {
  readonly items: readonly PetListing[];
  /** Of the next page; undefined on the last one. */
  readonly cursor?: string | undefined;
  /** Of a search with words. */
  readonly understoodAs?: Understood | undefined;
  readonly leftOut?: readonly string[] | undefined;
  readonly corrections?: readonly Correction[] | undefined;
}

export interface Seen<Value> {
  readonly value: Value;
  /** The last change that the site knew of when it read this. An open page receives the changes after it. */
  readonly asOf: string;
  readonly readAtMs: number;
}

/** The remaining requests of the window are reserved, for adoptions and for pages that more visitors open. */
export class LimitNear extends Error {
  readonly retryAfterSeconds: number;

  constructor(resetAt: Date) {
    super('the last requests of this window are reserved');
    this.retryAfterSeconds = Math.max(1, Math.ceil((resetAt.getTime() - Date.now()) / 1_000));
  }
}

interface Entry {
  readonly tried: { readonly atMs: number; readonly position: string };
  readonly seen: Promise<Seen<unknown>>;
}

/** How a shelter's animals are adopted. */
export interface Terms {
  readonly adoption: Shelter['adoption'];
  /** What adopters should read before they apply. */
  readonly note: string | null;
  /** Empty unless adopters apply. */
  readonly questions: readonly Question[];
  /** Of the shelter, by its name in the IANA database. */
  readonly timezone: string | null;
  readonly openingHours: OpeningHours | null;
}

/** Whether adopters apply for the animal now, also while it is promised to one of them. */
export const takesApplications = ({ pet }: PetListing, terms: Terms | undefined): boolean =>
  terms?.adoption === 'application' && pet.status !== 'sold';

type Kind = 'page' | 'search' | 'animal' | 'shelter' | 'order' | 'application' | 'other';

/**
 * A cache of what visitors look at. A hundred visitors of a page cost one request: an entry is cached until the feed reports a
 * change (`position` differs then), and visitors who come while it is being read share that read.
 */
export class Catalogue {
  readonly #store: Store;
  readonly #position: () => string;
  readonly #storeUrl: string;
  readonly #caches: Readonly<Record<Kind, Map<string, Entry>>> = {
    page: new Map(),
    search: new Map(),
    animal: new Map(),
    shelter: new Map(),
    order: new Map(),
    application: new Map(),
    other: new Map(),
  };
  #sitemap: { readonly atMs: number; readonly ids: Promise<readonly Int64[]> } | undefined;

  constructor(store: Store, storeUrl: string, position: () => string) {
    this.#store = store;
    this.#storeUrl = storeUrl;
    this.#position = position;
  }

  page(filter: Filter): Promise<Seen<ListingPage>> {
    const { sort, cursor } = filter;
    const query = { ...searchOf(filter), limit: animalsPerPage, ...(sort && { sort }), ...(cursor !== undefined && { cursor }) };
    return this.#read(kindOf(filter), addressOf(filter), async () => {
      const { items, cursor: next, understoodAs, leftOut, corrections } = await this.#store.listings.search(query).page();
      return { items: items.map(this.#withWholeUrls), cursor: next, understoodAs, leftOut, corrections };
    });
  }

  /** How many animals the filter finds by age, sex and size, perhaps among others. Undefined if that can't be read now: the list is useful without. */
  async facets(filter: Filter): Promise<Facets | undefined> {
    const address = addressOf({ ...filter, sort: undefined, cursor: undefined });
    const read = () => this.#store.listings.facets(searchOf(filter));
    return (await this.#read(kindOf(filter), `counts ${address}`, read).catch(() => undefined))?.value;
  }

  findAnimal(id: Int64): Promise<Seen<PetListing | undefined>> {
    return this.#read('animal', String(id), async () => {
      const [listing] = (await this.#store.listings.search({ id: [id] }).page()).items;
      return listing && this.#withWholeUrls(listing);
    });
  }

  /** In the order of the ids. Those that are no longer listed are left out. */
  async findAnimals(ids: readonly Int64[]): Promise<Seen<readonly PetListing[]>> {
    if (ids.length === 0) return { value: [], asOf: this.#position(), readAtMs: Date.now() };
    return this.#read('search', `ids ${ids.join()}`, async () => {
      const found = new Map<string, PetListing>();
      for await (const listing of this.#store.listings.search({ id: [...ids] }))
        found.set(String(listing.pet.id), this.#withWholeUrls(listing));
      return ids.map((id) => found.get(String(id))).filter((listing) => listing !== undefined);
    });
  }

  async newest(): Promise<readonly PetListing[]> {
    const query = { status: 'available', sort: 'newest', limit: animalsInFeed } as const;
    const read = async () => (await this.#store.listings.search(query).page()).items.map(this.#withWholeUrls);
    return (await this.#read('other', 'newest', read)).value;
  }

  /** Colours and texts of the site. Those of the site itself if they can't be read now. */
  async settings(): Promise<SiteSettings> {
    // The feed has no events of them, so no change of it concerns this.
    const found = await this.#read('other', 'settings', () => this.#store.site.get(), '').catch(() => undefined);
    return found?.value ?? { accentLight: null, accentDark: null, imprint: null, privacy: null };
  }

  /** The towns of shelters, to search near them. Empty if they can't be read now. */
  async places(): Promise<readonly Place[]> {
    const read = async () => {
      const towns = new Map<string, Place>();
      for (const { name, address, latitude, longitude } of (await this.#store.shelters.list({ limit: placesMax }).page()).items) {
        const town = townOf({ address }) ?? name;
        if (latitude !== null && longitude !== null) towns.set(town, { name: town, near: placeText(latitude, longitude) });
      }
      return [...towns.values()].sort((a, b) => a.name.localeCompare(b.name));
    };
    // The feed has no events of shelters, so no change of it concerns this.
    return (await this.#read('other', 'places', read, '').catch(() => undefined))?.value ?? [];
  }

  /**
   * The animals of the sitemap, the newest first, for an hour. It takes many requests, so it ends early when half of the rate limit is
   * used: search engines find the others by links.
   */
  sitemap(): Promise<readonly Int64[]> {
    if (this.#sitemap && Date.now() - this.#sitemap.atMs < sitemapMsMax) return this.#sitemap.ids;
    const ids = this.#readSitemap().catch((error: unknown) => {
      this.#sitemap = undefined;
      throw error;
    });
    this.#sitemap = { atMs: Date.now(), ids };
    return ids;
  }

  async #readSitemap(): Promise<Int64[]> {
    const ids: Int64[] = [];
    this.#keepReserve(Date.now(), shareReservedForPages);
    for await (const { items } of this.#store.listings.search({ status: 'available', sort: 'newest' }).pages()) {
      ids.push(...items.map(({ pet }) => pet.id));
      const { rateLimit } = this.#store;
      if (ids.length >= animalsInSitemapMax || (rateLimit && rateLimit.remaining < rateLimit.limit / 2)) break;
    }
    return ids;
  }

  order(id: Int64): Promise<Seen<Order>> {
    return this.#read('order', String(id), () => this.#store.orders.get(id));
  }

  application(id: Int64): Promise<Seen<Application>> {
    return this.#read('application', String(id), () => this.#store.applications.get(id));
  }

  async terms(shelterId: Int64): Promise<Terms> {
    const read = async (): Promise<Terms> => {
      const { adoption, applicationNote: note, timezone, openingHours } = await this.#store.shelters.get(shelterId);
      const asks = adoption === 'application';
      return { adoption, note, timezone, openingHours, questions: asks ? (await this.#store.shelters.questions(shelterId)).questions : [] };
    };
    // The feed has no events of shelters, so no change of it concerns this.
    return (await this.#read('shelter', String(shelterId), read, '')).value;
  }

  /** Categories with a name. The store lists these first, so the others cost no request. */
  async categories(): Promise<readonly Category[]> {
    const read = async () => {
      const named: Category[] = [];
      for await (const category of this.#store.categories.list()) {
        if (category.name === undefined || named.length === categoriesMax) break;
        named.push(category);
      }
      return named;
    };
    return (await this.#read('other', 'categories', read)).value;
  }

  /** For the visitor who has just changed it, before the feed reports that; or if the store has shown that it has changed. */
  invalidate(kind: 'animal' | 'shelter' | 'order' | 'application', id: Int64): void {
    this.#caches[kind].delete(String(id));
  }

  #read<Value>(kind: Kind, name: string, read: () => Promise<Value>, position = this.#position()): Promise<Seen<Value>> {
    const entries = this.#caches[kind];
    const cached = entries.get(name) as { tried: Entry['tried']; seen: Promise<Seen<Value>> } | undefined;
    const now = { atMs: Date.now(), position };
    if (cached && isFresh(cached.tried, now)) return cached.seen;
    const seen = this.#readNow(kind, read, now).catch(async (error: unknown) => {
      const stale = await cached?.seen.catch(() => undefined);
      if (stale && Date.now() - stale.readAtMs < staleMsMax) return stale;
      entries.delete(name);
      throw error;
    });
    entries.delete(name);
    entries.set(name, { tried: now, seen });
    const [oldest] = entries.keys();
    if (entries.size > entriesMax && oldest !== undefined) entries.delete(oldest);
    return seen;
  }

  async #readNow<Value>(kind: Kind, read: () => Promise<Value>, now: Entry['tried']): Promise<Seen<Value>> {
    this.#keepReserve(now.atMs, kind === 'search' ? shareReservedForPages : 0);
    return { value: await read(), asOf: now.position, readAtMs: now.atMs };
  }

  /** Throws if the rest of the window is reserved for what is more important. */
  #keepReserve(nowMs: number, share: number): void {
    const { rateLimit } = this.#store;
    if (!rateLimit || rateLimit.resetAt.getTime() <= nowMs) return;
    const reserved = Math.max(requestsReservedForAdoptions, rateLimit.limit * share);
    if (rateLimit.remaining <= reserved) throw new LimitNear(rateLimit.resetAt);
  }

  /** A photo without a host is on the origin of the store. */
  readonly #withWholeUrls = (listing: PetListing): PetListing => ({
    ...listing,
    photos: listing.photos.map((photo) => ({
      ...photo,
      urls: photo.urls.map((picture) => ({ ...picture, url: new URL(picture.url, this.#storeUrl).href })),
    })),
  });
}

/** A page deep in a list is looked for like a search: there are as many as visitors make up. */
const kindOf = (filter: Filter): Kind => (isNarrow(filter) || filter.cursor !== undefined ? 'search' : 'page');

function isFresh(tried: Entry['tried'], now: Entry['tried']): boolean {
  const ageMs = now.atMs - tried.atMs;
  return ageMs < cacheMsMin || (ageMs < cacheMsMax && tried.position === now.position);
}
