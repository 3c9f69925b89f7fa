import type { Db } from '../db/pool.ts';
import type { Charge } from '../rate-limit/decide.ts';
import { boundsOf, quotaOf } from '../rate-limit/plans.ts';
import { hashApiKey } from './api-key.ts';
import { clientSubject } from './client-epochs.ts';
import { findKeyByHash } from './client-queries.ts';
import { KeyMemory, type KnownKey } from './key-memory.ts';
import { LookupBudget } from './lookup-budget.ts';

interface Reading {
  readonly now: ReturnType<typeof findKeyByHash>;
  /** Begins when `now` has ended. */
  next: ReturnType<typeof findKeyByHash> | undefined;
}

/** The address must wait before another key that nobody here has seen is looked up for it. */
export class TooManyLookups extends Error {}

/** Finds who a key belongs to, from memory where that may be believed, else in PostgreSQL. */
export class KeyFinder {
  readonly #db: Db;
  readonly #memory = new KeyMemory();
  readonly #budget = new LookupBudget();
  readonly #readings = new Map<string, Reading>();
  #generation = 0;

  constructor(db: Db) {
    this.#db = db;
  }

  recall(key: string): KnownKey | undefined {
    return this.#memory.recall(hashApiKey(key));
  }

  /** Reads PostgreSQL. `epoch` must have been read before this call; without one the result is not remembered as true. */
  async lookUp(given: string, address: string, epoch: string | undefined): Promise<KnownKey | undefined> {
    const hash = hashApiKey(given);
    if (this.#memory.isUnknown(hash)) return undefined;
    const generation = this.#generation;
    const found = await this.#readWithin(hash, address);
    if (!found) {
      this.#memory.rememberUnknown(hash);
      return undefined;
    }
    this.#memory.meet(hash);
    const { key, client } = found;
    const charge: Charge = { subject: clientSubject(client.id), quota: quotaOf(client), cost: 1, key: { id: key.id, epoch } };
    const known: KnownKey = { key, client, epoch, readAtMs: performance.now(), charge, bounds: boundsOf(client) };
    if (epoch !== undefined && generation === this.#generation) this.#memory.remember(hash, known);
    return known;
  }

  /** Paid before the query: a flood at once must not become as many queries. Who joins a query pays nothing. */
  async #readWithin(hash: string, address: string): ReturnType<typeof findKeyByHash> {
    if (this.#memory.hasMet(hash) || this.#readings.has(hash)) return this.#read(hash);
    // At once where possible: whoever asks for the same key in this turn then finds the query under way.
    const lookup = this.#budget.tryBegin(address) ?? (await this.#budget.begin(address));
    if (!lookup) throw new TooManyLookups('this address has sent too many keys that do not exist');
    let exists = true;
    try {
      const found = await this.#read(hash);
      exists = found !== undefined;
      return found;
    } finally {
      lookup.end(exists);
    }
  }

  /**
   * One query at a time for a key, shared by all who wait: a busy key must not take every connection. Nobody shares a
   * query that had begun before they asked, since it may have missed a revocation.
   */
  #read(hash: string): ReturnType<typeof findKeyByHash> {
    const begin = () => {
      const now = findKeyByHash(this.#db, hash);
      const reading: Reading = { now, next: undefined };
      this.#readings.set(hash, reading);
      const end = () => reading.next === undefined && this.#readings.delete(hash);
      now.then(end, end);
      return now;
    };
    const reading = this.#readings.get(hash);
    if (!reading) return begin();
    reading.next ??= reading.now.then(begin, begin);
    return reading.next;
  }

  /** Redis can no longer vouch for what is remembered, nor for what is being read at this moment. */
  forgetAll(): void {
    this.#generation += 1;
    this.#memory.forgetAll();
  }
}
