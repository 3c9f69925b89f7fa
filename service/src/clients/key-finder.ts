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
 * Finds the client that a key belongs to: cached where that may be trusted, else in PostgreSQL.
 *
 * A hash that this process has not met passes the queue of look-ups first, which says whether it is a key at all. One that
 * has been met is read at once: inventions can't hold it up. One that has ended is cached for good, and not read again.
 *
 * A reading of a key is upcoming, then under way. Invariants:
 * - One query at a time for a key: a busy key must not take every connection.
 * - Anyone may join an upcoming reading. Nobody joins one that is under way: it may have missed a revocation that was
 *   committed before they asked.
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

  /** Reads PostgreSQL. `epoch` must have been read before this call; without one only the key's end is cached. */
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

  /** Cached here and not by those who wait: what begins next must find it. */
  async #query(hash: string): KeyRead {
    const ended = this.#findEnded(hash);
    if (ended) return ended;
    const found = await findKeyByHash(this.#db, hash);
    if (found && this.#hasEnded(found)) this.#cache.setEnded(hash, asKnown(found, undefined));
    return found;
  }

  /** Judged again each time: a clock may be set back. */
  #findEnded(hash: string): KnownKey | undefined {
    const ended = this.#cache.getEnded(hash);
    return ended && this.#hasEnded(ended) ? ended : undefined;
  }

  #hasEnded(found: Pick<KnownKey, 'key' | 'client'>): boolean {
    return invalidityOf(found, this.#clock.now())?.isFinal ?? false;
  }

  /** Redis can no longer confirm what is cached under an epoch, nor what is being read at this moment. */
  invalidateAll(): void {
    this.#generation += 1;
    this.#cache.invalidateAll();
  }
}

function asKnown({ key, client }: Pick<KnownKey, 'key' | 'client'>, epoch: string | undefined): KnownKey {
  const charge: Charge = { subject: clientSubject(client.id), quota: quotaOf(client), cost: 1, key: { id: key.id, epoch } };
  return { key, client, epoch, readAtMs: performance.now(), charge, bounds: boundsOf(client) };
}
