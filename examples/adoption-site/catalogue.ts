import type { Category, Int64, Order, Pet, PetStatus, Store } from '@homeward/sdk';

/** A cached entry expires after this time even if the feed reports no change, in case the feed was lost unnoticed. */
const cacheMsMax = 60_000;
/** A cached entry is used for at least this time, however much changes. */
const cacheMsMin = 1_000;
/** While the store is unreachable, stale entries up to this age are shown. */
const staleMsMax = 600_000;
const entriesMax = 500;
/** The last requests of a rate-limit window are reserved for adoptions. */
const requestsReservedForAdoptions = 5;
const animalsPerPage = 24;
const categoriesMax = 1_000;

export interface Filter {
  readonly status: PetStatus;
  readonly categoryId?: Int64 | undefined;
  readonly cursor?: string | undefined;
}

export interface AnimalPage {
  readonly items: readonly Pet[];
  /** Of the next page; undefined on the last one. */
  readonly cursor?: string | undefined;
}

export interface Seen<Value> {
  readonly value: Value;
  /** The last change that the site knew of when it read this. An open page receives the changes after it. */
  readonly asOf: string;
  readonly readAtMs: number;
}

/** The remaining requests of the window are reserved for adoptions. */
export class LimitNear extends Error {
  readonly retryAfterSeconds: number;

  constructor(resetAt: Date) {
    super('the last requests of this window are reserved for adoptions');
    this.retryAfterSeconds = Math.max(1, Math.ceil((resetAt.getTime() - Date.now()) / 1_000));
  }
}

interface Entry {
  readonly tried: { readonly atMs: number; readonly position: string };
  readonly seen: Promise<Seen<unknown>>;
}

/**
 * A cache of what visitors look at. A hundred visitors of a page cost one request: an entry is cached until the feed reports a
 * change (`position` differs then), and visitors who come while it is being read share that read.
 */
export class Catalogue {
  readonly #store: Store;
  readonly #position: () => string;
  readonly #entries = new Map<string, Entry>();

  constructor(store: Store, position: () => string) {
    this.#store = store;
    this.#position = position;
  }

  page(filter: Filter): Promise<Seen<AnimalPage>> {
    const { status, categoryId, cursor } = filter;
    const query = {
      status,
      limit: animalsPerPage,
      ...(categoryId !== undefined && { categoryId }),
      ...(cursor !== undefined && { cursor }),
    };
    return this.#read(`page ${status} ${categoryId} ${cursor}`, () => this.#store.pets.list(query).page());
  }

  findAnimal(id: Int64): Promise<Seen<Pet | undefined>> {
    return this.#read(`animal ${id}`, () => this.#store.pets.find(id));
  }

  order(id: Int64): Promise<Seen<Order>> {
    return this.#read(`order ${id}`, () => this.#store.orders.get(id));
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
    return (await this.#read('categories', read)).value;
  }

  /** For the visitor who has just changed the animal, before the feed reports it. */
  invalidateAnimal(id: Int64): void {
    this.#entries.delete(`animal ${id}`);
  }

  #read<Value>(name: string, read: () => Promise<Value>): Promise<Seen<Value>> {
    const cached = this.#entries.get(name) as { tried: Entry['tried']; seen: Promise<Seen<Value>> } | undefined;
    const now = { atMs: Date.now(), position: this.#position() };
    if (cached && isFresh(cached.tried, now)) return cached.seen;
    const seen = this.#readNow(read, now).catch(async (error: unknown) => {
      const stale = await cached?.seen.catch(() => undefined);
      if (stale && Date.now() - stale.readAtMs < staleMsMax) return stale;
      this.#entries.delete(name);
      throw error;
    });
    this.#entries.delete(name);
    this.#entries.set(name, { tried: now, seen });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > entriesMax && oldest !== undefined) this.#entries.delete(oldest);
    return seen;
  }

  async #readNow<Value>(read: () => Promise<Value>, now: Entry['tried']): Promise<Seen<Value>> {
    const { rateLimit } = this.#store;
    if (rateLimit && rateLimit.remaining <= requestsReservedForAdoptions && rateLimit.resetAt.getTime() > now.atMs) {
      throw new LimitNear(rateLimit.resetAt);
    }
    return { value: await read(), asOf: now.position, readAtMs: now.atMs };
  }
}

function isFresh(tried: Entry['tried'], now: Entry['tried']): boolean {
  const ageMs = now.atMs - tried.atMs;
  return ageMs < cacheMsMin || (ageMs < cacheMsMax && tried.position === now.position);
}
