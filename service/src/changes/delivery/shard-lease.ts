import type { Db, Writer } from '../../platform/db/handles.ts';
import {
  type AcquiredShard,
  acquireShards,
  deleteExpiredWorkers,
  deleteWorker,
  extendLease,
  insertWorker,
  releaseShards,
  selectShards,
} from './shard-queries.ts';

/** Loading the endpoints of a shard takes a while, during which no new events are read. */
const acquireMax = 32;
/** Another worker may take the shards this long after the lease was last extended. */
const leaseSeconds = 20;
const extendIntervalMs = 2_000;
/** How often it looks for free shards. */
const balanceIntervalMs = 500;
/** An exchange takes 10 s at most: what is begun by now has ended before another worker can have the shard. */
const startBeforeMs = 9_000;

interface LeaseChanges {
  readonly acquired: readonly AcquiredShard[];
  /** Shards that another worker should have. Release them when nothing of them is in flight. */
  readonly surplus: readonly bigint[];
  /** The lease has expired: every shard may belong to another worker. */
  readonly isLost: boolean;
}

const none: LeaseChanges = { acquired: [], surplus: [], isLost: false };

/** A worker's lease, and its part of the shards: they are divided evenly among the workers. */
export class ShardLease {
  readonly #db: Db & Writer;
  readonly #shards = new Set<bigint>();
  #workerId: bigint | undefined;
  /** As stored. Another value there: the id was assigned again, by a standby that took over and lacked this lease. */
  #expiresAt = '';
  #extendedAtMs = -Infinity;
  #balancedAtMs = -Infinity;

  constructor(db: Db & Writer) {
    this.#db = db;
  }

  get workerId(): bigint {
    return this.#workerId ?? 0n;
  }

  get shards(): ReadonlySet<bigint> {
    return this.#shards;
  }

  /** Whether a request may be started: its result can be stored before the lease expires. */
  get maySend(): boolean {
    return performance.now() - this.#extendedAtMs < startBeforeMs;
  }

  /** Extends the lease and balances the shards, if it is time. */
  async turn(): Promise<LeaseChanges> {
    const nowMs = performance.now();
    if (nowMs - this.#balancedAtMs < balanceIntervalMs) return none;
    this.#balancedAtMs = nowMs;
    if (this.#workerId === undefined) {
      await deleteExpiredWorkers(this.#db);
      const lease = await insertWorker(this.#db, leaseSeconds);
      this.#workerId = lease.id;
      this.#expiresAt = lease.expiresAt;
      this.#extendedAtMs = nowMs;
    } else if (nowMs - this.#extendedAtMs >= extendIntervalMs) {
      const expiresAt = await extendLease(this.#db, { id: this.#workerId, expiresAt: this.#expiresAt }, leaseSeconds);
      if (expiresAt === undefined) {
        this.#workerId = undefined;
        this.#shards.clear();
        this.#balancedAtMs = -Infinity;
        return { ...none, isLost: true };
      }
      this.#expiresAt = expiresAt;
      this.#extendedAtMs = nowMs;
    }
    return this.#balance(this.#workerId);
  }

  /** These could not be loaded, or must be loaded again. */
  forget(shards: ReadonlyArray<Pick<AcquiredShard, 'id'>>): void {
    for (const { id } of shards) this.#shards.delete(id);
    this.#balancedAtMs = performance.now();
  }

  async release(shards: readonly bigint[]): Promise<void> {
    for (const shard of shards) this.#shards.delete(shard);
    await releaseShards(this.#db, this.workerId, shards);
  }

  /** Lets others have the shards at once. */
  async end(): Promise<void> {
    if (this.#workerId !== undefined) await deleteWorker(this.#db, this.#workerId);
    this.#shards.clear();
  }

  async #balance(workerId: bigint): Promise<LeaseChanges> {
    const { shards, workers } = await selectShards(this.#db, workerId);
    const own = shards.filter(({ isOwn }) => isOwn);
    const part = Math.ceil(shards.length / Math.max(workers, 1));
    if (own.length > part) return { ...none, surplus: own.slice(part).map(({ id }) => id) };
    // Those that could not be loaded are tried again.
    const notLoaded = own.filter(({ id }) => !this.#shards.has(id));
    const free = shards.filter(({ isFree }) => isFree).slice(0, part - own.length);
    const wanted = [...notLoaded, ...free].slice(0, acquireMax).map(({ id }) => id);
    if (wanted.length === 0) return none;
    const acquired = await acquireShards(this.#db, workerId, wanted);
    for (const { id } of acquired) this.#shards.add(id);
    // More may be free.
    this.#balancedAtMs = -Infinity;
    return { ...none, acquired };
  }
}
