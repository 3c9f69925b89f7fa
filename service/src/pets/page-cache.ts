/** A page of the list as it is sent. */
export interface PetPage {
  readonly body: string;
  readonly etag: string;
  /** The next page; undefined on the last. */
  readonly link: string | undefined;
}

interface CachedPage {
  readonly page: PetPage;
  /** The catalogue's token as it was read before the page was. */
  readonly token: string;
  readonly readAtMs: number;
  readonly bytes: number;
}

/** Bounds what can be hidden by a writer that died between its commit and its token. */
const trustedMs = 2_000;
const bytesMax = 64 * 1_048_576;
const pagesMax = 10_000;
const entryBytes = 512;

/**
 * Recent pages as ready bytes, by URL. A page may be sent while the catalogue's token is the one that was read before
 * it: a write that has been acknowledged since would have brought another.
 */
export class PageCache {
  readonly #cached = new Map<string, CachedPage>();
  readonly #reading = new Map<string, Promise<PetPage>>();
  #bytes = 0;

  /** Whether the page is kept under whatever token. */
  has(url: string): boolean {
    return this.#cached.has(url);
  }

  find(url: string, token: string | undefined): PetPage | undefined {
    const kept = this.#cached.get(url);
    return kept && kept.token === token && performance.now() - kept.readAtMs < trustedMs ? kept.page : undefined;
  }

  /** `token` must have been read before this call. Callers share a reading only under the same token. */
  async read(url: string, token: string | undefined, fetch: () => Promise<PetPage>): Promise<PetPage> {
    if (token === undefined) return fetch();
    const kept = this.find(url, token);
    if (kept) return kept;
    const name = `${token} ${url}`;
    const shared = this.#reading.get(name);
    if (shared) return shared;
    const readAtMs = performance.now();
    const reading = fetch();
    this.#reading.set(name, reading);
    try {
      const page = await reading;
      // Forgotten meanwhile: then nobody vouches for the token any more.
      if (this.#reading.get(name) === reading) this.#add(url, { page, token, readAtMs, bytes: bytesOf(url, page) });
      return page;
    } finally {
      if (this.#reading.get(name) === reading) this.#reading.delete(name);
    }
  }

  invalidateAll(): void {
    this.#cached.clear();
    this.#reading.clear();
    this.#bytes = 0;
  }

  #add(url: string, kept: CachedPage): void {
    this.#drop(url);
    this.#cached.set(url, kept);
    this.#bytes += kept.bytes;
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

const bytesOf = (url: string, { body }: PetPage) => body.length + 2 * url.length + entryBytes;
