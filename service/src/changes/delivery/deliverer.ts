import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceDb } from '../../platform/db/handles.ts';
import { Cursors } from './cursors.ts';
import { Dispatcher, type DispatcherParts } from './dispatcher.ts';
import { DueRows } from './due-rows.ts';
import { type Endpoint, slowMs } from './endpoint.ts';
import { type DisabledWebhook, disableEndpoints } from './endpoint-queries.ts';
import { EndpointLoader, Endpoints } from './endpoints.ts';
import { FeedReader } from './feed-reader.ts';
import { PageReader } from './page-reader.ts';
import type { DeliveryResult } from './results.ts';
import type { Exchange, Sender } from './safe-sender.ts';
import { ShardLease } from './shard-lease.ts';
import type { AcquiredShard } from './shard-queries.ts';
import { Shares } from './shares.ts';

export interface DelivererParts {
  readonly db: ServiceDb;
  readonly sender: Sender;
  onDisabled(webhook: DisabledWebhook): void;
  /** Called for each delivery that was sent, or decided without sending. */
  onConcluded?(outcome: DeliveryResult['outcome'], exchange: Exchange | undefined): void;
  /** Called after each step that succeeded. */
  onStep?(): void;
  onError(error: unknown): void;
}

export interface DelivererState {
  /** Requests that were sent and have no response yet. */
  readonly inFlight: number;
  /** Endpoints that wait for their turn. */
  readonly due: number;
  /** Endpoints that have not got every event yet. */
  readonly behind: number;
  readonly shards: number;
}

const idleIntervalMs = 50;
const errorIntervalMs = 500;

/**
 * Sends events to endpoints. Several workers share the endpoints by shards.
 *
 * It repeats these steps, one after the other: extends the lease and takes or gives up shards; reads what is new in the feed, once for
 * all endpoints; reads the endpoints that were changed; wakes the endpoints that get one of the events; reads the rows that are due;
 * stores cursors. A change of an endpoint is read after the page of events, so it applies to every event that was published after it.
 * Beside the steps, the dispatcher sends.
 */
export class Deliverer {
  readonly #parts: DelivererParts;
  readonly #lease: ShardLease;
  readonly #endpoints = new Endpoints();
  readonly #shares = new Shares();
  readonly #feed: FeedReader;
  readonly #dueRows: DueRows;
  readonly #loader: EndpointLoader;
  readonly #cursors: Cursors;
  readonly #dispatcher: Dispatcher;
  /** Since the last step that succeeded. Errors are reported once per outage. */
  #isFailing = false;
  /** Shards that another worker will have as soon as nothing of them is in flight. */
  readonly #leaving = new Set<bigint>();

  constructor(parts: DelivererParts) {
    const { db } = parts;
    const [endpoints, shares] = [this.#endpoints, this.#shares];
    const disable = (disabled: readonly Endpoint[], reason: string) => this.#disable(disabled, reason);
    const onError = (error: unknown) => this.#report(error);
    const lease = new ShardLease(db);
    const feed = new FeedReader(db, endpoints);
    const dueRows = new DueRows({ db, shares, disable });
    const cursors = new Cursors({ db, lease, endpoints, feed, shares });
    const onRead = (endpoint: Endpoint) => {
      shares.add(endpoint);
      void this.#dispatcher.send();
    };
    const pages = new PageReader({ db, feed, dueRows, disable, onRead, onError });
    this.#parts = parts;
    this.#lease = lease;
    this.#feed = feed;
    this.#dueRows = dueRows;
    this.#cursors = cursors;
    this.#loader = new EndpointLoader({ db, lease, endpoints, feed, dueRows, shares });
    const onConcluded: DispatcherParts['onConcluded'] = (outcome, exchange) => parts.onConcluded?.(outcome, exchange);
    this.#dispatcher = new Dispatcher({ ...parts, onConcluded, onError, lease, endpoints, feed, shares, dueRows, pages, cursors });
  }

  get state(): DelivererState {
    return {
      inFlight: this.#shares.inFlight,
      due: this.#shares.due,
      behind: this.#endpoints.awake.size,
      shards: this.#feed.shards.size,
    };
  }

  /** Until `stopping`; then it starts nothing more, and waits a while for what is in flight. */
  async run(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      let hasMore = false;
      try {
        hasMore = await this.#step();
        this.#isFailing = false;
        this.#parts.onStep?.();
      } catch (error) {
        this.#report(error);
      }
      if (!hasMore) await sleep(this.#isFailing ? errorIntervalMs : idleIntervalMs, undefined, { signal: stopping }).catch(() => {});
    }
    await this.#dispatcher.stop();
    const onError = (error: unknown) => this.#report(error);
    await this.#cursors.move([...this.#feed.shards.keys()]).catch(onError);
    await this.#lease.end().catch(onError);
  }

  /** Returns true if there may be more to do at once. */
  async #step(): Promise<boolean> {
    const hasAcquired = await this.#balance();
    const pages = await this.#feed.readPages();
    if (!pages) {
      this.#lease.forget([...this.#feed.shards.values()]);
      await this.#forgetShards();
      return false;
    }
    // Endpoints see no event of these pages before all changes are read that may be older.
    if (await this.#loader.readChanged()) return true;
    for (const endpoint of this.#feed.match(pages)) this.#shares.add(endpoint);
    await this.#dueRows.read();
    this.#shares.noteSlow(slowMs);
    await this.#cursors.moveSome();
    void this.#dispatcher.send();
    return hasAcquired || FeedReader.hasMore(pages);
  }

  /** Takes and gives up shards. Returns true if it has taken some: more may be free. */
  async #balance(): Promise<boolean> {
    const { acquired, surplus, isLost } = await this.#lease.turn();
    if (isLost) await this.#forgetShards();
    if (acquired.length > 0) await this.#adopt(acquired);
    for (const shard of surplus) this.#leaving.add(shard);
    if (this.#leaving.size > 0) await this.#giveUp();
    return acquired.length > 0;
  }

  /** Those that it still has by its lease are loaded again. */
  async #forgetShards(): Promise<void> {
    for (const shard of [...this.#feed.shards.keys()]) this.#drop(shard);
    this.#leaving.clear();
    // The attempts must be stored before the shards are loaded again, or they would be repeated.
    await this.#dispatcher.drained();
  }

  async #adopt(acquired: readonly AcquiredShard[]): Promise<void> {
    try {
      await this.#feed.add(acquired);
      for (const { id } of acquired) await this.#loader.loadShard(id);
    } catch (error) {
      for (const { id } of acquired) this.#drop(id);
      this.#lease.forget(acquired);
      throw error;
    }
  }

  /** Releases the shards that another worker should have, each when nothing of it is in flight. Nothing more is taken from them. */
  async #giveUp(): Promise<void> {
    const shards: bigint[] = [];
    for (const shard of this.#leaving) {
      const endpoints = [...this.#endpoints.ofShard(shard)];
      for (const endpoint of endpoints) endpoint.isRetired = true;
      if (endpoints.every(({ inFlight, unstored }) => inFlight === 0 && unstored === 0)) shards.push(shard);
    }
    if (shards.length === 0) return;
    await this.#cursors.move(shards);
    for (const shard of shards) this.#drop(shard);
    await this.#lease.release(shards);
    for (const shard of shards) this.#leaving.delete(shard);
  }

  #drop(shard: bigint): void {
    for (const endpoint of [...this.#endpoints.ofShard(shard)]) this.#endpoints.remove(endpoint);
    this.#feed.remove(shard);
  }

  #report(error: unknown): void {
    if (!this.#isFailing) this.#parts.onError(error);
    this.#isFailing = true;
  }

  async #disable(endpoints: readonly Endpoint[], reason: string): Promise<void> {
    for (const endpoint of endpoints) this.#dueRows.pause(endpoint);
    const disabled = await disableEndpoints(
      this.#parts.db,
      this.#lease.workerId,
      endpoints.map(({ id }) => ({ id, reason })),
    );
    for (const webhook of disabled) this.#parts.onDisabled(webhook);
  }
}
