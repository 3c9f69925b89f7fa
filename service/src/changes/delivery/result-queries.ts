import type { Transaction, Writer } from '../../platform/db/handles.ts';
import { inOwnShard, isOwn, lockOwn } from './shard-queries.ts';

interface RowKey {
  readonly webhookId: bigint;
  readonly deliveryId: bigint;
}

export interface Attempt extends RowKey {
  readonly at: Date;
  readonly durationMs: number;
  /** Counted from 1. */
  readonly attempt: number;
  readonly httpStatus: number | undefined;
  /** Undefined if the response was 2xx. */
  readonly responseStart: string | undefined;
  readonly error: string | undefined;
}

export async function insertAttempts(db: Writer, attempts: readonly Attempt[]): Promise<void> {
  await db.write({
    name: 'insert-webhook-attempts',
    text: `insert into webhook_attempts (webhook_id, delivery_id, at, duration_ms, attempt, status, answer, error)
      select * from unnest($1::bigint[], $2::bigint[], $3::timestamptz[], $4::int[], $5::smallint[], $6::smallint[], $7::text[], $8::text[])`,
    values: [
      ...keysOf(attempts),
      attempts.map(({ at }) => at),
      attempts.map(({ durationMs }) => durationMs),
      attempts.map(({ attempt }) => Math.min(attempt, 32_767)),
      attempts.map(({ httpStatus }) => httpStatus ?? null),
      attempts.map(({ responseStart }) => responseStart ?? null),
      attempts.map(({ error }) => error ?? null),
    ],
  });
}

/** Locks those of these shards that the worker still has: no other one gets them until the commit. */
export async function lockOwnShards(tx: Transaction, workerId: bigint, shards: readonly bigint[]): Promise<Set<bigint>> {
  const { rows } = await tx.query<{ id: bigint }>({
    name: 'own-webhook-shards',
    text: 'select id from webhook_shards where worker_id = $1 and id = any($2::bigint[]) for key share',
    values: [workerId, shards],
  });
  return new Set(rows.map(({ id }) => id));
}

export async function deleteRows(tx: Transaction, workerId: bigint, rows: readonly RowKey[]): Promise<void> {
  await tx.query({
    name: 'delete-exceptions',
    text: `delete from delivery_exceptions using unnest($2::bigint[], $3::bigint[]) as done (webhook_id, delivery_id)
      where delivery_exceptions.webhook_id = done.webhook_id and delivery_exceptions.delivery_id = done.delivery_id
        and ${isOwn('done.webhook_id')}`,
    values: [workerId, ...keysOf(rows)],
  });
}

/** Of a test the row stays, as its result. */
export async function finishTests(tx: Transaction, workerId: bigint, rows: readonly RowKey[]): Promise<void> {
  await tx.query({
    name: 'finish-tests',
    text: `update delivery_exceptions set status = 'delivered', delivered_at = now(), attempt_count = attempt_count + 1
      from unnest($2::bigint[], $3::bigint[]) as done (webhook_id, delivery_id)
      where delivery_exceptions.webhook_id = done.webhook_id and delivery_exceptions.delivery_id = done.delivery_id
        and ${isOwn('done.webhook_id')}`,
    values: [workerId, ...keysOf(rows)],
  });
}

export interface FailedRow extends RowKey {
  /** Whether this was an attempt of the schedule. */
  readonly isScheduled: boolean;
  /** Until the next attempt; undefined: there is none. Ignored if the attempt was not one of the schedule. */
  readonly delaySeconds: number | undefined;
}

export async function updateRows(tx: Transaction, workerId: bigint, rows: readonly FailedRow[]): Promise<void> {
  await tx.query({
    name: 'update-exceptions',
    text: `update delivery_exceptions set attempt_count = attempt_count + 1, retry_count = retry_count + is_scheduled::int,
        status = case when is_scheduled and delay_seconds is null then 'failed' else status end,
        next_attempt_at = case when is_scheduled then now() + make_interval(secs => coalesce(delay_seconds, 0)) else next_attempt_at end
      from unnest($2::bigint[], $3::bigint[], $4::boolean[], $5::float8[]) as result (webhook_id, delivery_id, is_scheduled, delay_seconds)
      where delivery_exceptions.webhook_id = result.webhook_id and delivery_exceptions.delivery_id = result.delivery_id
        and ${isOwn('result.webhook_id')}`,
    values: [workerId, ...keysOf(rows), rows.map(({ isScheduled }) => isScheduled), rows.map(({ delaySeconds }) => delaySeconds ?? null)],
  });
}

export interface NewRow extends RowKey {
  readonly petId: bigint;
  /** When the event was published. */
  readonly createdAt: Date;
  readonly isReplay: boolean;
}

/** Events whose first attempt failed. */
export async function insertFailed(
  tx: Transaction,
  workerId: bigint,
  rows: ReadonlyArray<NewRow & { readonly delaySeconds: number | undefined }>,
): Promise<void> {
  await tx.query({
    name: 'insert-failed-deliveries',
    text: `insert into delivery_exceptions as known
        (webhook_id, delivery_id, pet_id, created_at, is_replay, next_attempt_at, attempt_count, retry_count, status)
      select webhook_id, delivery_id, pet_id, created_at, is_replay, now() + make_interval(secs => coalesce(delay_seconds, 0)), 1, 1,
          case when delay_seconds is null then 'failed' else 'pending' end::delivery_status
        from unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::timestamptz[], $6::boolean[], $7::float8[])
          as row (webhook_id, delivery_id, pet_id, created_at, is_replay, delay_seconds) where ${isOwn('row.webhook_id')}
      on conflict (webhook_id, delivery_id) do update set status = excluded.status, is_replay = excluded.is_replay,
        next_attempt_at = excluded.next_attempt_at, attempt_count = 1, retry_count = 1 where known.status = 'failed'`,
    values: [workerId, ...valuesOf(rows), rows.map(({ delaySeconds }) => delaySeconds ?? null)],
  });
}

/** Events that wait for an earlier one of the same animal, or are due now if that is done meanwhile. */
export async function insertHeld(tx: Transaction, workerId: bigint, rows: readonly NewRow[]): Promise<void> {
  await tx.query({
    name: 'insert-held-deliveries',
    text: `insert into delivery_exceptions as known (webhook_id, delivery_id, pet_id, created_at, is_replay, next_attempt_at)
      select webhook_id, delivery_id, pet_id, created_at, is_replay,
          case when n > 1 or exists (select from delivery_exceptions as earlier where earlier.webhook_id = row.webhook_id
            and earlier.pet_id = row.pet_id and earlier.is_replay = row.is_replay and status = 'pending'
            and earlier.delivery_id < row.delivery_id) then 'infinity' else now() end
        from (select *, row_number() over (partition by webhook_id, pet_id, is_replay order by delivery_id) as n
          from unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::timestamptz[], $6::boolean[])
          as row (webhook_id, delivery_id, pet_id, created_at, is_replay)) as row where ${isOwn('row.webhook_id')}
      on conflict (webhook_id, delivery_id) do update set status = 'pending', is_replay = excluded.is_replay,
        next_attempt_at = excluded.next_attempt_at, attempt_count = 0, retry_count = 0 where known.status = 'failed'`,
    values: [workerId, ...valuesOf(rows)],
  });
}

/** Rows that must wait for an earlier one of the same animal after all. */
export async function holdRows(tx: Transaction, workerId: bigint, rows: readonly RowKey[]): Promise<void> {
  await tx.query({
    name: 'hold-exceptions',
    text: `update delivery_exceptions set next_attempt_at = 'infinity' from unnest($2::bigint[], $3::bigint[]) as held (webhook_id, delivery_id)
      where delivery_exceptions.webhook_id = held.webhook_id and delivery_exceptions.delivery_id = held.delivery_id
        and ${isOwn('held.webhook_id')} and exists (
        select from delivery_exceptions as earlier where earlier.webhook_id = held.webhook_id and earlier.pet_id = delivery_exceptions.pet_id
          and earlier.is_replay = delivery_exceptions.is_replay and earlier.status = 'pending' and earlier.delivery_id < held.delivery_id)`,
    values: [workerId, ...keysOf(rows)],
  });
}

/** Makes the next event of each animal due, if it waits. */
export async function wakeNext(
  tx: Transaction,
  workerId: bigint,
  done: ReadonlyArray<{ readonly webhookId: bigint; readonly petId: bigint; readonly isReplay: boolean }>,
): Promise<void> {
  await tx.query({
    name: 'wake-next-deliveries',
    text: `with next as materialized (
        select done.webhook_id, (select delivery_id from delivery_exceptions as waiting where waiting.webhook_id = done.webhook_id
            and waiting.pet_id = done.pet_id and status = 'pending' and waiting.is_replay = done.is_replay
            order by delivery_id limit 1) as delivery_id
          from unnest($2::bigint[], $3::bigint[], $4::boolean[]) as done (webhook_id, pet_id, is_replay) where ${isOwn('done.webhook_id')})
      update delivery_exceptions set next_attempt_at = now() from next
        where delivery_exceptions.webhook_id = next.webhook_id and delivery_exceptions.delivery_id = next.delivery_id
          and next_attempt_at = 'infinity'`,
    values: [workerId, done.map(({ webhookId }) => webhookId), done.map(({ petId }) => petId), done.map(({ isReplay }) => isReplay)],
  });
}

/** The endpoint has recovered: what waits for its next attempt is due now. */
export async function retryNow(tx: Transaction, workerId: bigint, webhookIds: readonly bigint[]): Promise<void> {
  await tx.query({
    name: 'retry-exceptions-now',
    text: `update delivery_exceptions set next_attempt_at = now()
      where webhook_id = any($2::bigint[]) and status = 'pending' and next_attempt_at > now() and next_attempt_at < 'infinity'
        and ${isOwn('webhook_id')}`,
    values: [workerId, webhookIds],
  });
}

/** Records since when no delivery has succeeded; undefined: the last one did. One that is being changed now is left out. */
export async function updateHealth(
  tx: Transaction,
  workerId: bigint,
  endpoints: ReadonlyArray<{ readonly id: bigint; readonly since: Date | undefined }>,
  failingDaysMax: number,
): Promise<Array<{ id: bigint; isHopeless: boolean }>> {
  const { rows } = await tx.query<{ id: bigint; isHopeless: boolean }>({
    name: 'update-webhook-health',
    text: `with health as materialized (
        select webhooks.id, since from unnest($2::bigint[], $3::timestamptz[]) as health (id, since)
          join webhooks on webhooks.id = health.id ${inOwnShard} ${lockOwn})
      update webhooks set failing_since = case when since is null then null else coalesce(failing_since, since) end
        from health where webhooks.id = health.id
        returning webhooks.id, coalesce(failing_since < now() - make_interval(days => $4), false) as "isHopeless"`,
    values: [workerId, endpoints.map(({ id }) => id), endpoints.map(({ since }) => since ?? null), failingDaysMax],
  });
  return rows;
}

/** Verifies endpoints that accepted a test, unless they have another address by now or are being changed. */
export async function verifyEndpoints(
  tx: Transaction,
  workerId: bigint,
  endpoints: ReadonlyArray<{ readonly id: bigint; readonly url: string }>,
): Promise<void> {
  await tx.query({
    name: 'verify-webhooks',
    text: `with accepted as materialized (
        select webhooks.id from unnest($2::bigint[], $3::text[]) as accepted (id, url)
          join webhooks on webhooks.id = accepted.id ${inOwnShard} where webhooks.url = accepted.url and verified_at is null ${lockOwn})
      update webhooks set verified_at = now(), is_changed = true, revision = revision + 1
        from accepted where webhooks.id = accepted.id`,
    values: [workerId, endpoints.map(({ id }) => id), endpoints.map(({ url }) => url)],
  });
}

const keysOf = (rows: readonly RowKey[]) => [rows.map(({ webhookId }) => webhookId), rows.map(({ deliveryId }) => deliveryId)];

const valuesOf = (rows: readonly NewRow[]) => [
  ...keysOf(rows),
  rows.map(({ petId }) => petId),
  rows.map(({ createdAt }) => createdAt),
  rows.map(({ isReplay }) => isReplay),
];
