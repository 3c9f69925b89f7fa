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
