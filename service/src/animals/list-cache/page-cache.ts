import { LRUCache } from 'lru-cache';
import type { CacheState, ListVersion } from '../../domain/caches.ts';
import type { Footprint } from './shown-changes.ts';

/** A page of a list as it is sent. `Rows` says which rows it depends on. */
export interface ListPage<Rows> {
  readonly body: string | Buffer;
  /** The length of the body in UTF-8. */
  readonly bytes: number;
  /** Of the body as it is. */
  readonly etag: string;
  /** The Link header to the next page; undefined on the last page. */
  readonly link: string | undefined;
  /** Where what the request was understood as is; undefined: the request says it. */
  readonly contentLocation?: string | undefined;
  /** What was left out of a search or corrected; undefined: nothing. */
  readonly searchNotes?: string | undefined;
  readonly footprint: Rows;
  /** Undefined: `pageAgeMaxMs`. */
  readonly ageMaxMs?: number | undefined;
}

export type PetPage = ListPage<Footprint>;

/**
 * A page whose text has characters beyond Latin-1 is encoded here, once: that takes longer than all else that a response needs. So is a
 * long one: all responses with it share the bytes, also while their readers are slow.
 */
export function listPage<Rows>(text: string, page: Omit<ListPage<Rows>, 'body' | 'bytes'>): ListPage<Rows> {
  const body = text.length > stringLengthMax || beyondLatin1.test(text) ? Buffer.from(text) : text;
  return { ...page, body, bytes: Buffer.byteLength(body) };
}

/** Node.js copies longer ones each time they are sent. */
const stringLengthMax = 16_384;
const beyondLatin1 = /[^\0-\xff]/;

/** Counts the changes that this process knows of, and says whether those since a version touch a page. */
interface KnownChanges<Rows, Version> {
  readonly version: Version;
  hasTouched(footprint: Rows, since: Version): boolean;
}

interface CachedPage<Rows, Version> {
  readonly page: ListPage<Rows>;
  /** The page includes every change up to this version; undefined: it is stale. */
  version: Version | undefined;
  /** The snapshot of PostgreSQL that was read before the page; undefined: the page was read for a request that Redis has decided. */
  readonly snapshot: string | undefined;
  readonly readAtMs: number;
  /** The compressed bodies that callers have asked for. A promise: it is being compressed. */
  readonly compressed: Map<string, Buffer | Promise<Buffer>>;
  /** Including the compressed bodies. */
  bytes: number;
}

/** Bounds how long a page can be stale if a writer died between its commit and the announcement. */
export const pageAgeMaxMs = 2_000;
const bytesMax = 64 * 1_048_576;
const pagesMax = 10_000;
const entryBytes = 512;

/** A query that is in flight. */
interface Reading<Rows> {
  readonly page: Promise<ListPage<Rows>>;
  /** The client that it is made for. */
  readonly clientId: bigint | undefined;
  /** Until it has its client's turn, the query waits. */
  readonly hasBegun: boolean;
}

/** The page was cached while its query waited for a turn. */
class CachedMeanwhile extends Error {
  // biome-ignore lint/suspicious/noExplicitAny: of the cache that throws and catches it.
  readonly page: ListPage<any>;

  constructor(page: ListPage<unknown>) {
    super('the page is cached');
    this.page = page;
  }
}

/** What a query is for. */
interface Wanted {
  readonly key: string;
  readonly url: string;
  readonly listVersion: ListVersion;
  readonly snapshot: string | undefined;
  readonly clientId: bigint | undefined;
}

/**
 * Caches serialized pages by URL. A page is served to a request in one of two cases:
 * - The request has a version, which Redis gave: no change since the page's version touches the footprint of the page.
 * - The request has a snapshot of PostgreSQL, since Redis did not reply: the page was read after a look with the same snapshot.
 *
 * Invariant: both are from before the page's query, and those of a request from after its arrival. A write is acknowledged when it is
 * in both, so a cached page reflects every acknowledged write.
 *
 * Concurrent reads of the same URL share one query (`#reading`), unless a change became known after it was sent. One that waits for a turn
 * is shared by its own client alone: others would wait for what that client has waiting. So several may wait for one page. The first whose
 * turn comes is shared by all from then on, and those whose turn comes after it has ended get its page. A read that was in flight when
 * `invalidateAll` was called is not cached.
 *
 * The body of a cached page is compressed when a caller first asks for it in a coding, once for each coding. It is dropped with
 * its page.
 */
export class PageCache<Rows = Footprint, Version extends number | readonly number[] = number> {
  /** Only read with `peek`, so that the page that was read first goes first: it is the first that is too old. */
  readonly #cached = new LRUCache<string, CachedPage<Rows, Version>>({ max: pagesMax, maxSize: bytesMax });
  readonly #reading = new Map<string, Reading<Rows>>();
  readonly #changes: KnownChanges<Rows, Version>;
  #invalidations = 0;
  #hits = 0;
  #misses = 0;

  constructor(changes: KnownChanges<Rows, Version>) {
    this.#changes = changes;
  }

  get state(): CacheState {
    return { hits: this.#hits, misses: this.#misses, size: this.#cached.size, bytes: this.#cached.calculatedSize, bytesMax };
  }

  /** Whether the page is cached, with any version. */
  has(url: string): boolean {
    return this.#cached.has(url);
  }

  find(url: string, version: ListVersion | undefined): ListPage<Rows> | undefined {
    const page = this.#find(url, version);
    if (page) this.#hits += 1;
    return page;
  }

  #find(url: string, version: ListVersion | undefined): ListPage<Rows> | undefined {
    const cached = this.#cached.peek(url);
    if (!cached || version === undefined || isTooOld(cached)) return undefined;
    const isCurrent = typeof version === 'string' ? cached.snapshot === version : this.#isCurrent(cached);
    return isCurrent ? cached.page : undefined;
  }

  /** Checks the changes since the last time only. */
  #isCurrent(cached: CachedPage<Rows, Version>): boolean {
    if (cached.version === undefined) return false;
    cached.version = this.#changes.hasTouched(cached.page.footprint, cached.version) ? undefined : this.#changes.version;
    return cached.version !== undefined;
  }

  /** The compressed body of a page that `find` has returned; undefined: it is not compressed yet. */
  findCompressed(url: string, page: ListPage<Rows>, coding: string): Buffer | undefined {
    const cached = this.#cached.peek(url);
    const compressed = cached?.page === page ? cached.compressed.get(coding) : undefined;
    return compressed instanceof Promise ? undefined : compressed;
  }

  /** The compressed body of a page. `compress` is called at most once for each coding while the page is cached. */
  async readCompressed(url: string, page: ListPage<Rows>, coding: string, compress: () => Promise<Buffer>): Promise<Buffer> {
    const cached = this.#cached.peek(url);
    if (cached?.page !== page) return compress();
    const shared = cached.compressed.get(coding);
    if (shared) return shared;
    const compressing = compress();
    cached.compressed.set(coding, compressing);
    try {
      const compressed = await compressing;
      cached.compressed.set(coding, compressed);
      if (this.#cached.peek(url) === cached) this.#store(url, cached, compressed.length);
      return compressed;
    } catch (error) {
      cached.compressed.delete(coding);
      throw error;
    }
  }

  /**
   * `listVersion` must have been read before this call. If it is undefined, the page is not cached. A query that waits for a turn of its
   * client calls `onBegun` when it has it.
   */
  async read(
    url: string,
    listVersion: ListVersion | undefined,
    fetch: (onBegun: () => void) => Promise<ListPage<Rows>>,
    clientId?: bigint,
  ): Promise<ListPage<Rows>> {
    const cached = this.find(url, listVersion);
    if (cached) return cached;
    this.#misses += 1;
    if (listVersion === undefined) return fetch(() => {});
    const snapshot = typeof listVersion === 'string' ? listVersion : undefined;
    // Not the request's version: it is that of the catalogue, and pages may depend on other changes too.
    const key = `${snapshot ?? this.#changes.version} ${url}`;
    const shared = this.#reading.get(key);
    if (shared && (shared.hasBegun || shared.clientId === clientId)) return shared.page;
    return this.#readAndShare({ key, url, listVersion, snapshot, clientId }, fetch);
  }

  #readAndShare(
    { key, url, listVersion, snapshot, clientId }: Wanted,
    fetch: (onBegun: () => void) => Promise<ListPage<Rows>>,
  ): Promise<ListPage<Rows>> {
    const before = { version: this.#changes.version, snapshot, readAtMs: performance.now() };
    const invalidations = this.#invalidations;
    const { promise: page, resolve, reject } = Promise.withResolvers<ListPage<Rows>>();
    const reading = { page, clientId, hasBegun: false };
    const share = () => {
      if (!this.#reading.get(key)?.hasBegun) this.#reading.set(key, reading);
    };
    const onBegun = () => {
      const cached = this.#find(url, listVersion);
      if (cached) throw new CachedMeanwhile(cached);
      reading.hasBegun = true;
      share();
    };
    const query = async () => {
      try {
        const read = await fetch(onBegun);
        if (this.#invalidations === invalidations) this.#add(url, { ...before, page: read, compressed: new Map(), bytes: 0 });
        resolve(read);
      } catch (error) {
        if (error instanceof CachedMeanwhile) resolve(error.page);
        else reject(error);
      } finally {
        if (this.#reading.get(key) === reading) this.#reading.delete(key);
      }
    };
    share();
    void query();
    return page;
  }

  invalidateAll(): void {
    this.#invalidations += 1;
    this.#cached.clear();
    this.#reading.clear();
  }

  #add(url: string, cached: CachedPage<Rows, Version>): void {
    // A query that started later has ended first.
    if ((this.#cached.peek(url)?.readAtMs ?? 0) > cached.readAtMs) return;
    this.#store(url, cached, bytesOf(url, cached.page));
  }

  /** Stores it with so many bytes more, and evicts the oldest pages beyond the bounds. */
  #store(url: string, cached: CachedPage<Rows, Version>, bytes: number): void {
    cached.bytes += bytes;
    // The bytes of a page that is stored already would not be counted again.
    this.#cached.delete(url);
    this.#cached.set(url, cached, { size: cached.bytes });
  }
}

const isTooOld = ({ page, readAtMs }: { readonly page: ListPage<unknown>; readonly readAtMs: number }) =>
  performance.now() - readAtMs >= (page.ageMaxMs ?? pageAgeMaxMs);

const bytesOf = (url: string, { bytes }: ListPage<unknown>) => bytes + 2 * url.length + entryBytes;
