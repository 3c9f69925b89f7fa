import { theService } from '../../domain/actor.ts';
import type { Transactor } from '../../platform/db/handles.ts';
import type { Endpoint } from './endpoint.ts';
import type { Endpoints } from './endpoints.ts';
import type { FeedReader } from './feed-reader.ts';
import type { ShardLease } from './shard-lease.ts';
import { joinEndpoints, moveEndpoints, moveReplays, moveShards } from './shard-queries.ts';
import type { Shares } from './shares.ts';

interface CursorsParts {
  readonly db: Transactor;
  readonly lease: ShardLease;
  readonly endpoints: Endpoints;
  readonly feed: FeedReader;
  readonly shares: Shares;
}

/** Cursors of shards in which something was sent, and of the others. */
const moveIntervalMs = 5_000;
const moveIdleIntervalMs = 60_000;
/** An endpoint that has been behind for so long gets its own cursor. */
const lagMs = 5_000;

/**
 * Stores how far everything is decided. That is done now and then and not with each delivery: what was sent since then is in the
 * attempts, where the worker looks that takes over the shard.
 *
 * Invariant: nothing up to a stored cursor is undecided, for any endpoint that the cursor is for. An endpoint that holds its shard back
 * for long gets its own cursor. It shares the shard's again when it has nothing to send, and the shard's is not before its own.
 */
export class Cursors {
  readonly #parts: CursorsParts;
  readonly #dirty = new Set<bigint>();
  #movedAtMs = performance.now();
  #movedAllAtMs = performance.now();

  constructor(parts: CursorsParts) {
    this.#parts = parts;
  }

  /** Something was sent in this shard. */
  noteSent(shard: bigint): void {
    this.#dirty.add(shard);
  }

  /** Stores the cursors at the next opportunity. */
  hurry(): void {
    this.#movedAtMs = -Infinity;
  }

  /** Stores the cursors of some shards, if it is time. */
  async moveSome(): Promise<void> {
    const { endpoints, feed, shares } = this.#parts;
    const nowMs = performance.now();
    if (nowMs - this.#movedAtMs < moveIntervalMs) return;
    this.#movedAtMs = nowMs;
    const isAll = nowMs - this.#movedAllAtMs >= moveIdleIntervalMs;
    if (isAll) this.#movedAllAtMs = nowMs;
    // Those that have nothing left to send fall asleep.
    for (const endpoint of endpoints.awake) shares.add(endpoint);
    const joining = [...endpoints.detached].filter(({ live }) => !live).map(({ shard }) => shard);
    await this.move(isAll ? [...feed.shards.keys()] : [...new Set([...this.#dirty, ...joining])]);
  }

  /** Stores the cursors of these shards, of the endpoints that have their own, and of replays. */
  async move(shards: readonly bigint[]): Promise<void> {
    const { db, endpoints, feed, lease } = this.#parts;
    const marks = new Map<bigint, bigint>();
    for (const shard of shards) {
      const position = feed.positionOf(shard);
      if (position !== undefined) marks.set(shard, position);
    }
    const own = this.#ownCursors(marks);
    const joining = [...endpoints.detached].filter(({ live, shard }) => !live && marks.has(shard));
    const replays = [...endpoints.awake].flatMap(({ id, replay }) => (replay ? [{ webhookId: id, position: replay.mark }] : []));
    if (marks.size === 0 && replays.length === 0) return;
    const [moved, joined] = await db.transaction(async (tx) => {
      const movedIds = await moveEndpoints(
        tx,
        lease.workerId,
        [...own].map(([{ id }, position]) => ({ id, position })),
      );
      // One that could not get its own cursor now still holds back its shard's.
      for (const [endpoint, position] of own)
        if (endpoint.position === null && !movedIds.has(endpoint.id)) lowerMark(marks, endpoint, position);
      await moveShards(
        tx,
        lease.workerId,
        [...marks].map(([id, position]) => ({ id, position })),
      );
      if (replays.length > 0) await moveReplays(tx, lease.workerId, replays);
      return [movedIds, await joinEndpoints(tx, lease.workerId, joining)];
    }, theService);
    for (const shard of shards) this.#dirty.delete(shard);
    for (const [endpoint, position] of own) {
      if (!moved.has(endpoint.id)) continue;
      endpoint.moveTo(position);
      endpoints.detached.add(endpoint);
    }
    for (const endpoint of joining) {
      if (!joined.has(endpoint.id)) continue;
      endpoint.moveTo(null);
      endpoints.detached.delete(endpoint);
    }
    for (const endpoint of [...endpoints.awake]) {
      if (!endpoint.replay?.isDone) continue;
      endpoint.replay = undefined;
      if (!endpoint.live) endpoints.awake.delete(endpoint);
    }
  }

  /** The cursors of endpoints that have or get their own. Those of the others hold back the marks of their shards. */
  #ownCursors(marks: Map<bigint, bigint>): Map<Endpoint, bigint> {
    const own = new Map<Endpoint, bigint>();
    for (const endpoint of this.#parts.endpoints.awake) {
      const { live, shard, position, wokenAtMs } = endpoint;
      const mark = marks.get(shard);
      if (!live || mark === undefined) continue;
      const isLagging = position !== null || (live.mark < mark && performance.now() - wokenAtMs > lagMs);
      if (!isLagging) lowerMark(marks, endpoint, live.mark);
      else if (live.mark !== position) own.set(endpoint, live.mark);
    }
    return own;
  }
}

function lowerMark(marks: Map<bigint, bigint>, { shard }: Endpoint, to: bigint): void {
  if (to < (marks.get(shard) ?? to)) marks.set(shard, to);
}
