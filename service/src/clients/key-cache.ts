import type { Charge } from '../rate-limit/decide.ts';
import type { Bounds } from '../rate-limit/plans.ts';
import type { ApiKey, Client } from './client-queries.ts';
import { LruMap } from './lru-map.ts';

export interface KnownKey {
  readonly key: ApiKey;
  readonly client: Client;
  /** The client's epoch in Redis, read before the key was. Undefined if it was read without one: then it must not be cached. */
  readonly epoch: string | undefined;
  readonly readAtMs: number;
  /** What the limiter counts for each request with this key. */
  readonly charge: Charge;
  readonly bounds: Bounds;
}

const knownMax = 50_000;
const unknownMax = 50_000;
const endedMax = 50_000;
/** Bounds how long a key stays valid here if its revocation could not reach Redis. */
const ttlMs = 10_000;

/** A process's cache of keys, by hash. A valid key's entry may be used only if its client's epoch is still current. */
export class KeyCache {
  readonly #known = new LruMap<KnownKey>(knownMax);
  /** Hashes that belong to a key, valid or not: these skip the look-up queue. */
  readonly #existing = new LruMap<true>(knownMax);
  /** Hashes that belong to no key, and never will: keys are random. */
  readonly #unknown = new LruMap<true>(unknownMax);
  /** Keys that were revoked or have expired. They never become valid again, so these entries need no epoch. */
  readonly #ended = new LruMap<KnownKey>(endedMax);

  get(hash: string): KnownKey | undefined {
    const known = this.#known.get(hash);
    return known && performance.now() - known.readAtMs < ttlMs ? known : undefined;
  }

  isExisting(hash: string): boolean {
    return this.#existing.get(hash) === true;
  }

  setExisting(hash: string): void {
    this.#existing.set(hash, true);
  }

  isUnknown(hash: string): boolean {
    return this.#unknown.get(hash) === true;
  }

  set(hash: string, known: KnownKey): void {
    this.#known.set(hash, known);
  }

  setUnknown(hash: string): void {
    this.#unknown.set(hash, true);
  }

  getEnded(hash: string): KnownKey | undefined {
    return this.#ended.get(hash);
  }

  setEnded(hash: string, known: KnownKey): void {
    this.#ended.set(hash, known);
    this.#known.delete(hash);
  }

  /** Drops the entries that depend on an epoch. */
  invalidateAll(): void {
    this.#known.clear();
  }
}
