import type { EventRow } from '../events/events.ts';
import type { Endpoint } from './endpoint.ts';

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
  /** Endpoints that get public events of all shelters: by type, or by type and category. */
  readonly #byPublicType = new Map<string, Set<Endpoint>>();
  /** Those that want only some shelters. */
  readonly #byWantedShelter = new Map<bigint, Set<Endpoint>>();
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

  /** The endpoints that get an event, some of them twice. */
  *matching(event: EventRow): Iterable<Endpoint> {
    for (const endpoint of this.#candidates(event)) if (endpoint.isWanted(event)) yield endpoint;
  }

  /** By the indexes, so that an event costs what those cost that are interested in it. */
  *#candidates({ type, clientId, shelterId, previousShelterId, categoryId, previousCategoryId }: EventRow): Iterable<Endpoint> {
    if (clientId !== null) {
      yield* this.#byClient.get(clientId) ?? [];
      if (shelterId !== null) yield* this.#byManagedShelter.get(shelterId) ?? [];
      return;
    }
    yield* this.#byPublicType.get(type) ?? [];
    for (const id of [categoryId, previousCategoryId]) if (id !== null) yield* this.#byPublicType.get(`${type} ${id}`) ?? [];
    for (const id of [shelterId, previousShelterId]) if (id !== null) yield* this.#byWantedShelter.get(id) ?? [];
  }

  #index(endpoint: Endpoint): void {
    const { types, settings } = endpoint;
    const indexed = { types, settings };
    this.#indexed.set(endpoint, indexed);
    this.#forEachSet(indexed, (map, key) => addTo(map, key, endpoint));
  }

  #unindex(endpoint: Endpoint): void {
    const indexed = this.#indexed.get(endpoint);
    if (indexed) this.#forEachSet(indexed, (map, key) => removeFrom(map, key, endpoint));
    this.#indexed.delete(endpoint);
  }

  /** The places of an endpoint in the indexes. */
  #forEachSet({ types, settings }: Indexed, visit: <K>(map: Map<K, Set<Endpoint>>, key: K) => void): void {
    const { shelterId, shelterIds, categoryIds } = settings;
    if (shelterId !== null) visit(this.#byManagedShelter, shelterId);
    for (const id of shelterIds) visit(this.#byWantedShelter, id);
    if (shelterIds.length > 0) return;
    for (const type of types.publicTypes) {
      if (categoryIds.length === 0) visit(this.#byPublicType, type);
      for (const id of categoryIds) visit(this.#byPublicType, `${type} ${id}`);
    }
  }
}

type Indexed = Pick<Endpoint, 'types' | 'settings'>;

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
