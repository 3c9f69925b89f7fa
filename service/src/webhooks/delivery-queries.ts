import type { Db, Transaction } from '../db/handles.ts';
import type { Delivery, DeliveryAttempt, DeliveryStatus } from './webhook-schemas.ts';

const columns = `id, case when position is null then 'test_' || id else 'evt_' || position end as "eventId", type, status,
  attempt_count as "attemptCount", created_at as "createdAt", case when status = 'pending' then next_attempt_at end as "nextAttemptAt",
  delivered_at as "deliveredAt"`;

/** Which events an endpoint is told of: those of its types about animals, and about its own client's orders where it may know them. */
const isToldOf = `(webhooks.types = '{}' or events.type = any(webhooks.types))
  and (events.client_id is null or (webhooks.with_orders and events.client_id = webhooks.client_id))`;

/** A suspended client is sent nothing, and nothing is queued for it. */
const isServed = `not exists (select from clients where clients.id = webhooks.client_id and suspended_at is not null)`;

export async function countEnabled(tx: Transaction): Promise<number> {
  const { rows } = await tx.query<{ count: bigint }>({
    name: 'count-enabled-webhooks',
    text: `select count(*) from webhooks where status = 'enabled'`,
  });
  return Number(rows[0]?.count ?? 0);
}

/** One delivery for each event of these positions and each endpoint that is told of it. They were published in this transaction. */
export async function insertDeliveries(tx: Transaction, firstPosition: bigint, lastPosition: bigint): Promise<void> {
  await tx.query({
    text: `insert into deliveries (webhook_id, position, pet_id, at, type, data)
      select webhooks.id, events.position, events.pet_id, events.at, events.type, events.data
        from events join webhooks on webhooks.status = 'enabled' and ${isToldOf} and ${isServed}
        where events.position between $1 and $2 and events.published_at = now()
        order by events.position`,
    values: [firstPosition, lastPosition],
  });
}

export async function insertTest(tx: Transaction, webhookId: bigint, type: string, data: string): Promise<Delivery> {
  const { rows } = await tx.query<Delivery>({
    name: 'insert-test-delivery',
    text: `insert into deliveries (webhook_id, type, data) values ($1, $2, $3) returning ${columns}`,
    values: [webhookId, type, data],
  });
  const [inserted] = rows;
  if (!inserted) throw new Error('an insert returned no row');
  return inserted;
}

/** One keyset page. */
export async function selectDeliveries(
  db: Db,
  webhookId: bigint,
  status: DeliveryStatus | undefined,
  page: { afterId: bigint | undefined; limit: number },
): Promise<Delivery[]> {
  const { rows } = await db.query<Delivery>({
    name: status ? 'deliveries-by-status' : 'deliveries',
    text: `select ${columns} from deliveries where webhook_id = $1 and id > $2 ${status ? 'and status = $4' : ''} order by id limit $3`,
    values: [webhookId, page.afterId ?? 0n, page.limit, ...(status ? [status] : [])],
  });
  return rows;
}

export async function findDelivery(db: Db, webhookId: bigint, id: bigint): Promise<Delivery | undefined> {
  const { rows } = await db.query<Delivery>({
    name: 'delivery',
    text: `select ${columns} from deliveries where webhook_id = $1 and id = $2`,
    values: [webhookId, id],
  });
  return rows[0];
}

/** The last `limit`, the oldest first. */
export async function selectAttempts(db: Db, deliveryId: bigint, limit: number): Promise<DeliveryAttempt[]> {
  const { rows } = await db.query<DeliveryAttempt>({
    name: 'delivery-attempts',
    text: `select at, "durationMs", status, answer, error from (
        select id, at, duration_ms as "durationMs", status, answer, error from delivery_attempts where delivery_id = $1 order by id desc limit $2
      ) as last order by id`,
    values: [deliveryId, limit],
  });
  return rows;
}

/** As it was when it was queued. */
const anew = `status = 'pending', attempt_count = 0, next_attempt_at = now(), delivered_at = null`;

/** Queues it again. One that is under way stays so. */
export async function replayOne(tx: Transaction, webhookId: bigint, id: bigint): Promise<number> {
  const { rowCount } = await tx.query({
    name: 'replay-delivery',
    text: `update deliveries set ${anew} where webhook_id = $1 and id = $2 and leased_until is null`,
    values: [webhookId, id],
  });
  return rowCount ?? 0;
}

export async function replayFailed(tx: Transaction, webhookId: bigint, limit: number): Promise<number> {
  const { rowCount } = await tx.query({
    name: 'replay-failed-deliveries',
    text: `update deliveries set ${anew} where id in (
      select id from deliveries where webhook_id = $1 and status = 'failed' order by id limit $2 for update)`,
    values: [webhookId, limit],
  });
  return rowCount ?? 0;
}

/** Queues every event that was published in this time and that the endpoint is told of, also those that it never got. */
export async function replayTime(tx: Transaction, webhookId: bigint, from: Date, to: Date, limit: number): Promise<number> {
  const { rowCount } = await tx.query({
    name: 'replay-time',
    text: `insert into deliveries (webhook_id, position, pet_id, at, type, data)
      select webhooks.id, events.position, events.pet_id, events.at, events.type, events.data
        from events join webhooks on webhooks.id = $1 and ${isToldOf}
        where events.published_at >= $2 and events.published_at < $3 order by events.position limit $4
      on conflict (webhook_id, position) do update set ${anew} where deliveries.leased_until is null`,
    values: [webhookId, from, to, limit],
  });
  return rowCount ?? 0;
}

/** Sends at once what waits for its next attempt. What was put off behind it follows when it is done. */
export async function hasten(tx: Transaction, webhookId: bigint, limit: number): Promise<void> {
  await tx.query({
    name: 'hasten-deliveries',
    text: `update deliveries set next_attempt_at = now() where leased_until is null and id in (
      select id from deliveries where webhook_id = $1 and status = 'pending' and next_attempt_at > now()
        order by next_attempt_at, id limit $2)`,
    values: [webhookId, limit],
  });
}

export interface Claimed {
  readonly id: bigint;
  readonly webhookId: bigint;
  readonly lease: bigint;
  readonly attemptCount: bigint;
  readonly position: bigint | null;
  readonly type: string;
  readonly at: Date;
  readonly data: string;
  readonly url: string;
  readonly secret: string;
  /** Where it still signs. */
  readonly previousSecret: string | null;
}

export interface ClaimBounds {
  readonly batchSizeMax: number;
  /** At one endpoint, with what is under way there already. */
  readonly shareMax: number;
  /** At one whose last delivery failed: dead endpoints must not hold up the living. */
  readonly failingShareMax: number;
  /** Due deliveries of an endpoint that are looked at. */
  readonly scanMax: number;
  readonly leaseSeconds: number;
}

/**
 * Leases what is due, the endpoints taking turns. Where an earlier one of the same animal is pending at the endpoint, the
 * earliest goes in its place; where that one waits for its next attempt, this one is put off until then, so that a long queue
 * behind a failing endpoint isn't read again and again.
 */
export async function claimDeliveries(db: Db, bounds: ClaimBounds): Promise<Claimed[]> {
  const { rows } = await db.query<Claimed>({
    // Without a name, as all that grows with the table: a plan that was kept from an empty table would read all of a full one.
    text: `with endpoint as materialized (
        select id, url, secret, case when previous_secret_until > now() then previous_secret end as previous_secret,
          case when failing_since is null then $2::int else $3::int end
            - (select count(*) from deliveries where webhook_id = webhooks.id and leased_until > now()) as share
          from webhooks
          where status = 'enabled' and ${isServed} and (
            select next_attempt_at from deliveries where webhook_id = webhooks.id and status = 'pending' order by next_attempt_at limit 1
          ) <= now()),
      due as materialized (
        select endpoint.id as webhook_id, share, queued.id as queued_id, queued.next_attempt_at as queued_at,
            coalesce(first.id, queued.id) as id, first.next_attempt_at as first_at, first.leased_until as first_until
          from endpoint
          cross join lateral (
            select id, pet_id, position, next_attempt_at from deliveries
              where webhook_id = endpoint.id and status = 'pending' and next_attempt_at <= now()
              order by next_attempt_at, id limit $4) as queued
          left join lateral (
            select id, next_attempt_at, leased_until from deliveries
              where webhook_id = endpoint.id and pet_id = queued.pet_id and status = 'pending' and position < queued.position
              order by position limit 1) as first on true
          where share > 0),
      behind as materialized (
        select queued_id, first_at from due join deliveries on deliveries.id = queued_id
          where first_until is null and first_at > now() and status = 'pending' for update of deliveries skip locked),
      put_off as (
        update deliveries set next_attempt_at = first_at from behind where deliveries.id = queued_id),
      turns as (
        select id, share, row_number() over (partition by webhook_id order by min(queued_at), id) as turn
          from due where first_at is null or first_at <= now() group by webhook_id, share, id),
      chosen as materialized (
        select id from turns where turn <= share order by turn, random() limit $1),
      held as materialized (
        select id from deliveries where id in (select id from chosen) and status = 'pending' and next_attempt_at <= now()
          for update skip locked),
      leased as (
        update deliveries set lease = lease + 1, leased_until = now() + make_interval(secs => $5), next_attempt_at = now() + make_interval(secs => $5)
          from held where deliveries.id = held.id
          returning deliveries.id, webhook_id, lease, attempt_count, position, type, at, data)
      select leased.id, webhook_id as "webhookId", lease, attempt_count as "attemptCount", position, type, at, data, url, secret,
          previous_secret as "previousSecret"
        from leased join endpoint on endpoint.id = leased.webhook_id order by leased.id`,
    values: [bounds.batchSizeMax, bounds.shareMax, bounds.failingShareMax, bounds.scanMax, bounds.leaseSeconds],
  });
  return rows;
}

/** How an attempt went, and what follows from it. */
export interface AttemptResult {
  readonly deliveryId: bigint;
  readonly lease: bigint;
  readonly at: Date;
  readonly durationMs: number;
  readonly httpStatus: number | undefined;
  readonly answer: string | undefined;
  readonly error: string | undefined;
  readonly status: DeliveryStatus;
  /** Where it stays pending. */
  readonly delaySeconds: number | undefined;
  /** The receiver wants nothing more. */
  readonly isGone: boolean;
}

export interface DisabledWebhook {
  readonly id: bigint;
  readonly clientId: bigint;
  readonly reason: string;
}

/**
 * Keeps the attempts, moves their deliveries on where the lease still holds, and wakes what was put off behind one that is done.
 * Returns the endpoints that this disabled.
 */
export async function recordAttempts(db: Db, results: readonly AttemptResult[], failingDaysMax: number): Promise<DisabledWebhook[]> {
  const { rows } = await db.query<DisabledWebhook>({
    text: `with result as materialized (
        select * from unnest($1::bigint[], $2::bigint[], $3::timestamptz[], $4::bigint[], $5::int[], $6::text[], $7::text[],
          $8::delivery_status[], $9::float8[], $10::boolean[])
          as row (delivery_id, lease, at, duration_ms, http_status, answer, error, status, delay_seconds, is_gone)),
      kept as (
        insert into delivery_attempts (delivery_id, at, duration_ms, status, answer, error)
          select delivery_id, result.at, duration_ms, http_status, answer, error
            from result join deliveries on deliveries.id = delivery_id order by result.at),
      moved as (
        update deliveries set status = result.status, attempt_count = attempt_count + 1, leased_until = null,
            next_attempt_at = now() + make_interval(secs => coalesce(delay_seconds, 0)),
            delivered_at = case when result.status = 'delivered' then now() end
          from result where deliveries.id = delivery_id and deliveries.lease = result.lease
          returning webhook_id, pet_id, position, result.status, is_gone),
      next as materialized (
        select (select id from deliveries
            where webhook_id = moved.webhook_id and pet_id = moved.pet_id and status = 'pending' and position > moved.position
            order by position limit 1) as id
          from moved where moved.status <> 'pending'),
      woken as (
        update deliveries set next_attempt_at = now() from next
          where deliveries.id = next.id and next_attempt_at > now() and leased_until is null),
      health as materialized (
        select webhook_id, bool_or(status = 'delivered') as is_well, bool_or(is_gone) as is_gone from moved group by webhook_id),
      changed as materialized (
        select webhooks.id, is_well, is_gone, not is_well and failing_since < now() - make_interval(days => $11) as is_hopeless
          from webhooks join health on webhooks.id = webhook_id
          where is_gone or (is_well and failing_since is not null)
            or (not is_well and (failing_since is null or failing_since < now() - make_interval(days => $11)))
          order by webhooks.id for no key update of webhooks),
      told as (
        update webhooks set failing_since = case when is_well then null else coalesce(failing_since, now()) end,
            status = case when is_gone or is_hopeless then 'disabled' else status end,
            disabled_reason = case when is_gone then 'The receiver answered 410.'
              when is_hopeless then 'No delivery succeeded for ' || $11 || ' days.' else disabled_reason end
          from changed where webhooks.id = changed.id
          returning webhooks.id, client_id, disabled_reason, is_gone or is_hopeless as is_disabled)
      select id, client_id as "clientId", disabled_reason as reason from told where is_disabled`,
    values: [
      results.map(({ deliveryId }) => deliveryId),
      results.map(({ lease }) => lease),
      results.map(({ at }) => at),
      results.map(({ durationMs }) => durationMs),
      results.map(({ httpStatus }) => httpStatus ?? null),
      results.map(({ answer }) => answer ?? null),
      results.map(({ error }) => error ?? null),
      results.map(({ status }) => status),
      results.map(({ delaySeconds }) => delaySeconds ?? null),
      results.map(({ isGone }) => isGone),
      failingDaysMax,
    ],
  });
  return rows;
}

/** The oldest, with their attempts; of at most `batchSizeMax`, and then removed endpoints that have none left. */
export async function deleteOldDeliveries(db: Db, keptDays: number, batchSizeMax: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'sweep-deliveries',
    text: `with oldest as materialized (select id, created_at from deliveries order by id limit $2)
      delete from deliveries where id in (select id from oldest where created_at < now() - make_interval(days => $1))`,
    values: [keptDays, batchSizeMax],
  });
  if (!rowCount) {
    await db.query({
      name: 'sweep-webhooks',
      text: `delete from webhooks where removed_at < now() - make_interval(days => $1)
        and not exists (select from deliveries where webhook_id = webhooks.id)`,
      values: [keptDays],
    });
  }
  return rowCount ?? 0;
}
