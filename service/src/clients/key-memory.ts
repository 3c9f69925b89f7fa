import type { Charge } from '../rate-limit/decide.ts';
import type { Bounds } from '../rate-limit/plans.ts';
import type { ApiKey, Client } from './client-queries.ts';

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
/** Bounds what a revocation that could not reach Redis can leave behind. */
const rememberedMs = 10_000;

/** What a process remembers of keys. An entry is believed only under its client's epoch. */
export class KeyMemory {
  readonly #known = new Map<string, KnownKey>();
  /** Hashes that belong to a key, whatever has become of it: its owner does not pay for a neighbour's inventions. */
  readonly #met = new Set<string>();
  /** Hashes that belong to no key. They never will: a key is random and its hash is never reused. */
  readonly #unknown = new Set<string>();

  recall(hash: string): KnownKey | undefined {
    const known = this.#known.get(hash);
    return known && performance.now() - known.readAtMs < rememberedMs ? known : undefined;
  }

  hasMet(hash: string): boolean {
    return this.#met.has(hash);
  }

  meet(hash: string): void {
    this.#met.delete(hash);
    this.#met.add(hash);
    if (this.#met.size > knownMax) dropOldest(this.#met);
  }

  isUnknown(hash: string): boolean {
    return this.#unknown.has(hash);
  }

  remember(hash: string, known: KnownKey): void {
    this.#known.delete(hash);
    this.#known.set(hash, known);
    if (this.#known.size > knownMax) dropOldest(this.#known);
  }

  rememberUnknown(hash: string): void {
    this.#unknown.add(hash);
    if (this.#unknown.size > unknownMax) dropOldest(this.#unknown);
  }

  forgetAll(): void {
    this.#known.clear();
  }
}

function dropOldest(collection: Map<string, unknown> | Set<string>): void {
  for (const oldest of collection.keys()) {
    collection.delete(oldest);
    return;
  }
}
