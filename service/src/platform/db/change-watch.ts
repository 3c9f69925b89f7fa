import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { JoinedRuns } from '../bounded/joined-runs.ts';
import type { Db, Writer } from './handles.ts';

/** How long a process may use its caches after a look at PostgreSQL. */
export const trustMs = 800;
/** After a change is committed, no process uses what it had cached before, once this time has passed. */
export const settledMs = trustMs + 50;
/** A process that uses its caches looks this often: early enough to be done before the trust ends. */
const lookIntervalMs = 450;

/** What a look has found. Emitted before it is done. */
interface ChangeEvents {
  /** Clients that have changed. */
  clients: [ids: readonly bigint[]];
  /** An animal was changed by a process that could not tell Redis. */
  unannounced: [];
  /** Anything may have changed. Then `unannounced` follows too. */
  all: [];
}

/**
 * Finds out what has changed in PostgreSQL, for the caches of a process. Redis tells of a change at once, but it may be lost, late,
 * or out of the writer's reach. So a process uses its caches only if it has looked here within `trustMs`, and a
 * writer that changes something without Redis waits for `settledMs` before it reports success.
 *
 * Invariants:
 * - Nobody joins a look that is in flight: it may have missed a change that was committed before the caller asked.
 * - Looks are made one after another, each from the snapshot of the one before: together they report every change. The first one,
 *   and one of a server that was restarted or replaced, can't tell what has changed: it reports that anything may have.
 * - An idle process doesn't look.
 */
export class ChangeWatch extends EventEmitter<ChangeEvents> {
  readonly #db: Db;
  #last: Changes | undefined;
  /** When the last look began. */
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #invalidatedAtMs = Number.NEGATIVE_INFINITY;
  readonly #looks = new JoinedRuns(() => this.#look());

  constructor(db: Db) {
    super();
    this.#db = db;
  }

  /** False: look before the caches are used. While it is asked, looks are made in the background. */
  get isTrusted(): boolean {
    const ageMs = performance.now() - this.#lookedAtMs;
    if (ageMs >= lookIntervalMs && !this.#looks.inFlight) this.look().catch(() => {});
    return ageMs < trustMs;
  }

  /** Since the last look; undefined: there was none, or it is not trusted any more. */
  get lookAgeMs(): number | undefined {
    return Number.isFinite(this.#lookedAtMs) ? performance.now() - this.#lookedAtMs : undefined;
  }

  /** Waits until the caches may be used: for the look in flight, and if that began too early, for another one. */
  async trust(): Promise<void> {
    if (this.isTrusted) return;
    await this.#looks.inFlight;
    if (!this.isTrusted) await this.look();
  }

  /** The caches are not used before the next look, for instance because Redis may have lost what it was told. */
  invalidate(): void {
    this.#invalidatedAtMs = performance.now();
    this.#lookedAtMs = Number.NEGATIVE_INFINITY;
  }

  /** Looks, once for all callers in this turn of the event loop. Returns the snapshot. */
  look(): Promise<string> {
    return this.#looks.next();
  }

  async #look(): Promise<string> {
    const startedAtMs = performance.now();
    const changes = await selectChanges(this.#db, this.#last?.snapshot);
    const isSameServer = changes.server === this.#last?.server;
    if (!isSameServer || changes.clients.length > changedMax) this.emit('all');
    else if (changes.clients.length > 0) this.emit('clients', changes.clients);
    if (!isSameServer || changes.unannounced !== this.#last?.unannounced) this.emit('unannounced');
    this.#last = changes;
    if (startedAtMs > this.#invalidatedAtMs) this.#lookedAtMs = startedAtMs;
    return changes.snapshot;
  }
}

/** For a committed change of an animal that could not be announced in Redis. Then no process uses the lists that it had cached before. */
export async function settleUnannounced(db: Writer): Promise<void> {
  await noteUnannouncedChange(db);
  await sleep(settledMs);
}

/** Beyond that, every client counts as changed. */
const changedMax = 10_000;

interface Changes {
  /** Another one: the server was restarted or replaced, so that transaction ids may be assigned again. */
  readonly server: string;
  /** The snapshot of this look. Two looks with the same snapshot see the same rows in every table. */
  readonly snapshot: string;
  /** Clients that were changed, or whose keys were, in a transaction that `since` could not see; not all, if there are more than `changedMax`. */
  readonly clients: readonly bigint[];
  /** Differs from the look before if an animal was changed by a process that could not tell Redis. */
  readonly unannounced: bigint;
}

/** What has changed since the snapshot of an earlier look; without one, no client is reported. */
async function selectChanges(db: Db, since: string | undefined): Promise<Changes> {
  const { rows } = await db.query<Changes>({
    name: 'changes',
    // What `since` can't see has its oldest running transaction or a later one, which the index finds. The upper bound leaves out
    // transactions of another server, from which the store was copied.
    text: `select pg_postmaster_start_time()::text as server, pg_current_snapshot()::text as snapshot, (select last_value from unannounced_changes) as unannounced,
      array(select id from clients where changed_in >= pg_snapshot_xmin($1::pg_snapshot)
        and changed_in < pg_snapshot_xmax(pg_current_snapshot()) and not pg_visible_in_snapshot(changed_in, $1::pg_snapshot) limit ${changedMax + 1}) as clients`,
    values: [since ?? null],
  });
  const [changes] = rows;
  if (!changes) throw new Error('a select without from returned no row');
  return changes;
}

/** To be called after a change of an animal is committed, if Redis is unreachable. */
export async function noteUnannouncedChange(db: Writer): Promise<void> {
  await db.write({ name: 'note-unannounced-change', text: `select nextval('unannounced_changes')` });
}
