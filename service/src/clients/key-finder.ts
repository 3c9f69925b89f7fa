import type { Db } from '../db/pool.ts';
import type { Charge } from '../rate-limit/decide.ts';
import { boundsOf, quotaOf } from '../rate-limit/plans.ts';
import { hashApiKey } from './api-key.ts';
import { clientSubject } from './client-epochs.ts';
import { findExistingHashes, findKeyByHash } from './client-queries.ts';
import { KeyMemory, type KnownKey } from './key-memory.ts';
import { LookupQueue } from './lookup-queue.ts';

type Reading = ReturnType<typeof findKeyByHash>;

/**
 * Finds the client that a key belongs to: cached where that may be trusted, else in PostgreSQL.
 *
 * A hash that this process has not met passes the queue of look-ups first, which says whether it is a key at all. One that
 * has been met is read at once: inventions can't hold it up.
 *
 * A reading of a key is upcoming, then under way. Invariants:
 * - One query at a time for a key: a busy key must not take every connection.
 * - Anyone may join an upcoming reading. Nobody joins one that is under way: it may have missed a revocation that was
 *   committed before they asked.
 */
export class KeyFinder {
  readonly #db: Db;
  readonly #memory = new KeyMemory();
  readonly #queue: LookupQueue;
  readonly #upcoming = new Map<string, Reading>();
  readonly #underWay = new Map<string, Reading>();
  #generation = 0;

  constructor(db: Db) {
    this.#db = db;
    this.#queue = new LookupQueue((hashes) => this.#findExisting(hashes));
  }

  recall(key: string): KnownKey | undefined {
    return this.#memory.recall(hashApiKey(key));
  }

  /** Reads PostgreSQL. `epoch` must have been read before this call; without one the result is not cached. */
  async lookUp(given: string, network: string, epoch: string | undefined): Promise<KnownKey | undefined> {
    const hash = hashApiKey(given);
    if (this.#memory.isUnknown(hash)) return undefined;
    const generation = this.#generation;
    const exists = this.#memory.hasMet(hash) || (await this.#queue.exists(hash, network));
    const found = exists ? await this.#read(hash) : undefined;
    if (!found) return undefined;
    const { key, client } = found;
    const charge: Charge = { subject: clientSubject(client.id), quota: quotaOf(client), cost: 1, key: { id: key.id, epoch } };
    const known: KnownKey = { key, client, epoch, readAtMs: performance.now(), charge, bounds: boundsOf(client) };
    if (epoch !== undefined && generation === this.#generation) this.#memory.remember(hash, known);
    return known;
  }

  async #findExisting(hashes: readonly string[]): Promise<ReadonlySet<string>> {
    const existing = await findExistingHashes(this.#db, hashes);
    for (const hash of hashes) {
      if (existing.has(hash)) this.#memory.meet(hash);
      else this.#memory.rememberUnknown(hash);
    }
    return existing;
  }

  #read(hash: string): Reading {
    const joined = this.#upcoming.get(hash);
    if (joined) return joined;
    const begin = () => {
      this.#upcoming.delete(hash);
      const query = findKeyByHash(this.#db, hash);
      this.#underWay.set(hash, query);
      const end = () => this.#underWay.delete(hash);
      query.then(end, end);
      return query;
    };
    const before = this.#underWay.get(hash) ?? Promise.resolve();
    const reading = before.then(begin, begin);
    this.#upcoming.set(hash, reading);
    return reading;
  }

  /** Redis can no longer vouch for what is remembered, nor for what is being read at this moment. */
  forgetAll(): void {
    this.#generation += 1;
    this.#memory.forgetAll();
  }
}
