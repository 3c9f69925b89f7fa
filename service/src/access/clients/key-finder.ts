import { LRUCache } from 'lru-cache';
import type { CacheState } from '../../domain/caches.ts';
import type { Scope } from '../../domain/scopes.ts';
import { growingTo } from '../../platform/bounded/growing-to.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/handles.ts';
import { clientSubject } from '../rate-limit/limiter.ts';
import { type Bounds, boundsOf, type Charge, type PlanName, type Quota, quotaOf } from '../rate-limit/plans.ts';
import { hashApiKey } from './api-key.ts';
import { type FoundKey, findKeyByHash, findOwners, type KeyOwner } from './client-queries.ts';
import { LookupQueue } from './lookup-queue.ts';

/** What a client's plan allows. All clients of a plan share one object, except those with custom limits. */
export interface KnownTerms {
  readonly plan: PlanName;
  readonly quota: Quota;
  readonly bounds: Bounds;
}

/** What authentication needs of a key and its client. A process may cache a million of these, so they share what they can. */
export class KnownKey {
  readonly hash: string;
  readonly id: bigint;
  readonly clientId: bigint;
  /** The shelter that the key is bound to; null: none. */
  readonly shelterId: bigint | null;
  /** The client's name in Redis. */
  readonly subject: string;
  readonly terms: KnownTerms;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly replacedBy: bigint | null;
  readonly suspension: FoundKey['suspension'];
  /** The client's epoch in Redis, read before the key was. Undefined: it was read without Redis, which will call it stale. */
  readonly epoch: string | undefined;
  readonly readAtSeconds = nowSeconds();
  /** The cache's generation before the key was read. */
  readonly generation: number;

  constructor(hash: string, found: FoundKey, read: { readonly epoch: string | undefined; readonly generation: number }) {
    this.hash = hash;
    this.id = found.id;
    this.clientId = found.clientId;
    this.shelterId = found.shelterId;
    this.subject = clientSubject(found.clientId);
    this.terms = termsOf(found);
    this.scopes = shareScopes(found.scopes);
    this.expiresAt = found.expiresAt;
    this.revokedAt = found.revokedAt;
    this.replacedBy = found.replacedBy;
    this.suspension = found.suspension;
    // A copy: it is a part of Redis's reply to many requests, all of which would stay in memory with it.
    this.epoch = read.epoch && Buffer.from(read.epoch).toString();
    this.generation = read.generation;
  }

  /** What the limiter counts for a request with this key. Made for each request: it would take a quarter of the memory. */
  get charge(): Charge {
    return { subject: this.subject, quota: this.terms.quota, cost: 1, key: this };
  }
}

/** Room for a million keys, unless most of their clients have custom limits. */
const bytesMax = 384 * 1_048_576;
/** The heap that one entry takes, with its place in the cache: 387 to 417, measured with a million. */
const entryBytes = 392;
/** In addition, for a client with custom limits. */
const ownTermsBytes = 160;
const unknownMax = 50_000;
const ownersMax = 50_000;
const endedMax = 50_000;
const evictedClientsMax = 100_000;
/** A change of a client evicts its keys, so this is not what a revocation depends on: it bounds the effect of a defect. */
const ttlSeconds = 600;

/**
 * A process's cache of keys, by hash.
 *
 * An entry is fresh until it is older than `ttlSeconds` or its client is evicted. A fresh entry may be used only as `KeyFinder`
 * says. A stale one still says that the key exists, and whose it is.
 *
 * Evicting a client doesn't search its entries: it gives the client the next generation, and the entries of earlier ones are
 * stale. So a read that was in flight meanwhile is stale as well.
 */
export class KeyCache {
  readonly #entries: LRUCache<string, KnownKey>;
  #generation = 0;
  /** Entries of earlier generations are stale, of any client. */
  #freshFrom = 0;
  /** The same for single clients. */
  readonly #freshFromOf = new Map<bigint, number>();
  /** Keys that exist and have not been read yet. */
  readonly #owners = new LRUCache<string, KeyOwner>(growingTo(ownersMax));
  /** Hashes that belong to no key, and never will: keys are random. */
  readonly #unknown = new LRUCache<string, true>(growingTo(unknownMax));
  /** Keys that were revoked or have expired. They never become valid again, so these entries need no epoch. */
  readonly #ended = new LRUCache<string, KnownKey>(growingTo(endedMax));

  constructor(bounds = { bytesMax }) {
    this.#entries = new LRUCache({ maxSize: bounds.bytesMax, sizeCalculation: bytesOf });
  }

  get generation(): number {
    return this.#generation;
  }

  /** An estimate of the heap that the entries take. */
  get bytes(): number {
    return this.#entries.calculatedSize;
  }

  get bytesMax(): number {
    return this.#entries.maxSize;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(hash: string): KnownKey | undefined {
    const entry = this.#entries.get(hash);
    return entry && this.#isFresh(entry) ? entry : undefined;
  }

  /** Known if the key exists, even if its entry is stale or it has not been read yet. */
  getOwner(hash: string): KeyOwner | undefined {
    return this.#entries.get(hash) ?? this.#owners.get(hash);
  }

  setOwner(hash: string, owner: KeyOwner): void {
    this.#owners.set(hash, owner);
  }

  /** False if the entry was replaced, evicted, or is too old. */
  isCurrent(known: KnownKey): boolean {
    return this.#entries.peek(known.hash) === known && this.#isFresh(known);
  }

  set(entry: KnownKey): void {
    this.#owners.delete(entry.hash);
    this.#entries.set(entry.hash, entry);
  }

  isUnknown(hash: string): boolean {
    return this.#unknown.get(hash) === true;
  }

  setUnknown(hash: string): void {
    this.#unknown.set(hash, true);
  }

  getEnded(hash: string): KnownKey | undefined {
    return this.#ended.get(hash);
  }

  setEnded(known: KnownKey): void {
    this.#ended.set(known.hash, known);
    this.#entries.delete(known.hash);
  }

  evictClients(ids: readonly bigint[]): void {
    this.#generation += 1;
    for (const id of ids) this.#freshFromOf.set(id, this.#generation);
    if (this.#freshFromOf.size > evictedClientsMax) this.evictAll();
  }

  /** Ended keys stay. */
  evictAll(): void {
    this.#generation += 1;
    this.#freshFrom = this.#generation;
    this.#freshFromOf.clear();
  }

  #isFresh({ generation, clientId, readAtSeconds }: KnownKey): boolean {
    const freshFrom = this.#freshFromOf.size > 0 ? (this.#freshFromOf.get(clientId) ?? 0) : 0;
    return generation >= this.#freshFrom && generation >= freshFrom && nowSeconds() - readAtSeconds < ttlSeconds;
  }
}

const bytesOf = ({ terms }: KnownKey) => (isShared(terms) ? entryBytes : entryBytes + ownTermsBytes);

const sharedTerms = new Map<PlanName, KnownTerms>();
const isShared = (terms: KnownTerms) => sharedTerms.get(terms.plan) === terms;

function termsOf(found: FoundKey): KnownTerms {
  const { plan, openOrdersMax, newCategoriesMax } = found;
  const isCustom = plan === 'enterprise' || openOrdersMax !== null || newCategoriesMax !== null;
  const shared = isCustom ? undefined : sharedTerms.get(plan);
  if (shared) return shared;
  const terms = { plan, quota: quotaOf(found), bounds: boundsOf(found) };
  if (!isCustom) sharedTerms.set(plan, terms);
  return terms;
}

const sharedScopes = new Map<string, readonly Scope[]>();
const sharedScopesMax = 1_000;

function shareScopes(scopes: readonly Scope[]): readonly Scope[] {
  const name = scopes.join(' ');
  const shared = sharedScopes.get(name) ?? scopes;
  if (sharedScopes.size < sharedScopesMax) sharedScopes.set(name, shared);
  return shared;
}

/** Whole seconds: a fraction would take a heap object for each entry. */
function nowSeconds(): number {
  return Math.floor(performance.now() / 1_000);
}

/** Why a key is not valid, and since when. */
export interface Invalidity {
  readonly code: 'api_key_revoked' | 'api_key_expired' | 'client_suspended';
  readonly at: Date;
  /** True for a revocation and an expiry, which are never undone. A suspension can end. */
  readonly isFinal: boolean;
}

/** The only check of a key's validity. Undefined: the key is valid. */
export function invalidityOf(key: Pick<FoundKey, 'revokedAt' | 'expiresAt' | 'suspension'>, nowMs: number): Invalidity | undefined {
  const { revokedAt, expiresAt, suspension } = key;
  if (revokedAt) return { code: 'api_key_revoked', at: revokedAt, isFinal: true };
  if (expiresAt && expiresAt.getTime() <= nowMs) return { code: 'api_key_expired', at: expiresAt, isFinal: true };
  return suspension ? { code: 'client_suspended', at: suspension.at, isFinal: false } : undefined;
}

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
