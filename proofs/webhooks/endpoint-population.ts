// Many clients with 1 to 20 endpoints each, inserted directly, and the deliveries that they must get.
import { newSecret } from '../../service/src/changes/webhooks/signatures.ts';
import { queryStore } from '../../testkit/adopters.ts';
import type { Store } from '../../testkit/store.ts';

const endpointsOfClientMax = 20;
const orderTypes = ['order.placed', 'order.approved', 'order.completed', 'order.cancelled'];
const insertSizeMax = 10_000;

interface Endpoint {
  /** The number at the end of its URL. */
  readonly number: number;
  readonly clientId: number;
  /** It gets every event; false: only the events of its client's orders. */
  readonly isForAll: boolean;
}

export class EndpointPopulation {
  readonly #store: Store;
  readonly #origins: readonly string[];
  readonly #forAll: number[] = [];
  readonly #ofClient = new Map<number, number[]>();
  count = 0;

  constructor(store: Store, origins: readonly string[]) {
    this.#store = store;
    this.#origins = origins;
  }

  get clientIds(): readonly number[] {
    return [...this.#ofClient.keys()];
  }

  get forAll(): readonly number[] {
    return this.#forAll;
  }

  /** Adds verified endpoints with their clients, until there are `total`. `isForAll` is asked with each endpoint's number. */
  async growTo(total: number, isForAll: (number: number) => boolean): Promise<void> {
    while (this.count < total) {
      const batch = Math.min(insertSizeMax, total - this.count);
      const clientIds = await this.#addClients(batch);
      const endpoints: Endpoint[] = [];
      for (const [i, clientId] of clientIds.entries()) {
        for (let n = 0; n <= i % endpointsOfClientMax && endpoints.length < batch; n += 1) {
          const number = this.count + endpoints.length;
          endpoints.push({ number, clientId, isForAll: isForAll(number) });
        }
      }
      await this.#insert(endpoints);
      for (const { number, clientId, isForAll } of endpoints) {
        if (isForAll) this.#forAll.push(number);
        const ofClient = this.#ofClient.get(clientId);
        if (ofClient) ofClient.push(number);
        else this.#ofClient.set(clientId, [number]);
      }
      this.count += endpoints.length;
    }
    await this.#settle();
  }

  /** The numbers of the endpoints that get an event. An event of no client's order is for everyone. */
  endpointsFor(clientId: number | null): readonly number[] {
    return clientId === null ? this.#forAll : (this.#ofClient.get(clientId) ?? []);
  }

  /** As a worker leaves endpoints that have received everything: each shares the cursor of its shard. No worker may run meanwhile. */
  async #settle(): Promise<void> {
    await queryStore(this.#store, 'update webhook_shards set position = last_position, moved_at = now() from feed');
    await queryStore(this.#store, 'update webhooks set is_changed = false, position = null where is_changed');
    // Also the statistics, because autovacuum may be off.
    await queryStore(this.#store, 'vacuum analyze webhooks');
    await queryStore(this.#store, 'analyze clients');
  }

  /** Clients for a number of endpoints, so that the clients have 1 to 20 each. */
  async #addClients(endpoints: number): Promise<number[]> {
    let [clients, left] = [0, endpoints];
    for (; left > 0; clients += 1) left -= (clients % endpointsOfClientMax) + 1;
    return createClients(this.#store, clients);
  }

  async #insert(endpoints: readonly Endpoint[]): Promise<void> {
    await addVerifiedEndpoints(
      this.#store,
      endpoints.map(({ number, clientId, isForAll }) => ({
        url: `${this.#origins[number % this.#origins.length]}/hooks/${number}`,
        clientId,
        types: isForAll ? [] : orderTypes,
      })),
    );
  }
}

/** Creates clients without keys. */
export async function createClients(store: Store, count: number): Promise<number[]> {
  const rows = await queryStore<{ id: number }>(
    store,
    `insert into clients (name, plan) select 'partner ' || gen_random_uuid(), 'free' from generate_series(1, $1) returning id::int`,
    [count],
  );
  return rows.map(({ id }) => id);
}

export interface NewEndpoint {
  readonly url: string;
  readonly clientId: number;
  /** All, if it is missing. */
  readonly types?: readonly string[];
  /** One, or all if it is missing. */
  readonly shelterIds?: readonly [number];
}

/** Adds endpoints that count as verified: they get no test. Returns their ids. */
export async function addVerifiedEndpoints(store: Store, endpoints: readonly NewEndpoint[]): Promise<number[]> {
  const rows = await queryStore<{ id: number }>(
    store,
    `insert into webhooks (client_id, url, secret, types, with_orders, verified_at, shelter_ids)
      select client_id, url, secret, string_to_array(types, ','), true, now(), array_remove(array[shelter_id], null)
        from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[]) as row (client_id, url, secret, types, shelter_id)
      returning id::int`,
    [
      endpoints.map(({ clientId }) => clientId),
      endpoints.map(({ url }) => url),
      endpoints.map(() => newSecret()),
      endpoints.map(({ types = [] }) => types.join()),
      endpoints.map(({ shelterIds }) => shelterIds?.[0] ?? null),
    ],
  );
  return rows.map(({ id }) => id);
}

export async function removeEndpoints(store: Store, ids: readonly number[]): Promise<void> {
  await queryStore(store, 'update webhooks set removed_at = now() where id = any($1::bigint[])', [ids]);
}
