import { theService } from '../../domain/actor.ts';
import type { Transaction, Transactor } from '../../platform/db/handles.ts';
import {
  type FeedGap,
  hasNothingToPublish,
  leaveGap,
  publish,
  readFeedServers,
  readRunningTransactions,
  selectUnpublished,
  setPublishedTo,
  storeFeedServer,
  tryPublisherLock,
} from './event-queries.ts';

/** The feed is on another server than before. */
export interface ServerChange {
  readonly from: string;
  readonly to: string;
  readonly gap: FeedGap;
}

export interface PublisherParts {
  readonly db: Transactor;
  readonly batchSizeMax: number;
  /** Gets the transactions that changed what lists and listings show, after their commit and before their events are visible. */
  beforePublishing(transactionIds: readonly string[]): Promise<void>;
  onServerChange?(change: ServerChange): void;
}

/** Between getting an id from the sequence and getting a transaction id, a transaction may take some time; never so long. */
const settlingMs = 1_000;

/** What is known of one server. */
interface Known {
  /** When it was started: ids are compared with those of no other one. */
  readonly startedAt: string;
  candidate?: { readonly id: bigint; readonly atMs: number; readonly endedBefore?: bigint } | undefined;
  /** The highest published id: the next candidate. */
  lastPublished?: bigint;
}

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
 *
 * When a standby takes over, it may lack the last events, and would assign their positions and ids again. So each batch is preceded, in
 * its transaction, by a comparison of the server with the one that assigned the last position. On another one, the publisher leaves out
 * all positions that may have been assigned, and forgets what it knew of the ids. It does so too if the standby was synchronous: a commit
 * whose wait for it was cancelled is read by others, and lost.
 */
export class Publisher {
  readonly #parts: PublisherParts;
  readonly #servers = new Set<string>();
  /** Undefined until its first transaction. */
  #known: Known | undefined;

  constructor(parts: PublisherParts) {
    this.#parts = parts;
  }

  /** The servers that it has worked on: one for each failover since it was started, and one more. */
  get servers(): ReadonlySet<string> {
    return this.#servers;
  }

  /** Publishes a batch, and returns its size. */
  async publish(): Promise<number> {
    const { db, batchSizeMax, beforePublishing } = this.#parts;
    const mayMoveMark = await this.#mayMoveMark();
    // Its first transaction also puts right what is left of a change of the server before it was started.
    if (this.#known && !mayMoveMark && (await hasNothingToPublish(db))) return 0;
    let change: ServerChange | undefined;
    const count = await db.transaction(async (tx) => {
      if (!(await tryPublisherLock(tx))) return 0;
      const known = await this.#settleServer(tx, (found) => {
        change = found;
      });
      const unpublished = await selectUnpublished(tx, batchSizeMax);
      const ids = unpublished.map(({ id }) => id);
      if (mayMoveMark) await moveMark(tx, known, ids[0]);
      const last = ids.at(-1);
      if (last === undefined) return 0;
      await beforePublishing([...new Set(unpublished.flatMap(({ changedIn }) => changedIn ?? []))]);
      await publish(tx, ids);
      known.candidate ??= { id: last, atMs: performance.now() };
      if (known.lastPublished === undefined || last > known.lastPublished) known.lastPublished = last;
      return ids.length;
    }, theService);
    if (change) this.#parts.onServerChange?.(change);
    return count;
  }

  /** Under the lock, before anything else: what is known of the server of this transaction. */
  async #settleServer(tx: Transaction, onChange: (change: ServerChange) => void): Promise<Known> {
    const { here, recorded, startedAt } = await readFeedServers(tx);
    const isAnother = here !== null && recorded !== null && here !== recorded;
    if (isAnother) onChange({ from: recorded, to: here, gap: await leaveGap(tx) });
    if (here !== null) this.#servers.add(here);
    if (isAnother || this.#known?.startedAt !== startedAt) {
      await storeFeedServer(tx, here ?? recorded);
      this.#known = { startedAt };
    }
    return this.#known;
  }

  /** Must be called before the rows of the outbox are read: those of the transactions that have ended are then visible. */
  async #mayMoveMark(): Promise<boolean> {
    const known = this.#known;
    const candidate = known?.candidate;
    if (!candidate || performance.now() - candidate.atMs < settlingMs) return false;
    const { oldest, next } = await readRunningTransactions(this.#parts.db);
    if (candidate.endedBefore === undefined) {
      known.candidate = { ...candidate, endedBefore: next };
      return false;
    }
    return oldest >= candidate.endedBefore;
  }
}

async function moveMark(tx: Transaction, known: Known, firstUnpublished: bigint | undefined): Promise<void> {
  const { candidate, lastPublished: last } = known;
  // Otherwise these rows are published now, and the mark moves at the next call.
  if (!candidate || (firstUnpublished !== undefined && firstUnpublished <= candidate.id)) return;
  await setPublishedTo(tx, candidate.id);
  // Also when nothing more is published, so that an idle publisher doesn't read the dead rows of its last second again and again.
  known.candidate = last !== undefined && last > candidate.id ? { id: last, atMs: performance.now() } : undefined;
}
