import { FairQueue, LinkedList, type ListNode, type QueuePlace } from '../../platform/bounded/fair-turns.ts';
import { retryLater } from '../../platform/errors.ts';
import type { KeyOwner } from './client-queries.ts';

/** Finds the owners of those hashes that belong to a key. */
type FindOwners = (hashes: readonly string[]) => Promise<ReadonlyMap<string, KeyOwner>>;

interface Lookup {
  readonly hash: string;
  readonly network: string;
  readonly outcome: PromiseWithResolvers<KeyOwner | undefined>;
  readonly timer: NodeJS.Timeout;
}

const defaultBounds = {
  queriesMax: 4,
  /** Look-ups in one query. */
  batchSizeMax: 32,
  pendingMax: 20_000,
  pendingOfNetworkMax: 5_000,
  waitMsMax: 2_000,
};

/**
 * Finds out whether a key exists and who owns it, for keys that this process has not cached. The networks of callers take turns, so a
 * flood of invented keys mostly delays its own network. Unlike FairTurns, it asks for many at once, shares what is asked for twice, and
 * with a full queue drops the oldest instead of rejecting the newest.
 *
 * A look-up has three states: pending in the queue of its network, in flight in a query, resolved. A pending look-up is
 * dropped, and rejected with `unavailable`, after `waitMsMax` or when a bound is reached.
 *
 * Invariants:
 * - At most `queriesMax` queries are in flight, each with at most `batchSizeMax` look-ups. Look-ups are pending only while
 *   `queriesMax` queries are in flight.
 * - `#pending` has every look-up that is in `#queue`.
 * - `#byLength[n]` lists the networks with n + 1 pending look-ups, and `#lengths` says where each is. The last list is never empty, so
 *   the longest queue is found in constant time.
 * - If `pendingOfNetworkMax` look-ups of a network are pending, its next one drops its oldest. If `pendingMax` are pending in
 *   all networks together, the next one drops the oldest in the longest queue.
 * - Requests share a look-up of the same hash if it is pending in the same network, or in flight for any network. It
 *   doesn't matter when the query began, because keys are never deleted. Networks don't share pending look-ups, because a
 *   request would then wait in another network's queue.
 */
export class LookupQueue {
  readonly #findOwners: FindOwners;
  readonly #bounds: typeof defaultBounds;
  readonly #queue = new FairQueue<string, Lookup>();
  /** By network and hash. */
  readonly #pending = new Map<string, { readonly lookup: Lookup; readonly place: QueuePlace<string, Lookup> }>();
  readonly #byLength: Array<LinkedList<string>> = [];
  readonly #lengths = new Map<string, { readonly length: number; readonly node: ListNode<string> }>();
  readonly #inFlight = new Map<string, Promise<KeyOwner | undefined>>();
  #queries = 0;

  constructor(findOwners: FindOwners, bounds: Partial<typeof defaultBounds> = {}) {
    this.#findOwners = findOwners;
    this.#bounds = { ...defaultBounds, ...bounds };
  }

  /** The number of entries in memory: 0 once every look-up is resolved. For tests. */
  get size(): number {
    return this.#queue.size + this.#pending.size + this.#inFlight.size + this.#lengths.size + this.#byLength.length;
  }

  /** Undefined: no key has this hash. */
  find(hash: string, network: string): Promise<KeyOwner | undefined> {
    const shared = this.#inFlight.get(hash) ?? this.#pending.get(`${network} ${hash}`)?.lookup.outcome.promise;
    if (shared) return shared;
    this.#makeRoom(network);
    const timer = setTimeout(() => this.#drop(lookup), this.#bounds.waitMsMax).unref();
    const lookup: Lookup = { hash, network, outcome: Promise.withResolvers(), timer };
    this.#pending.set(`${network} ${hash}`, { lookup, place: this.#queue.push(network, lookup) });
    this.#noteLength(network);
    this.#startQueries();
    return lookup.outcome.promise;
  }

  #makeRoom(network: string): void {
    const isLong = this.#queue.sizeOf(network) >= this.#bounds.pendingOfNetworkMax;
    const longest = this.#queue.size >= this.#bounds.pendingMax ? this.#byLength.at(-1)?.first?.value : undefined;
    const shortened = isLong ? network : longest;
    // Drop the oldest: its caller has waited longest and has most likely given up.
    const oldest = shortened === undefined ? undefined : this.#queue.oldestOf(shortened);
    if (oldest) this.#drop(oldest);
  }

  #startQueries(): void {
    while (this.#queries < this.#bounds.queriesMax && this.#queue.size > 0) void this.#query(this.#takeBatch());
  }

  async #query(lookups: readonly Lookup[]): Promise<void> {
    this.#queries += 1;
    for (const { hash, outcome } of lookups) this.#inFlight.set(hash, outcome.promise);
    try {
      const owners = await this.#findOwners(lookups.map(({ hash }) => hash));
      for (const { hash, outcome } of lookups) outcome.resolve(owners.get(hash));
    } catch (error) {
      for (const { outcome } of lookups) outcome.reject(error);
    } finally {
      for (const { hash } of lookups) this.#inFlight.delete(hash);
      this.#queries -= 1;
      this.#startQueries();
    }
  }

  #takeBatch(): Lookup[] {
    const taken: Lookup[] = [];
    while (taken.length < this.#bounds.batchSizeMax) {
      const next = this.#queue.shift();
      if (!next) break;
      this.#forget(next);
      taken.push(next);
    }
    return taken;
  }

  #drop(lookup: Lookup): void {
    const pending = this.#pending.get(`${lookup.network} ${lookup.hash}`);
    if (pending) this.#queue.remove(pending.place);
    this.#forget(lookup);
    lookup.outcome.reject(retryLater('Too many keys are being checked at the moment. Retry in 1 s.'));
  }

  /** The look-up has left the queue. */
  #forget({ hash, network, timer }: Lookup): void {
    clearTimeout(timer);
    this.#pending.delete(`${network} ${hash}`);
    this.#noteLength(network);
  }

  #noteLength(network: string): void {
    const before = this.#lengths.get(network);
    if (before) this.#byLength[before.length - 1]?.remove(before.node);
    const length = this.#queue.sizeOf(network);
    if (length > 0) {
      const list = this.#byLength[length - 1] ?? new LinkedList();
      this.#byLength[length - 1] = list;
      this.#lengths.set(network, { length, node: list.push(network) });
    } else this.#lengths.delete(network);
    while (this.#byLength.length > 0 && this.#byLength.at(-1)?.first === undefined) this.#byLength.pop();
  }
}
