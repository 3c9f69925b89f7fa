import type { Category, Int64, Order, Pet, PetStatus, Store } from '@homeward/sdk';

/** While nothing changes, something is read again only after this time. It covers a feed that was lost without a sign. */
const keptMs = 60_000;
/** However much changes, nothing is read again sooner than this. */
const keptAtLeastMs = 1_000;
/** While the store does not answer, what was read before is shown for so long. */
const shownWithoutStoreMs = 600_000;
const entriesMax = 500;
/** Visitors who only look leave so many requests of a window to those who adopt. */
const requestsLeftForAdoptions = 5;
const animalsPerPage = 24;
const categoriesMax = 1_000;

export interface Filter {
  readonly status: PetStatus;
  readonly categoryId?: Int64 | undefined;
  readonly cursor?: string | undefined;
}

export interface AnimalPage {
  readonly items: readonly Pet[];
  /** Of the page that follows; undefined: this is the last one. */
  readonly cursor?: string | undefined;
}

export interface Seen<Value> {
  readonly value: Value;
  /** The last change that the site knew of when it read this. An open page is told what came after. */
  readonly asOf: string;
  readonly readAtMs: number;
}

/** Nothing may be read now, so that adoptions still get through. */
export class LimitNear extends Error {
  readonly retryAfterSeconds: number;

  constructor(resetAt: Date) {
    super('the last requests of this window are kept for adoptions');
    this.retryAfterSeconds = Math.max(1, Math.ceil((resetAt.getTime() - Date.now()) / 1_000));
  }
}

interface Entry {
  readonly tried: { readonly atMs: number; readonly position: string };
  readonly seen: Promise<Seen<unknown>>;
}

/**
 * What visitors look at, read from the store once for all of them. A hundred visitors of a page cost one request:
 * it is kept until the feed tells of a change (`position` is another then), and those who come while it is read share the reading.
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

  /** Those with a name. The store lists them first, so that those without cost no request. */
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

  /** For the visitor who has just changed the animal, before the feed tells of it. */
  forgetAnimal(id: Int64): void {
    this.#entries.delete(`animal ${id}`);
  }

  #read<Value>(name: string, read: () => Promise<Value>): Promise<Seen<Value>> {
    const before = this.#entries.get(name) as { tried: Entry['tried']; seen: Promise<Seen<Value>> } | undefined;
    const now = { atMs: Date.now(), position: this.#position() };
    if (before && isFresh(before.tried, now)) return before.seen;
    const seen = this.#readNow(read, now).catch(async (error: unknown) => {
      const former = await before?.seen.catch(() => undefined);
      if (former && Date.now() - former.readAtMs < shownWithoutStoreMs) return former;
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
    if (rateLimit && rateLimit.remaining <= requestsLeftForAdoptions && rateLimit.resetAt.getTime() > now.atMs) {
      throw new LimitNear(rateLimit.resetAt);
    }
    return { value: await read(), asOf: now.position, readAtMs: now.atMs };
  }
}

function isFresh(tried: Entry['tried'], now: Entry['tried']): boolean {
  const ageMs = now.atMs - tried.atMs;
  return ageMs < keptAtLeastMs || (ageMs < keptMs && tried.position === now.position);
}
