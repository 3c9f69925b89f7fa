import type { Db, Writer } from '../../platform/db/handles.ts';
import { isServed, managedShelter, mayReadPrivate, mayReadPublic } from '../webhooks/endpoint-conditions.ts';
import type { Subscriber } from '../webhooks/subscriptions.ts';
import { inOwnShard, lockOwn } from './shard-queries.ts';

/** What a worker knows of an endpoint. */
export interface EndpointRow extends Subscriber {
  readonly id: bigint;
  readonly shard: bigint;
  readonly revision: bigint;
  /** False: it is disabled or removed, or its client is suspended. */
  readonly isServed: boolean;
  readonly isVerified: boolean;
  readonly url: string;
  readonly isFailing: boolean;
  readonly position: bigint | null;
  /** A multirange. */
  readonly skipped: string;
  readonly replayPosition: bigint | null;
  readonly replayUpTo: bigint | null;
  readonly replayCreatedAt: Date | null;
}

const select = `select webhooks.id, webhooks.client_id as "clientId", ${managedShelter} as "shelterId", shard, revision, ${isServed} as "isServed", verified_at is not null as "isVerified",
    url, types, shelter_ids as "shelterIds", category_ids as "categoryIds", ${mayReadPublic} as "mayReadPublic", ${mayReadPrivate} as "mayReadPrivate", failing_since is not null as "isFailing",
    webhooks.position, skipped::text as skipped,
    webhook_replays.position as "replayPosition", to_position as "replayUpTo", webhook_replays.created_at as "replayCreatedAt"
  from webhooks left join api_keys on api_keys.id = key_id left join webhook_replays on webhook_id = webhooks.id`;

/** A keyset page of the endpoints of a shard that are served. */
export async function selectServed(db: Db, shard: bigint, page: { after: bigint; limit: number }): Promise<EndpointRow[]> {
  const { rows } = await db.query<EndpointRow>({
    name: 'served-webhooks',
    text: `${select} where shard = $1 and webhooks.id > $2 and ${isServed} order by webhooks.id limit $3`,
    values: [shard, page.after, page.limit],
  });
  return rows;
}

/** Endpoints that were changed and not read since. Does not wait for a transaction that is changing one. */
export async function selectChanged(db: Db, shards: readonly bigint[], limit: number): Promise<EndpointRow[]> {
  const { rows } = await db.query<EndpointRow>({
    name: 'changed-webhooks',
    text: `${select} where is_changed and shard = any($1::bigint[]) limit $2`,
    values: [shards, limit],
  });
  return rows;
}

/** Says that these were read, unless they were changed again meanwhile, or belong to another worker by now, which has not read them. */
export async function markRead(
  db: Writer,
  workerId: bigint,
  endpoints: ReadonlyArray<Pick<EndpointRow, 'id' | 'revision'>>,
): Promise<void> {
  await db.write({
    name: 'mark-webhooks-read',
    text: `with known as materialized (
        select webhooks.id from unnest($2::bigint[], $3::bigint[]) as read (id, revision) join webhooks on webhooks.id = read.id ${inOwnShard}
          where webhooks.revision = read.revision and is_changed ${lockOwn})
      update webhooks set is_changed = false from known where webhooks.id = known.id`,
    values: [workerId, endpoints.map(({ id }) => id), endpoints.map(({ revision }) => revision)],
  });
}

export interface DueState {
  readonly webhookId: bigint;
  /** The time until a row is due; null if there is none. Negative: it has been due for that long. */
  readonly dueInMs: number | null;
  readonly oldestDueInMs: number | null;
  readonly testDueInMs: number | null;
  /** Events that wait in rows and are not replayed; counted up to `countMax`. */
  readonly waiting: number;
  /** Animals of which an event failed since no delivery has succeeded, and waits for another attempt; counted up to 3. */
  readonly failed: number;
}

/** What these endpoints have in `delivery_exceptions`, in their order. */
export async function selectDueStates(db: Db, webhookIds: readonly bigint[], countMax: number): Promise<DueState[]> {
  const dueIn = (
    where: string,
    order: string,
  ) => `(select extract(epoch from next_attempt_at - now())::float8 * 1000 from delivery_exceptions
    where webhook_id = id and status = 'pending' and next_attempt_at < 'infinity' ${where} order by ${order} limit 1)`;
  const { rows } = await db.query<DueState>({
    name: 'due-states',
    text: `select id as "webhookId", ${dueIn('', 'next_attempt_at')} as "dueInMs",
        ${dueIn('and pet_id is not null', 'delivery_id')} as "oldestDueInMs", ${dueIn('and pet_id is null', 'next_attempt_at')} as "testDueInMs",
        (select count(*) from (select from delivery_exceptions
            where webhook_id = id and status = 'pending' and pet_id is not null and not is_replay limit $2) as counted)::int as waiting,
        (select count(*) from (select from delivery_exceptions
            where webhook_id = id and status = 'pending' and next_attempt_at < 'infinity' and pet_id is not null and attempt_count > 0
              and exists (select from webhook_attempts as attempt where attempt.webhook_id = endpoint.id
                and attempt.delivery_id = delivery_exceptions.delivery_id
                and at >= (select failing_since from webhooks where webhooks.id = endpoint.id))
            limit 3) as counted)::int as failed
      from unnest($1::bigint[]) with ordinality as endpoint (id, n) order by n`,
    values: [webhookIds, countMax],
  });
  return rows;
}

/** Queues a test for each of these endpoints that is unverified and has none pending. */
export async function insertVerifications(db: Writer, workerId: bigint, webhookIds: readonly bigint[]): Promise<void> {
  await db.write({
    name: 'insert-verifications',
    text: `insert into delivery_exceptions (webhook_id, delivery_id) select webhooks.id, nextval('test_delivery_ids')
      from webhooks ${inOwnShard} where webhooks.id = any($2::bigint[]) and verified_at is null and ${isServed} and not exists (
        select from delivery_exceptions as test where webhook_id = webhooks.id and pet_id is null and test.status = 'pending')
      for key share of webhook_shards`,
    values: [workerId, webhookIds],
  });
}

export interface DisabledWebhook {
  readonly id: bigint;
  readonly clientId: bigint;
  readonly reason: string;
}

/** Disables those that are enabled, except one that is being changed now. */
export async function disableEndpoints(
  db: Writer,
  workerId: bigint,
  endpoints: ReadonlyArray<{ readonly id: bigint; readonly reason: string }>,
): Promise<DisabledWebhook[]> {
  const { rows } = await db.write<DisabledWebhook>({
    name: 'disable-webhooks',
    text: `with disabled as materialized (
        select webhooks.id, reason from unnest($2::bigint[], $3::text[]) as disabled (id, reason)
          join webhooks on webhooks.id = disabled.id ${inOwnShard} where status = 'enabled' ${lockOwn})
      update webhooks set status = 'disabled', disabled_reason = reason, updated_at = now() from disabled where webhooks.id = disabled.id
        returning webhooks.id, client_id as "clientId", disabled_reason as reason`,
    values: [workerId, endpoints.map(({ id }) => id), endpoints.map(({ reason }) => reason)],
  });
  return rows;
}
