import type { Db, Transaction, Writer } from '../../platform/db/handles.ts';

/**
 * The fence of a worker. Every statement by which it changes endpoints, their deliveries or cursors has the number of its lease as $1,
 * and changes only what belongs to a shard that has this number: by `inOwnShard` where it joins endpoints, elsewhere by `isOwn`. The
 * number only grows, so a worker that was suspended until its lease expired changes nothing when it continues.
 */
export const inOwnShard = 'join webhook_shards on webhook_shards.id = webhooks.shard and worker_id = $1';
export const isOwn = (webhookId: string) =>
  `exists (select from webhooks as fenced join webhook_shards on webhook_shards.id = fenced.shard where fenced.id = ${webhookId} and worker_id = $1)`;

/** Until the commit no other worker gets the shard. An endpoint that is being changed is left out. */
export const lockOwn = 'for no key update of webhooks skip locked for key share of webhook_shards';

/** A worker's lease on its shards. Its id is the number of the lease: after the lease has expired, the worker gets another. */
export async function insertWorker(db: Writer, leaseSeconds: number): Promise<Lease> {
  const { rows } = await db.write<Lease>({
    name: 'insert-webhook-worker',
    text: `insert into webhook_workers (expires_at) values (now() + make_interval(secs => $1)) returning id, expires_at::text as "expiresAt"`,
    values: [leaseSeconds],
  });
  const [inserted] = rows;
  if (!inserted) throw new Error('an insert returned no row');
  return inserted;
}

interface Lease {
  readonly id: bigint;
  readonly expiresAt: string;
}

/** Returns when it expires then; undefined if it has expired, or is not the one that was stored: other workers may have its shards. */
export async function extendLease(db: Writer, { id, expiresAt }: Lease, leaseSeconds: number): Promise<string | undefined> {
  const { rows } = await db.write<{ expiresAt: string }>({
    name: 'extend-webhook-lease',
    text: `update webhook_workers set expires_at = now() + make_interval(secs => $3)
      where id = $1 and expires_at = $2::timestamptz and expires_at > now() returning expires_at::text as "expiresAt"`,
    values: [id, expiresAt, leaseSeconds],
  });
  return rows[0]?.expiresAt;
}

/** Frees the worker's shards. */
export async function deleteWorker(db: Writer, workerId: bigint): Promise<void> {
  await db.write({ name: 'delete-webhook-worker', text: 'delete from webhook_workers where id = $1', values: [workerId] });
}

/** Deletes the rows of workers that ended long ago without deleting them. */
export async function deleteExpiredWorkers(db: Writer): Promise<void> {
  await db.write({
    name: 'delete-expired-webhook-workers',
    text: `delete from webhook_workers where expires_at < now() - interval '1 hour'`,
  });
}

interface ShardOwner {
  readonly id: bigint;
  readonly isFree: boolean;
  readonly isOwn: boolean;
}

/** All shards, and the number of workers with a valid lease. */
export async function selectShards(db: Db, workerId: bigint): Promise<{ shards: ShardOwner[]; workers: number }> {
  const { rows } = await db.query<ShardOwner & { workers: bigint }>({
    name: 'webhook-shards',
    text: `with live as materialized (select id from webhook_workers where expires_at > now())
      select webhook_shards.id, live.id is null as "isFree", live.id is not distinct from $1 as "isOwn", (select count(*) from live) as workers
        from webhook_shards left join live on live.id = worker_id order by webhook_shards.id`,
    values: [workerId],
  });
  return { shards: rows, workers: Number(rows[0]?.workers ?? 1) };
}

export interface AcquiredShard {
  readonly id: bigint;
  readonly position: bigint;
}

/** Takes those of the shards that are still free, or that the worker has already. */
export async function acquireShards(db: Writer, workerId: bigint, ids: readonly bigint[]): Promise<AcquiredShard[]> {
  const { rows } = await db.write<AcquiredShard>({
    name: 'acquire-webhook-shards',
    text: `with free as materialized (
        select webhook_shards.id from webhook_shards where id = any($2::bigint[])
          and (worker_id = $1 or not exists (select from webhook_workers where webhook_workers.id = worker_id and expires_at > now()))
          for update skip locked)
      update webhook_shards set worker_id = $1 from free where webhook_shards.id = free.id
        returning webhook_shards.id, position`,
    values: [workerId, ids],
  });
  return rows;
}

export async function releaseShards(db: Writer, workerId: bigint, ids: readonly bigint[]): Promise<void> {
  await db.write({
    name: 'release-webhook-shards',
    text: 'update webhook_shards set worker_id = null where worker_id = $1 and id = any($2::bigint[])',
    values: [workerId, ids],
  });
}

/** An expression: never beyond the feed, which has lost its last events if a standby that lacked them has taken over. */
const withinFeed = 'least(moved.position, (select last_position from feed))';

/** Moves the cursors of shards forward, if this worker still has them. */
export async function moveShards(
  tx: Transaction,
  workerId: bigint,
  shards: ReadonlyArray<{ readonly id: bigint; readonly position: bigint }>,
): Promise<void> {
  await tx.query({
    name: 'move-webhook-shards',
    text: `update webhook_shards set position = ${withinFeed}, moved_at = now()
      from unnest($2::bigint[], $3::bigint[]) as moved (id, position)
      where webhook_shards.id = moved.id and worker_id = $1 and webhook_shards.position <= ${withinFeed}`,
    values: [workerId, shards.map(({ id }) => id), shards.map(({ position }) => position)],
  });
}

/** Gives endpoints their own cursors. Returns those that have them; one that was changed meanwhile must be read again first. */
export async function moveEndpoints(
  tx: Transaction,
  workerId: bigint,
  endpoints: ReadonlyArray<{ readonly id: bigint; readonly position: bigint }>,
): Promise<Set<bigint>> {
  if (endpoints.length === 0) return new Set();
  const { rows } = await tx.query<{ id: bigint }>({
    name: 'move-webhooks',
    text: `with moved as materialized (
        select webhooks.id, ${withinFeed} as position from unnest($2::bigint[], $3::bigint[]) as moved (id, position)
          join webhooks on webhooks.id = moved.id ${inOwnShard}
          where not is_changed ${lockOwn})
      update webhooks set position = moved.position from moved where webhooks.id = moved.id returning webhooks.id`,
    values: [workerId, endpoints.map(({ id }) => id), endpoints.map(({ position }) => position)],
  });
  return new Set(rows.map(({ id }) => id));
}

/** Lets endpoints share the cursors of their shards, if those are past their `floor`. Returns those that do. */
export async function joinEndpoints(
  tx: Transaction,
  workerId: bigint,
  endpoints: ReadonlyArray<{ readonly id: bigint; readonly floor: bigint }>,
): Promise<Set<bigint>> {
  if (endpoints.length === 0) return new Set();
  const { rows } = await tx.query<{ id: bigint }>({
    name: 'join-webhooks',
    text: `with joined as materialized (
        select webhooks.id from unnest($2::bigint[], $3::bigint[]) as joining (id, floor)
          join webhooks on webhooks.id = joining.id ${inOwnShard}
          where not is_changed and webhook_shards.position >= joining.floor ${lockOwn})
      update webhooks set position = null, skipped = '{}' from joined where webhooks.id = joined.id returning webhooks.id`,
    values: [workerId, endpoints.map(({ id }) => id), endpoints.map(({ floor }) => floor)],
  });
  return new Set(rows.map(({ id }) => id));
}

/** Moves replays forward. One that is done (`position` has reached its end) is deleted. */
export async function moveReplays(
  tx: Transaction,
  workerId: bigint,
  replays: ReadonlyArray<{ readonly webhookId: bigint; readonly position: bigint }>,
): Promise<void> {
  const ids = replays.map(({ webhookId }) => webhookId);
  await tx.query({
    name: 'move-webhook-replays',
    text: `update webhook_replays set position = moved.position from unnest($2::bigint[], $3::bigint[]) as moved (id, position)
      where webhook_id = moved.id and webhook_replays.position < moved.position and ${isOwn('webhook_id')}`,
    values: [workerId, ids, replays.map(({ position }) => position)],
  });
  await tx.query({
    name: 'end-webhook-replays',
    text: `delete from webhook_replays where webhook_id = any($2::bigint[]) and position >= to_position and ${isOwn('webhook_id')}`,
    values: [workerId, ids],
  });
}
