import type { Clock } from '../clock.ts';
import type { Db } from '../db/handles.ts';
import type { Charge } from '../rate-limit/decide.ts';
import { boundsOf, quotaOf } from '../rate-limit/plans.ts';
import { hashApiKey } from './api-key.ts';
import { clientSubject } from './client-epochs.ts';
import { findExistingHashes, findKeyByHash } from './client-queries.ts';
import { KeyCache, type KnownKey } from './key-cache.ts';
import { invalidityOf } from './key-validity.ts';
import { LookupQueue } from './lookup-queue.ts';

type KeyRead = Promise<Pick<KnownKey, 'key' | 'client'> | undefined>;

/**
 * Finds the client of a key: in the cache if the entry is valid, otherwise in PostgreSQL.
 *
 * A hash that this process has not seen goes through the look-up queue first, which checks whether such a key exists. A
 * known hash skips the queue, so that a flood of invented keys can't delay it. A key that has ended (it was revoked or has
 * expired) is cached for good.
 *
 * Reads of the same key are coalesced. A read is queued while the previous one of that key is in flight, and then in
 * flight itself. Invariants:
 * - At most one query per key is in flight, so that a busy key can't occupy every connection.
 * - At most one read per key is queued, and every new caller joins it.
 * - Nobody joins a read that is in flight: it may have missed a revocation that was committed before the caller asked.
 * - `#generation` increases with every invalidation. A read that began in an earlier generation is not cached.
 */
export class KeyFinder {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #cache = new KeyCache();
  readonly #queue: LookupQueue;
  readonly #queued = new Map<string, KeyRead>();
  readonly #inFlight = new Map<string, KeyRead>();
  #generation = 0;

  constructor(db: Db, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
    this.#queue = new LookupQueue((hashes) => this.#findExisting(hashes));
  }

  findCached(key: string): KnownKey | undefined {
    const hash = hashApiKey(key);
    return this.#cache.get(hash) ?? this.#findEnded(hash);
  }

  /** Reads PostgreSQL. `epoch` must have been read before this call. Without one, the key is cached only if it has ended. */
  async lookUp(given: string, network: string, epoch: string | undefined): Promise<KnownKey | undefined> {
    const hash = hashApiKey(given);
    const ended = this.#findEnded(hash);
    if (ended || this.#cache.isUnknown(hash)) return ended;
    const generation = this.#generation;
    const exists = this.#cache.isExisting(hash) || (await this.#queue.exists(hash, network));
    const found = exists ? await this.#read(hash) : undefined;
    if (!found) return undefined;
    const known = asKnown(found, epoch);
    if (epoch !== undefined && generation === this.#generation && !this.#hasEnded(known)) this.#cache.set(hash, known);
    return known;
  }

  async #findExisting(hashes: readonly string[]): Promise<ReadonlySet<string>> {
    const existing = await findExistingHashes(this.#db, hashes);
    for (const hash of hashes) {
      if (existing.has(hash)) this.#cache.setExisting(hash);
      else this.#cache.setUnknown(hash);
    }
    return existing;
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
    const found = await findKeyByHash(this.#db, hash);
    if (found && this.#hasEnded(found)) this.#cache.setEnded(hash, asKnown(found, undefined));
    return found;
  }

  /** Checked on every call, since the clock may be set back. */
  #findEnded(hash: string): KnownKey | undefined {
    const ended = this.#cache.getEnded(hash);
    return ended && this.#hasEnded(ended) ? ended : undefined;
  }

  #hasEnded(found: Pick<KnownKey, 'key' | 'client'>): boolean {
    return invalidityOf(found, this.#clock.now())?.isFinal ?? false;
  }

  /** Evicts all valid keys, and prevents reads in flight from being cached: Redis can't confirm their epochs any more. */
  invalidateAll(): void {
    this.#generation += 1;
    this.#cache.invalidateAll();
  }
}

function asKnown({ key, client }: Pick<KnownKey, 'key' | 'client'>, epoch: string | undefined): KnownKey {
  const charge: Charge = { subject: clientSubject(client.id), quota: quotaOf(client), cost: 1, key: { id: key.id, epoch } };
  return { key, client, epoch, readAtMs: performance.now(), charge, bounds: boundsOf(client) };
}
