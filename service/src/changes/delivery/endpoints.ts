import type { EventType } from '../../domain/event-types.ts';
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
  /** Endpoints that get public events, by type. */
  readonly #byPublicType = new Map<EventType, Set<Endpoint>>();
  readonly #byClient = new Map<bigint, Set<Endpoint>>();
  /** Endpoints whose keys manage a shelter. */
  readonly #byShelter = new Map<bigint, Set<Endpoint>>();
  /** The shelter under which an endpoint is in the index: its key may have changed since. */
  readonly #shelterOf = new Map<Endpoint, bigint>();

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

  /** The endpoints that get an event. */
  *matching(event: EventRow): Iterable<Endpoint> {
    if (event.clientId === null) {
      yield* this.#byPublicType.get(event.type) ?? [];
      return;
    }
    for (const endpoint of this.#byClient.get(event.clientId) ?? []) if (endpoint.types.all.has(event.type)) yield endpoint;
    if (event.shelterId === null) return;
    for (const endpoint of this.#byShelter.get(event.shelterId) ?? [])
      if (endpoint.clientId !== event.clientId && endpoint.types.all.has(event.type)) yield endpoint;
  }

  #index(endpoint: Endpoint): void {
    for (const type of endpoint.types.publicTypes) addTo(this.#byPublicType, type, endpoint);
    const { shelterId } = endpoint.settings;
    if (shelterId === null) return;
    addTo(this.#byShelter, shelterId, endpoint);
    this.#shelterOf.set(endpoint, shelterId);
  }

  #unindex(endpoint: Endpoint): void {
    for (const type of this.#byPublicType.keys()) removeFrom(this.#byPublicType, type, endpoint);
    const shelterId = this.#shelterOf.get(endpoint);
    if (shelterId !== undefined) removeFrom(this.#byShelter, shelterId, endpoint);
    this.#shelterOf.delete(endpoint);
  }
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
