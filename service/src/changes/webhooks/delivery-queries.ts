import { testType } from '../../domain/event-types.ts';
import type { Db, Transaction, Writer } from '../../platform/db/handles.ts';
import { managedShelter, mayReadPrivate, mayReadPublic } from './endpoint-conditions.ts';
import type { Subscriber } from './subscriptions.ts';
import type { Delivery, DeliveryAttempt, DeliveryStatus } from './webhook-schemas.ts';

/** Where an endpoint is in the feed, and which events it gets. */
interface Reading extends Subscriber {
  /** Everything up to here is decided. Of later events, some may be. */
  readonly position: bigint;
  /** The last position that is queued. */
  readonly upTo: bigint;
  /** A multirange. */
  readonly skipped: string;
}

export async function findReading(db: Db, webhookId: bigint): Promise<Reading | undefined> {
  const { rows } = await db.query<Reading>({
    name: 'webhook-reading',
    text: `select webhooks.client_id as "clientId", ${managedShelter} as "shelterId", types, shelter_ids as "shelterIds", category_ids as "categoryIds", ${mayReadPublic} as "mayReadPublic", ${mayReadPrivate} as "mayReadPrivate",
        coalesce(webhooks.position, webhook_shards.position) as position, coalesce(paused_position, last_position) as "upTo",
        skipped::text as skipped
      from webhooks join webhook_shards on webhook_shards.id = shard left join api_keys on api_keys.id = key_id cross join feed
      where webhooks.id = $1`,
    values: [webhookId],
  });
  return rows[0];
}

interface Page {
  readonly afterId: bigint | undefined;
  readonly limit: number;
}

/** A row shows the time of the event, so its partition is known. A row whose event is no longer in the feed is not shown. */
const rowColumns = `delivery_id as id, case when pet_id is null then 'test_' else 'evt_' end || delivery_id as "eventId",
  case when pet_id is null then '${testType}' else events.type end as type, status, attempt_count as "attemptCount",
  created_at as "createdAt", case when status = 'pending' and next_attempt_at < 'infinity' then next_attempt_at end as "nextAttemptAt",
  delivered_at as "deliveredAt"`;
const rowTables = `delivery_exceptions left join lateral (select type from events where position = delivery_id
  and published_at >= created_at and published_at < created_at + interval '1 ms') as events on pet_id is not null`;

/** A keyset page of the deliveries that have a row. */
export async function selectRows(db: Db, webhookId: bigint, status: DeliveryStatus | undefined, page: Page): Promise<Delivery[]> {
  const { rows } = await db.query<Delivery>({
    name: status ? 'delivery-rows-by-status' : 'delivery-rows',
    text: `select ${rowColumns} from ${rowTables} where webhook_id = $1 and delivery_id > $2 and (pet_id is null or events.type is not null)
      ${status ? 'and status = $4' : ''} order by delivery_id limit $3`,
    values: [webhookId, page.afterId ?? 0n, page.limit, ...(status ? [status] : [])],
  });
  return rows;
}

/**
 * A keyset page of the deliveries that have no row, because they were delivered. Attempts are kept for as long as events, and are made
 * later: those of events that the feed no longer has must not fill the page.
 */
export async function selectDelivered(db: Db, webhookId: bigint, page: Page): Promise<Delivery[]> {
  const { rows } = await db.query<Delivery>({
    text: `select delivered.id, 'evt_' || delivered.id as "eventId", events.type, 'delivered' as status, "attemptCount",
        published_at as "createdAt", null::timestamptz as "nextAttemptAt", "deliveredAt"
      from (
        select delivery_id as id, (array_agg(attempt order by at desc))[1]::bigint as "attemptCount",
            max(at + make_interval(secs => duration_ms / 1000.0)) as "deliveredAt"
          from webhook_attempts where webhook_id = $1 and delivery_id > greatest($2, (select first_position - 1 from feed))
            and status between 200 and 299 and not exists (
            select from delivery_exceptions where webhook_id = $1 and delivery_id = webhook_attempts.delivery_id)
          group by delivery_id order by delivery_id limit $3) as delivered
      cross join lateral (select type, published_at from events where position = delivered.id limit 1) as events
      order by delivered.id`,
    values: [webhookId, page.afterId ?? 0n, page.limit],
  });
  return rows;
}

/** Which of these deliveries have a row or were delivered. */
export async function selectDecided(db: Db, webhookId: bigint, ids: readonly bigint[]): Promise<Set<bigint>> {
  const { rows } = await db.query<{ id: bigint }>({
    text: `select id from unnest($2::bigint[]) as delivery (id) where
        exists (select from delivery_exceptions where webhook_id = $1 and delivery_id = id)
        or exists (select from webhook_attempts where webhook_id = $1 and delivery_id = id and status between 200 and 299)`,
    values: [webhookId, ids],
  });
  return new Set(rows.map(({ id }) => id));
}

/** The last `limit`, the oldest first. */
export async function selectAttempts(db: Db, webhookId: bigint, deliveryId: bigint, limit: number): Promise<DeliveryAttempt[]> {
  const { rows } = await db.query<DeliveryAttempt>({
    name: 'delivery-attempts',
    text: `select at, "durationMs", status, answer, error from (
        select at, duration_ms::bigint as "durationMs", status, answer, error from webhook_attempts
          where webhook_id = $1 and delivery_id = $2 order by at desc limit $3
      ) as last order by at`,
    values: [webhookId, deliveryId, limit],
  });
  return rows;
}

export async function insertTest(tx: Transaction, webhookId: bigint): Promise<Delivery> {
  const { rows } = await tx.query<Delivery>({
    name: 'insert-test-delivery',
    text: `with inserted as (
        insert into delivery_exceptions (webhook_id, delivery_id) values ($1, nextval('test_delivery_ids')) returning *)
      select ${rowColumns.replace('events.type', 'null')} from inserted`,
    values: [webhookId],
  });
  const [inserted] = rows;
  if (!inserted) throw new Error('an insert returned no row');
  return inserted;
}

/** Of replayed events of one animal the first is due now, and each other one when the one before it is done. */
const dueInOrder = `case when exists (select from delivery_exceptions as earlier where earlier.webhook_id = $1
  and earlier.pet_id = again.pet_id and earlier.is_replay and earlier.status = 'pending' and earlier.delivery_id < again.delivery_id)
  or n > 1 then 'infinity' else now() end`;
const asNew = `status = 'pending', attempt_count = 0, retry_count = 0, delivered_at = null`;

/**
 * Queues a delivery again that has a row. One that is still pending keeps its place: others may wait behind it, or it behind another.
 * Returns how many were queued.
 */
export async function replayRow(tx: Transaction, webhookId: bigint, id: bigint): Promise<number> {
  const { rowCount } = await tx.query({
    name: 'replay-row',
    text: `update delivery_exceptions set ${asNew}, is_replay = is_replay or status <> 'pending',
        next_attempt_at = case when status <> 'pending' then ${dueInOrder} when next_attempt_at < 'infinity' then now() else next_attempt_at end
      from (select delivery_id, pet_id, 1 as n from delivery_exceptions where webhook_id = $1 and delivery_id = $2) as again
      where delivery_exceptions.webhook_id = $1 and delivery_exceptions.delivery_id = again.delivery_id`,
    values: [webhookId, id],
  });
  return rowCount ?? 0;
}

/** Queues a delivered event again. */
export async function replayDelivered(tx: Transaction, webhookId: bigint, id: bigint): Promise<number> {
  const { rowCount } = await tx.query({
    name: 'replay-delivered',
    text: `insert into delivery_exceptions (webhook_id, delivery_id, pet_id, created_at, is_replay, next_attempt_at)
      select $1, delivery_id, pet_id, published_at, true, ${dueInOrder}
        from (select position as delivery_id, pet_id, published_at, 1 as n from events where position = $2) as again
      on conflict (webhook_id, delivery_id) do nothing`,
    values: [webhookId, id],
  });
  return rowCount ?? 0;
}

export async function replayFailed(tx: Transaction, webhookId: bigint, limit: number): Promise<number> {
  const { rowCount } = await tx.query({
    name: 'replay-failed-deliveries',
    text: `with failed as materialized (
        select delivery_id, pet_id, row_number() over (partition by pet_id order by delivery_id) as n
          from (select delivery_id, pet_id from delivery_exceptions where webhook_id = $1 and status = 'failed'
            order by delivery_id limit $2 for update) as oldest),
      again as (select failed.*, ${dueInOrder.replaceAll('again.', 'failed.')} as due_at from failed)
      update delivery_exceptions set ${asNew}, is_replay = true, next_attempt_at = case when again.pet_id is null then now() else due_at end
        from again where delivery_exceptions.webhook_id = $1 and delivery_exceptions.delivery_id = again.delivery_id`,
    values: [webhookId, limit],
  });
  return rowCount ?? 0;
}

/** Ends the client's replay if its endpoint is removed or disabled. */
export async function endStoppedReplay(tx: Transaction, clientId: bigint): Promise<void> {
  await tx.query({
    name: 'end-stopped-replay',
    text: `delete from webhook_replays using webhooks where webhook_replays.client_id = $1 and webhooks.id = webhook_id and status = 'disabled'`,
    values: [clientId],
  });
}

/** Starts a replay of a range of the feed. Returns the endpoint of the one in progress instead, if the client has one. */
export async function insertReplay(
  tx: Transaction,
  { webhookId, clientId, after, upTo }: { webhookId: bigint; clientId: bigint; after: bigint; upTo: bigint },
): Promise<bigint | undefined> {
  const { rowCount } = await tx.query({
    name: 'insert-replay',
    text: `insert into webhook_replays (webhook_id, client_id, position, to_position) values ($1, $2, $3, $4) on conflict do nothing`,
    values: [webhookId, clientId, after, upTo],
  });
  if (rowCount === 1) return undefined;
  const { rows } = await tx.query<{ webhookId: bigint }>({
    name: 'replay-in-progress',
    text: 'select webhook_id as "webhookId" from webhook_replays where client_id = $1',
    values: [clientId],
  });
  return rows[0]?.webhookId ?? webhookId;
}

/**
 * Sends at once what waits for its next attempt. What waits behind it follows when it is done. Leaves out what is locked: its result is
 * being stored. To wait for that would be a deadlock, if it is more than one.
 */
export async function makeDueNow(tx: Transaction, webhookId: bigint, limit: number): Promise<void> {
  await tx.query({
    name: 'make-deliveries-due',
    text: `update delivery_exceptions set next_attempt_at = now() where webhook_id = $1 and delivery_id in (
      select delivery_id from delivery_exceptions
        where webhook_id = $1 and status = 'pending' and next_attempt_at > now() and next_attempt_at < 'infinity'
        order by next_attempt_at, delivery_id limit $2 for no key update skip locked)`,
    values: [webhookId, limit],
  });
}

/** Deletes the oldest, at most `batchSizeMax`; when none is left, removed endpoints. Returns how many. */
export async function deleteOldDeliveries(db: Writer, keptDays: number, batchSizeMax: number): Promise<number> {
  const deleted = await deleteOldRows(db, keptDays, batchSizeMax);
  return deleted > 0 ? deleted : deleteRemovedWebhooks(db, keptDays, batchSizeMax);
}

async function deleteRemovedWebhooks(db: Writer, keptDays: number, batchSizeMax: number): Promise<number> {
  const { rowCount } = await db.write({
    name: 'sweep-webhooks',
    text: `delete from webhooks where id in (
        select id from webhooks where removed_at < now() - make_interval(days => $1) limit $2 for update skip locked)`,
    values: [keptDays, batchSizeMax],
  });
  return rowCount ?? 0;
}

/** What waited behind a deleted one of the same animal is due, and the worker is told. */
async function deleteOldRows(db: Writer, keptDays: number, batchSizeMax: number): Promise<number> {
  const { rows } = await db.write<{ count: bigint }>({
    name: 'sweep-exceptions',
    text: `with old as materialized (select * from delivery_exceptions
        where created_at < now() - make_interval(days => $1) order by created_at limit $2 for update skip locked),
      deleted as (delete from delivery_exceptions using old
        where delivery_exceptions.webhook_id = old.webhook_id and delivery_exceptions.delivery_id = old.delivery_id),
      next as materialized (select distinct webhook_id, (
          select delivery_id from delivery_exceptions as waiting
            where waiting.webhook_id = old.webhook_id and waiting.pet_id = old.pet_id and waiting.is_replay = old.is_replay
              and waiting.status = 'pending' and not exists (
                select from old where old.webhook_id = waiting.webhook_id and old.delivery_id = waiting.delivery_id)
            order by delivery_id limit 1) as delivery_id
        from old where status = 'pending' and pet_id is not null),
      due as (update delivery_exceptions set next_attempt_at = now() from next
        where delivery_exceptions.webhook_id = next.webhook_id and delivery_exceptions.delivery_id = next.delivery_id
          and next_attempt_at = 'infinity' returning delivery_exceptions.webhook_id),
      told as (update webhooks set is_changed = true, revision = revision + 1 where id in (select webhook_id from due))
      select count(*) from old`,
    values: [keptDays, batchSizeMax],
  });
  return Number(rows[0]?.count ?? 0);
}
