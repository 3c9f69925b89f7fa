import type { Db, Writer } from '../../platform/db/handles.ts';
import type { EventRow } from '../events/events.ts';
import type { DueRows } from './due-rows.ts';
import { Endpoint } from './endpoint.ts';
import { type EndpointRow, insertVerifications, markRead, selectChanged, selectServed } from './endpoint-queries.ts';
import type { FeedReader } from './feed-reader.ts';
import type { ShardLease } from './shard-lease.ts';
import type { Shares } from './shares.ts';

/**
 * The endpoints of a worker's shards, with indexes by which an event finds those that get it.
 *
 * `awake` are those that have a line; the others have nothing to send until an event wakes them. `detached` are those with a stored
 * cursor of their own; the others share the cursor of their shard.
 */
export class Endpoints {
  readonly awake = new Set<Endpoint>();
  readonly detached = new Set<Endpoint>();
  readonly #byId = new Map<bigint, Endpoint>();
  readonly #byShard = new Map<bigint, Set<Endpoint>>();
  /** Those that want the public events of every animal, of some categories, and of some shelters. */
  readonly #ofAll: Groups = new Map();
  readonly #byCategory = new Map<bigint, Groups>();
  readonly #byShelter = new Map<bigint, Groups>();
  /** And those that want only some categories of a shelter. */
  readonly #bySelection = new Map<bigint, Set<Endpoint>>();
  readonly #byClient = new Map<bigint, Set<Endpoint>>();
  /** Endpoints whose keys manage a shelter. */
  readonly #byManagedShelter = new Map<bigint, Set<Endpoint>>();
  /** The settings by which an endpoint is in the indexes: they may have changed since. */
  readonly #indexed = new Map<Endpoint, Indexed>();

  get(id: bigint): Endpoint | undefined {
    return this.#byId.get(id);
  }

  ofShard(shard: bigint): Iterable<Endpoint> {
    return this.#byShard.get(shard) ?? [];
  }

  add(endpoint: Endpoint): void {
    this.#byId.set(endpoint.id, endpoint);
    addTo(this.#byShard, endpoint.shard, endpoint);
    addTo(this.#byClient, endpoint.clientId, endpoint);
    if (endpoint.position !== null) this.detached.add(endpoint);
    if (endpoint.hasLine) this.awake.add(endpoint);
    this.#index(endpoint);
  }

  /** Takes nothing more from an endpoint. Results of what is in flight are still stored. */
  remove(endpoint: Endpoint): void {
    endpoint.isRetired = true;
    this.awake.delete(endpoint);
    this.detached.delete(endpoint);
    this.#byId.delete(endpoint.id);
    removeFrom(this.#byShard, endpoint.shard, endpoint);
    removeFrom(this.#byClient, endpoint.clientId, endpoint);
    this.#unindex(endpoint);
  }

  /** Call this after the settings of an endpoint have changed. */
  reindex(endpoint: Endpoint): void {
    if (endpoint.hasLine) this.awake.add(endpoint);
    this.#unindex(endpoint);
    this.#index(endpoint);
  }

  /** The endpoints that get an event, some of them twice. Costs what those cost that are interested in it. */
  matching(event: EventRow): Endpoint[] {
    const { type, clientId, shelterId, previousShelterId, categoryId, previousCategoryId } = event;
    const found: Endpoint[] = [];
    const addGroups = (groups: Groups | undefined) => {
      for (const [types, endpoints] of groups ?? []) if (types.all.has(type)) for (const endpoint of endpoints) found.push(endpoint);
    };
    const addWanting = (endpoints: Iterable<Endpoint> | undefined) => {
      for (const endpoint of endpoints ?? []) if (endpoint.isWanted(event)) found.push(endpoint);
    };
    if (clientId !== null) {
      addWanting(this.#byClient.get(clientId));
      if (shelterId !== null) addWanting(this.#byManagedShelter.get(shelterId));
      return found;
    }
    addGroups(this.#ofAll);
    for (const id of [categoryId, previousCategoryId]) if (id !== null) addGroups(this.#byCategory.get(id));
    for (const id of [shelterId, previousShelterId]) {
      if (id === null) continue;
      addGroups(this.#byShelter.get(id));
      addWanting(this.#bySelection.get(id));
    }
    return found;
  }

  #index(endpoint: Endpoint): void {
    const { types, settings } = endpoint;
    this.#indexed.set(endpoint, { types, settings });
    this.#visitSets({ types, settings }, (map, key) => addTo(map, key, endpoint));
  }

  #unindex(endpoint: Endpoint): void {
    const indexed = this.#indexed.get(endpoint);
    if (indexed) this.#visitSets(indexed, (map, key) => removeFrom(map, key, endpoint));
    this.#indexed.delete(endpoint);
  }

  /** The places of an endpoint in the indexes. */
  #visitSets({ types, settings }: Indexed, visit: <K>(map: Map<K, Set<Endpoint>>, key: K) => void): void {
    const { shelterId, shelterIds, categoryIds } = settings;
    if (shelterId !== null) visit(this.#byManagedShelter, shelterId);
    if (shelterIds.length === 0 && categoryIds.length === 0) visit(this.#ofAll, types);
    else if (shelterIds.length === 0) for (const id of categoryIds) visit(groupsOf(this.#byCategory, id), types);
    else if (categoryIds.length === 0) for (const id of shelterIds) visit(groupsOf(this.#byShelter, id), types);
    else for (const id of shelterIds) visit(this.#bySelection, id);
  }
}

/** By their types, which many endpoints share: of a group, all get an event or none. */
type Groups = Map<SubscribedTypes, Set<Endpoint>>;
type SubscribedTypes = Endpoint['types'];
type Indexed = Pick<Endpoint, 'types' | 'settings'>;

function groupsOf(map: Map<bigint, Groups>, id: bigint): Groups {
  const known = map.get(id);
  if (known) return known;
  const added: Groups = new Map();
  map.set(id, added);
  return added;
}

function addTo<K>(map: Map<K, Set<Endpoint>>, key: K, endpoint: Endpoint): void {
  const set = map.get(key);
  if (set) set.add(endpoint);
  else map.set(key, new Set([endpoint]));
}

function removeFrom<K>(map: Map<K, Set<Endpoint>>, key: K, endpoint: Endpoint): void {
  const set = map.get(key);
  set?.delete(endpoint);
  if (set?.size === 0) map.delete(key);
}

interface LoaderParts {
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
