import type { Db, Writer } from '../../platform/db/handles.ts';
import type { DueRows } from './due-rows.ts';
import { Endpoint } from './endpoint.ts';
import { type EndpointRow, insertVerifications, markRead, selectChanged, selectServed } from './endpoint-queries.ts';
import type { Endpoints } from './endpoints.ts';
import type { FeedReader } from './feed-reader.ts';
import type { ShardLease } from './shard-lease.ts';
import type { Shares } from './shares.ts';

export interface LoaderParts {
  readonly db: Db & Writer;
  readonly lease: ShardLease;
  readonly endpoints: Endpoints;
  readonly feed: FeedReader;
  readonly dueRows: DueRows;
  readonly shares: Shares;
}

const loadSize = 1_000;

/** Loads the endpoints of shards, and those that were changed. */
export class EndpointLoader {
  readonly #parts: LoaderParts;

  constructor(parts: LoaderParts) {
    this.#parts = parts;
  }

  async loadShard(shard: bigint): Promise<void> {
    for (let after = 0n; ; ) {
      const rows = await selectServed(this.#parts.db, shard, { after, limit: loadSize });
      await this.#add(rows);
      const last = rows.at(-1);
      if (!last || rows.length < loadSize) return;
      after = last.id;
    }
  }

  /** Applies changes that were made by the API, by commands or by the worker itself. Returns true if there may be more. */
  async readChanged(): Promise<boolean> {
    const { db, lease, endpoints, feed } = this.#parts;
    if (feed.shards.size === 0) return false;
    const rows = await selectChanged(db, [...feed.shards.keys()], loadSize);
    if (rows.length === 0) return false;
    const fresh: EndpointRow[] = [];
    const read: EndpointRow[] = [];
    const updated: Endpoint[] = [];
    for (const row of rows) {
      const endpoint = endpoints.get(row.id);
      if (endpoint?.update(row, feed.window.to)) {
        endpoints.reindex(endpoint);
        updated.push(endpoint);
        read.push(row);
      } else if (endpoint && (endpoint.inFlight > 0 || endpoint.unstored > 0)) {
        // It is loaded again once the results of what is in flight are stored.
        endpoint.isRetired = true;
      } else {
        if (endpoint) endpoints.remove(endpoint);
        if (row.isServed) fresh.push(row);
        read.push(row);
      }
    }
    await this.#add(fresh);
    await this.#start(updated);
    if (read.length > 0) await markRead(db, lease.workerId, read);
    return rows.length === loadSize;
  }

  async #add(rows: readonly EndpointRow[]): Promise<void> {
    const { endpoints, feed } = this.#parts;
    const added: Endpoint[] = [];
    for (const row of rows) {
      const shard = feed.shards.get(row.shard);
      if (!shard || !row.isServed) continue;
      const endpoint = new Endpoint(row, shard.checkedTo > feed.window.to ? shard.checkedTo : feed.window.to);
      endpoints.add(endpoint);
      added.push(endpoint);
    }
    await this.#start(added);
  }

  async #start(endpoints: readonly Endpoint[]): Promise<void> {
    const { db, lease, dueRows, shares } = this.#parts;
    const unverified = endpoints.filter(({ settings }) => !settings.isVerified).map(({ id }) => id);
    if (unverified.length > 0) await insertVerifications(db, lease.workerId, unverified);
    await dueRows.schedule(endpoints);
    for (const endpoint of endpoints) if (endpoint.hasLine) shares.add(endpoint);
  }
}
