// Webhook endpoints that are inserted directly, since to add thousands by the API takes minutes.
import { newSecret } from '../service/src/changes/webhooks/target-urls.ts';
import { queryStore } from './adopters.ts';
import type { Store } from './store.ts';

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

/** As a worker leaves endpoints that have received everything: each shares the cursor of its shard. No worker may run meanwhile. */
export async function settleEndpoints(store: Store): Promise<void> {
  await queryStore(store, 'update webhook_shards set position = last_position, moved_at = now() from feed');
  await queryStore(store, 'update webhooks set is_changed = false, position = null where is_changed');
  // Also the statistics, because autovacuum may be off.
  await queryStore(store, 'vacuum analyze webhooks');
  await queryStore(store, 'analyze clients');
}
