import type { Transaction, Transactor } from '../db/handles.ts';
import { isOutboxEmpty, publish, readRunningTransactions, selectUnpublished, setPublishedTo, tryPublisherLock } from './event-queries.ts';

export interface PublisherParts {
  readonly db: Transactor;
  readonly batchSizeMax: number;
  /** Gets the transactions that changed animals, after their commit and before their events are visible. */
  beforePublishing(transactionIds: readonly string[]): Promise<void>;
}

/** Between getting an id from the sequence and getting a transaction id, a transaction may take some time; never so long. */
const settlingMs = 1_000;

/**
 * Publishes committed events: gives them positions in the feed. Only one publisher works at a time, and its batch becomes visible at
 * once, so a reader who follows the positions misses no event, however late a transaction commits.
 *
 * The rows that it deletes from the outbox stay in its index until no snapshot can see them, which may be hours later. So it starts
 * reading after a low-water mark: an id up to which every row is published, and no transaction that is running can add one.
 * The mark moves in three steps, each at least one call of `publish` after the one before:
 *
 * 1. `id`: the last one of a published batch. Transactions that have a lower id got it before.
 * 2. `endedBefore`, a second later: by then they also have a transaction id, below this one.
 * 3. Once every transaction below `endedBefore` has ended, and the outbox shows no row up to `id`, the mark is `id`.
 */
export class Publisher {
  readonly #parts: PublisherParts;
  #candidate: { readonly id: bigint; readonly atMs: number; readonly endedBefore?: bigint } | undefined;
  /** The highest published id: the next candidate. */
  #lastPublished: bigint | undefined;

  constructor(parts: PublisherParts) {
    this.#parts = parts;
  }

  /** Publishes a batch, and returns its size. */
  async publish(): Promise<number> {
    const { db } = this.#parts;
    const mayMoveMark = await this.#mayMoveMark();
    if (!mayMoveMark && (await isOutboxEmpty(db))) return 0;
    return db.transaction(async (tx) => {
      if (!(await tryPublisherLock(tx))) return 0;
      const unpublished = await selectUnpublished(tx, this.#parts.batchSizeMax);
      const ids = unpublished.map(({ id }) => id);
      if (mayMoveMark) await this.#moveMark(tx, ids[0]);
      const last = ids.at(-1);
      if (last === undefined) return 0;
      await this.#parts.beforePublishing([...new Set(unpublished.flatMap(({ petChangedIn }) => petChangedIn ?? []))]);
      await publish(tx, ids);
      this.#candidate ??= { id: last, atMs: performance.now() };
      if (this.#lastPublished === undefined || last > this.#lastPublished) this.#lastPublished = last;
      return ids.length;
    });
  }

  /** Must be called before the rows of the outbox are read: those of the transactions that have ended are then visible. */
  async #mayMoveMark(): Promise<boolean> {
    const candidate = this.#candidate;
    if (!candidate || performance.now() - candidate.atMs < settlingMs) return false;
    const { oldest, next } = await readRunningTransactions(this.#parts.db);
    if (candidate.endedBefore === undefined) {
      this.#candidate = { ...candidate, endedBefore: next };
      return false;
    }
    return oldest >= candidate.endedBefore;
  }

  async #moveMark(tx: Transaction, firstUnpublished: bigint | undefined): Promise<void> {
    const candidate = this.#candidate;
    // Otherwise these rows are published now, and the mark moves at the next call.
    if (!candidate || (firstUnpublished !== undefined && firstUnpublished <= candidate.id)) return;
    await setPublishedTo(tx, candidate.id);
    const last = this.#lastPublished;
    // Also when nothing more is published, so that an idle publisher doesn't read the dead rows of its last second again and again.
    this.#candidate = last !== undefined && last > candidate.id ? { id: last, atMs: performance.now() } : undefined;
  }
}
