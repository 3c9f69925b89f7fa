import { type Db, rowOf, rowsOf, type Transaction } from '../../platform/db/handles.ts';
import { applicationNames } from '../../platform/db/postgres-servers.ts';

export const isInRecovery = async (db: Db): Promise<boolean> =>
  (await rowOf<{ isIn: boolean }>(db)`select pg_is_in_recovery() as "isIn"`).isIn;

/** Whether this login has the rights of the tables' owner that a restore needs. */
export const mayRestore = async (db: Db): Promise<boolean> =>
  (
    await rowOf<{ may: boolean }>(db)`select bool_and(has_table_privilege(name, 'update')) as may
    from unnest(array['deployment', 'feed', 'webhooks', 'webhook_shards']) as name`
  ).may;

interface Deployment {
  /** The prefix of everything in Redis. */
  readonly id: string;
  /** The server on which the feed's positions were assigned; null: not known. */
  readonly server: string | null;
}

/** Other transactions that lock it wait for the end of this one. */
export const lockDeployment = (tx: Transaction) => rowOf<Deployment>(tx)`select id, server from deployment for update`;

export async function storeServer(tx: Transaction, server: string | null): Promise<void> {
  await tx.query({ text: 'update deployment set server = $1', values: [server] });
}

/** Nothing in Redis from before is read any more. */
export async function replaceDeploymentId(tx: Transaction): Promise<void> {
  await tx.query({ text: `update deployment set id = substr(replace(gen_random_uuid()::text, '-', ''), 1, 12)` });
}

/** What was assigned since the backup is not assigned again. */
export async function skipAssignedIds(tx: Transaction, server: string | null): Promise<void> {
  await tx.query({ text: 'select skip_ids()' });
  await tx.query({ text: 'update deployment set ids_server = $1', values: [server] });
}

/** Those that were ended or used in the time that is lost would be valid again. Everybody has to sign in, or to be invited, again. */
export async function endAllSignIns(tx: Transaction): Promise<void> {
  await tx.query({ text: 'delete from sessions' });
  await tx.query({ text: 'delete from person_links' });
  await tx.query({ text: 'update people set invited_until = now() where invited_until > now()' });
  await tx.query({
    text: 'update people set raised_role = null, raised_shelter_id = null, raised_until = null, raised_by = null where raised_role is not null',
  });
}

export interface Connected {
  readonly pid: number;
  readonly user: string;
  /** Null: a Unix socket, or the login may not see it. */
  readonly address: string | null;
}

/** Connections of the store's processes and commands to this database, except those that look after one. */
export const findConnected = (db: Db) =>
  rowsOf<Connected>(db)`select pid, coalesce(usename, '?') as user, host(client_addr) as address from pg_stat_activity
      where datname = current_database() and application_name = any(${Object.values(applicationNames)}) order by pid`;

/** Every cursor of the feed is too old from now on. */
export async function expireCursors(tx: Transaction): Promise<void> {
  await tx.query({ text: `update feed set first_position = last_position + 1, gaps = '{}'` });
}

/**
 * Gives each endpoint that shares the cursor of its shard its own, so that it still gets what was published up to `from` and was not
 * sent. Then moves the shards to the end of the feed. Returns the number of such endpoints.
 */
export async function moveShardsOn(tx: Transaction, { from, to }: { readonly from: bigint; readonly to: bigint }): Promise<number> {
  const { rowCount } = await tx.query({
    text: `update webhooks set position = webhook_shards.position from webhook_shards
      where webhook_shards.id = shard and webhooks.position is null and removed_at is null and webhook_shards.position < $1`,
    values: [from],
  });
  await tx.query({ text: 'update webhook_shards set position = $1, worker_id = null, moved_at = now()', values: [to] });
  return rowCount ?? 0;
}
