import { AppError } from '../errors.ts';
import { LinkedList, type ListNode } from './linked-list.ts';

/** Which of these hashes belong to a key. */
type FindExisting = (hashes: readonly string[]) => Promise<ReadonlySet<string>>;

interface Lookup {
  readonly hash: string;
  readonly network: Network;
  readonly outcome: PromiseWithResolvers<boolean>;
  readonly timer: NodeJS.Timeout;
}

interface Network {
  readonly name: string;
  /** Oldest first. */
  readonly pending: LinkedList<Lookup>;
  readonly byHash: Map<string, ListNode<Lookup>>;
  turnNode: ListNode<Network> | undefined;
  lengthNode: ListNode<Network> | undefined;
}

const defaultBounds = {
  queriesMax: 4,
  /** Look-ups that one query answers. */
  batchSizeMax: 32,
  pendingMax: 20_000,
  pendingOfNetworkMax: 5_000,
  waitMsMax: 2_000,
};

/**
 * Looks up whether keys exist that this process has not met. A valid key waits behind inventions of its own network, and
 * for at most one turn of each other network, so that a flood slows itself.
 *
 * A look-up is first pending, in the queue of its network, then under way, in a query, then answered. It may leave the
 * queue for two other reasons: it has waited for `waitMsMax`, or a bound is exceeded. Then nothing is known of the key,
 * and the answer is `unavailable`.
 *
 * Invariants:
 * - At most `queriesMax` queries are under way, of at most `batchSizeMax` look-ups each. Nothing is pending while fewer are.
 * - Networks take turns, one look-up each; within a network the oldest comes first.
 * - A network is in `#networks`, `#turns` and `#byLength` while something of it is pending, and in none of them else.
 * - `#byLength[n]` holds the networks with n + 1 pending, and its last chain is not empty. So the longest queue is found
 *   without a search. It pays when there are too many look-ups in all.
 * - A hash that is asked for again shares what is pending in its network, or under way in any. That a key exists does not
 *   change, so it does not matter when the query began. Pending ones are not shared between networks: nobody waits
 *   in a queue that others fill.
 */
export class LookupQueue {
  readonly #findExisting: FindExisting;
  readonly #bounds: typeof defaultBounds;
  readonly #networks = new Map<string, Network>();
  readonly #turns = new LinkedList<Network>();
  readonly #byLength: Array<LinkedList<Network>> = [];
  readonly #inFlight = new Map<string, Promise<boolean>>();
  #pending = 0;
  #queries = 0;

  constructor(findExisting: FindExisting, bounds: Partial<typeof defaultBounds> = {}) {
    this.#findExisting = findExisting;
    this.#bounds = { ...defaultBounds, ...bounds };
  }

  /** What is held in memory: 0 when all is answered. */
  get size(): number {
    return this.#pending + this.#inFlight.size + this.#networks.size + this.#byLength.length;
  }

  exists(hash: string, networkName: string): Promise<boolean> {
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
    // The oldest: its caller has waited longest, and is likely to have given up.
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
      const existing = await this.#findExisting(lookups.map(({ hash }) => hash));
      for (const { hash, outcome } of lookups) outcome.resolve(existing.has(hash));
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
