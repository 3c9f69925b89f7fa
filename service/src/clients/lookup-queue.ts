import { AppError } from '../errors.ts';
import type { KeyOwner } from './client-queries.ts';
import { LinkedList, type ListNode } from './linked-list.ts';

/** Finds the owners of those hashes that belong to a key. */
type FindOwners = (hashes: readonly string[]) => Promise<ReadonlyMap<string, KeyOwner>>;

interface Lookup {
  readonly hash: string;
  readonly network: Network;
  readonly outcome: PromiseWithResolvers<KeyOwner | undefined>;
  readonly timer: NodeJS.Timeout;
}

interface Network {
  readonly name: string;
  /** Oldest first. */
  readonly pending: LinkedList<Lookup>;
  readonly byHash: Map<string, ListNode<Lookup>>;
  /** Its place in `#turns`. */
  turnNode: ListNode<Network> | undefined;
  /** Its place in `#byLength`. */
  lengthNode: ListNode<Network> | undefined;
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
 * A fair queue for finding out whether a key exists and who owns it, for keys that this process has not cached. Each network has its own
 * queue, and the queues are served round robin. So a flood of invented keys mostly delays its own network.
 *
 * A look-up has three states: pending in the queue of its network, in flight in a query, resolved. A pending look-up is
 * dropped, and rejected with `unavailable`, after `waitMsMax` or when a bound is reached.
 *
 * Invariants:
 * - At most `queriesMax` queries are in flight, each with at most `batchSizeMax` look-ups. Look-ups are pending only while
 *   `queriesMax` queries are in flight.
 * - Each turn of a network takes its oldest look-up.
 * - A network is in `#networks`, `#turns` and `#byLength` if and only if it has pending look-ups.
 * - `#byLength[n]` lists the networks with n + 1 pending look-ups, and its last list is never empty, so the longest queue
 *   is found in constant time.
 * - If `pendingOfNetworkMax` look-ups of a network are pending, its next one drops its oldest. If `pendingMax` are pending in
 *   all networks together, the next one drops the oldest in the longest queue.
 * - Requests share a look-up of the same hash if it is pending in the same network, or in flight for any network. It
 *   doesn't matter when the query began, because keys are never deleted. Networks don't share pending look-ups, because a
 *   request would then wait in another network's queue.
 */
export class LookupQueue {
  readonly #findOwners: FindOwners;
  readonly #bounds: typeof defaultBounds;
  readonly #networks = new Map<string, Network>();
  readonly #turns = new LinkedList<Network>();
  readonly #byLength: Array<LinkedList<Network>> = [];
  readonly #inFlight = new Map<string, Promise<KeyOwner | undefined>>();
  #pending = 0;
  #queries = 0;

  constructor(findOwners: FindOwners, bounds: Partial<typeof defaultBounds> = {}) {
    this.#findOwners = findOwners;
    this.#bounds = { ...defaultBounds, ...bounds };
  }

  /** The number of entries in memory: 0 once every look-up is resolved. For tests. */
  get size(): number {
    return this.#pending + this.#inFlight.size + this.#networks.size + this.#byLength.length;
  }

  /** Undefined: no key has this hash. */
  find(hash: string, networkName: string): Promise<KeyOwner | undefined> {
    const shared = this.#inFlight.get(hash) ?? this.#networks.get(networkName)?.byHash.get(hash)?.value.outcome.promise;
    if (shared) return shared;
    this.#makeRoom(networkName);
    const { outcome } = this.#enqueue(hash, networkName);
    this.#startQueries();
    return outcome.promise;
  }

  #makeRoom(networkName: string): void {
    const network = this.#networks.get(networkName);
    const isLong = network && network.byHash.size >= this.#bounds.pendingOfNetworkMax;
    const shortened = isLong ? network : this.#pending >= this.#bounds.pendingMax ? this.#byLength.at(-1)?.first : undefined;
    // Drop the oldest: its caller has waited longest and has most likely given up.
    const oldest = shortened?.pending.first;
    if (oldest) this.#drop(oldest);
  }

  #enqueue(hash: string, networkName: string): Lookup {
    const network = this.#networks.get(networkName) ?? newNetwork(networkName);
    const timer = setTimeout(() => this.#drop(lookup), this.#bounds.waitMsMax).unref();
    const lookup: Lookup = { hash, network, outcome: Promise.withResolvers(), timer };
    this.#removeFromLengths(network);
    network.byHash.set(hash, network.pending.push(lookup));
    this.#addToLengths(network);
    this.#networks.set(networkName, network);
    network.turnNode ??= this.#turns.push(network);
    this.#pending += 1;
    return lookup;
  }

  #startQueries(): void {
    while (this.#queries < this.#bounds.queriesMax && this.#pending > 0) void this.#query(this.#takeBatch());
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
      const network = this.#turns.first;
      const oldest = network?.pending.first;
      if (!network?.turnNode || !oldest) break;
      this.#turns.remove(network.turnNode);
      network.turnNode = this.#turns.push(network);
      this.#remove(oldest);
      taken.push(oldest);
    }
    return taken;
  }

  #drop(lookup: Lookup): void {
    this.#remove(lookup);
    const message = 'Too many keys are being checked at the moment. Retry in 1 s.';
    lookup.outcome.reject(new AppError('unavailable', message, { headers: { 'retry-after': '1' } }));
  }

  #remove({ hash, network, timer }: Lookup): void {
    clearTimeout(timer);
    const node = network.byHash.get(hash);
    if (!node) return;
    this.#removeFromLengths(network);
    network.byHash.delete(hash);
    network.pending.remove(node);
    this.#addToLengths(network);
    this.#pending -= 1;
    if (network.byHash.size > 0) return;
    this.#networks.delete(network.name);
    if (network.turnNode) this.#turns.remove(network.turnNode);
    network.turnNode = undefined;
  }

  #removeFromLengths({ byHash, lengthNode }: Network): void {
    if (lengthNode) this.#byLength[byHash.size - 1]?.remove(lengthNode);
  }

  #addToLengths(network: Network): void {
    const { size } = network.byHash;
    if (size > 0) this.#byLength[size - 1] ??= new LinkedList();
    network.lengthNode = this.#byLength[size - 1]?.push(network);
    while (this.#byLength.length > 0 && this.#byLength.at(-1)?.first === undefined) this.#byLength.pop();
  }
}

const newNetwork = (name: string): Network => ({
  name,
  pending: new LinkedList(),
  byHash: new Map(),
  turnNode: undefined,
  lengthNode: undefined,
});
