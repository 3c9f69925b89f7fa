import { LRUCache } from 'lru-cache';
import type { CacheState } from '../../domain/caches.ts';
import { growingTo } from '../../platform/bounded/growing-to.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/handles.ts';
import { hashApiKey } from './api-key.ts';
import { type FoundKey, findKeyByHash, findOwners, type KeyOwner } from './client-queries.ts';
import { invalidityOf, KeyCache, KnownKey } from './key-cache.ts';
import { LookupQueue } from './lookup-queue.ts';

/** A key that has ended is cached by its read. */
type KeyRead = Promise<FoundKey | KnownKey | undefined>;

/** Reads the epoch of a key's client. It is called before the key is read. */
export type ReadEpoch = (owner: KeyOwner) => Promise<string | undefined>;

/** Each takes about 200 bytes. */
const hashesMax = 100_000;

/**
 * Finds the client of a key: in the cache, otherwise in PostgreSQL.
 *
 * A cached key may be used only while `ChangeWatch` is trusted, and only if its client's epoch is confirmed by Redis, or, without
 * Redis, if it is still current after a look for changes that began after the request arrived.
 *
 * A hash that this process has not cached goes through the look-up queue first, which finds out whether such a key exists, and
 * whose it is. A cached one skips the queue, so that a flood of invented keys can't delay it. Then the client's epoch is read,
 * and then the key. The order matters: an epoch that was read before the key is older than any change that the read missed. A key
 * that has ended (it was revoked or has expired) is cached for good.
 *
 * Reads of the same key are coalesced, as JoinedRuns does for one kind of work: here for each key, and the first starts at once. A read
 * is queued while the previous one of that key is in flight, and then in flight itself. Invariants:
 * - At most one query per key is in flight, so that a busy key can't occupy every connection.
 * - At most one read per key is queued, and every new caller joins it.
 * - Nobody joins a read that is in flight: it may have missed a revocation that was committed before the caller asked.
 * - A read that was in flight when its client was evicted is stale at once.
 */
export class KeyFinder {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #cache = new KeyCache();
  /** The hashes of cached keys, by the key as it is sent: hashing costs more than the rest of finding a cached key. */
  readonly #hashes = new LRUCache<string, string>(growingTo(hashesMax));
  readonly #queue: LookupQueue;
  readonly #queued = new Map<string, KeyRead>();
  readonly #inFlight = new Map<string, KeyRead>();
  #hits = 0;
  #misses = 0;

  constructor(db: Db, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
    this.#queue = new LookupQueue((hashes) => this.#findOwners(hashes));
  }

  get state(): CacheState {
    const { size, bytes, bytesMax } = this.#cache;
    return { hits: this.#hits, misses: this.#misses, size, bytes, bytesMax };
  }

  /** Call `isCurrent` if it is used after a wait. */
  findCached(key: string): KnownKey | undefined {
    const cachedHash = this.#hashes.get(key);
    const hash = cachedHash ?? hashOf(key);
    const known = this.#cache.get(hash) ?? this.#findEnded(hash);
    if (known) this.#hits += 1;
    if (known && !cachedHash) this.#hashes.set(key, known.hash);
    return known;
  }

  /** False if the key must be looked up again. */
  isCurrent(known: KnownKey): boolean {
    return this.#cache.isCurrent(known);
  }

  /** Reads PostgreSQL, and caches the key under the epoch. */
  async lookUp(given: string, network: string, readEpoch: ReadEpoch): Promise<KnownKey | undefined> {
    this.#misses += 1;
    const hash = this.#hashes.get(given) ?? hashOf(given);
    const ended = this.#findEnded(hash);
    if (ended || this.#cache.isUnknown(hash)) return ended;
    const owner = this.#cache.getOwner(hash) ?? (await this.#queue.find(hash, network));
    if (!owner) return undefined;
    const epoch = await readEpoch(owner);
    const { generation } = this.#cache;
    const found = await this.#read(hash);
    if (!found || found instanceof KnownKey) return found;
    const known = new KnownKey(hash, found, { epoch, generation });
    this.#cache.set(known);
    return known;
  }

  /** Their cached keys, and those being read, are read again before they are used. */
  evictClients(ids: readonly bigint[]): void {
    this.#cache.evictClients(ids);
  }

  evictAll(): void {
    this.#cache.evictAll();
  }

  async #findOwners(hashes: readonly string[]): Promise<ReadonlyMap<string, KeyOwner>> {
    const owners = await findOwners(this.#db, hashes);
    for (const hash of hashes) {
      const owner = owners.get(hash);
      if (owner) this.#cache.setOwner(hash, owner);
      else this.#cache.setUnknown(hash);
    }
    return owners;
  }

  #read(hash: string): KeyRead {
    const joined = this.#queued.get(hash);
    if (joined) return joined;
    const start = () => {
      this.#queued.delete(hash);
      const query = this.#query(hash);
      this.#inFlight.set(hash, query);
      const end = () => this.#inFlight.delete(hash);
      query.then(end, end);
      return query;
    };
    const previous = this.#inFlight.get(hash) ?? Promise.resolve();
    const read = previous.then(start, start);
    this.#queued.set(hash, read);
    return read;
  }

  /** Caches an ended key here, not in `lookUp`, so that the next queued read already finds it. */
  async #query(hash: string): KeyRead {
    const ended = this.#findEnded(hash);
    if (ended) return ended;
    const { generation } = this.#cache;
    const found = await findKeyByHash(this.#db, hash);
    if (!found || !this.#hasEnded(found)) return found;
    const known = new KnownKey(hash, found, { epoch: undefined, generation });
    this.#cache.setEnded(known);
    return known;
  }

  /** Checked on every call, since the clock may be set back. */
  #findEnded(hash: string): KnownKey | undefined {
    const ended = this.#cache.getEnded(hash);
    return ended && this.#hasEnded(ended) ? ended : undefined;
  }

  #hasEnded(found: Parameters<typeof invalidityOf>[0]): boolean {
    return invalidityOf(found, this.#clock.now())?.isFinal ?? false;
  }
}

const hashOf = (key: string) => hashApiKey(key, 'base64');
