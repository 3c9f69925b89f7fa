/** A page of the list as it is sent. */
export interface PetPage {
  readonly body: string;
  /** The length of the body in UTF-8. */
  readonly bytes: number;
  /** Of the body as it is. */
  readonly etag: string;
  /** The Link header to the next page; undefined on the last page. */
  readonly link: string | undefined;
}

interface CachedPage {
  readonly page: PetPage;
  /** The catalogue's token, read before the page. */
  readonly token: string;
  readonly readAtMs: number;
  /** The compressed bodies that callers have asked for. A promise: it is being compressed. */
  readonly compressed: Map<string, Buffer | Promise<Buffer>>;
  /** Including the compressed bodies. */
  bytes: number;
}

/** Bounds how long a page can be stale if a writer died between its commit and the invalidation. */
const ageMaxMs = 2_000;
const bytesMax = 64 * 1_048_576;
const pagesMax = 10_000;
const entryBytes = 512;

/**
 * Caches serialized pages by URL, each with the catalogue's token that was read before the page.
 *
 * Invariant: a page is served only while its token is the current one. A write replaces the token before it is acknowledged, so
 * a cached page reflects every acknowledged write.
 *
 * Concurrent reads of the same URL under the same token share one query (`#reading`). A read that was in flight when
 * `invalidateAll` was called is not cached.
 *
 * The body of a cached page is compressed when a caller first asks for it in a coding, once for each coding. It is dropped with
 * its page.
 */
export class PageCache {
  readonly #cached = new Map<string, CachedPage>();
  readonly #reading = new Map<string, Promise<PetPage>>();
  #bytes = 0;

  /** Whether the page is cached, with any token. */
  has(url: string): boolean {
    return this.#cached.has(url);
  }

  find(url: string, token: string | undefined): PetPage | undefined {
    const cached = this.#cached.get(url);
    return cached && cached.token === token && performance.now() - cached.readAtMs < ageMaxMs ? cached.page : undefined;
  }

  /** The compressed body of a page that `find` has returned; undefined: it is not compressed yet. */
  findCompressed(url: string, page: PetPage, coding: string): Buffer | undefined {
    const cached = this.#cached.get(url);
    const compressed = cached?.page === page ? cached.compressed.get(coding) : undefined;
    return compressed instanceof Promise ? undefined : compressed;
  }

  /** The compressed body of a page. `compress` is called at most once for each coding while the page is cached. */
  async readCompressed(url: string, page: PetPage, coding: string, compress: () => Promise<Buffer>): Promise<Buffer> {
    const cached = this.#cached.get(url);
    if (cached?.page !== page) return compress();
    const shared = cached.compressed.get(coding);
    if (shared) return shared;
    const compressing = compress();
    cached.compressed.set(coding, compressing);
    try {
      const compressed = await compressing;
      cached.compressed.set(coding, compressed);
      if (this.#cached.get(url) === cached) this.#count(cached, compressed.length);
      return compressed;
    } catch (error) {
      cached.compressed.delete(coding);
      throw error;
    }
  }

  /** `token` must have been read before this call. If it is undefined, the page is not cached. */
  async read(url: string, token: string | undefined, fetch: () => Promise<PetPage>): Promise<PetPage> {
    if (token === undefined) return fetch();
    const cached = this.find(url, token);
    if (cached) return cached;
    const key = `${token} ${url}`;
    const shared = this.#reading.get(key);
    if (shared) return shared;
    const readAtMs = performance.now();
    const reading = fetch();
    this.#reading.set(key, reading);
    try {
      const page = await reading;
      // Not cached if invalidateAll was called meanwhile.
      if (this.#reading.get(key) === reading) this.#add(url, { page, token, readAtMs, compressed: new Map(), bytes: 0 });
      return page;
    } finally {
      if (this.#reading.get(key) === reading) this.#reading.delete(key);
    }
  }

  invalidateAll(): void {
    this.#cached.clear();
    this.#reading.clear();
    this.#bytes = 0;
  }

  #add(url: string, cached: CachedPage): void {
    this.#drop(url);
    this.#cached.set(url, cached);
    this.#count(cached, bytesOf(url, cached.page));
  }

  /** Counts bytes of a cached page, and evicts the oldest pages beyond the bounds. */
  #count(cached: CachedPage, bytes: number): void {
    cached.bytes += bytes;
    this.#bytes += bytes;
    for (const oldest of this.#cached.keys()) {
      if (this.#bytes <= bytesMax && this.#cached.size <= pagesMax) return;
      this.#drop(oldest);
    }
  }

  #drop(url: string): void {
    this.#bytes -= this.#cached.get(url)?.bytes ?? 0;
    this.#cached.delete(url);
  }
}

const bytesOf = (url: string, { bytes }: PetPage) => bytes + 2 * url.length + entryBytes;
