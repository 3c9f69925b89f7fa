import type { Charge } from '../rate-limit/decide.ts';
import type { Bounds } from '../rate-limit/plans.ts';
import type { ApiKey, Client } from './client-queries.ts';
import { LruMap } from './lru-map.ts';

export interface KnownKey {
  readonly key: ApiKey;
  readonly client: Client;
  /** The client's epoch that Redis gave before this was read; undefined: not to be relied on. */
  readonly epoch: string | undefined;
  readonly readAtMs: number;
  /** What a request by this key is charged. */
  readonly charge: Charge;
  readonly bounds: Bounds;
}

const knownMax = 50_000;
const unknownMax = 50_000;
const endedMax = 50_000;
/** Bounds what a revocation that could not reach Redis can leave behind. */
const ttlMs = 10_000;

/** What a process remembers of keys. An entry is trusted only under its client's epoch. */
export class KeyCache {
  readonly #known = new LruMap<KnownKey>(knownMax);
  /** Hashes that belong to a key, whatever has become of it: they need not pass the queue of look-ups again. */
  readonly #existing = new LruMap<true>(knownMax);
  /** Hashes that belong to no key. They never will: a key is random and its hash is never reused. */
  readonly #unknown = new LruMap<true>(unknownMax);

  /** Keys that were revoked or have expired. Needs no epoch: they never come back. */
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

  /** All that an epoch is needed for. */
  invalidateAll(): void {
    this.#known.clear();
  }
}
