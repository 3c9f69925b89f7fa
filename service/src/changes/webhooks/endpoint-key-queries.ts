import type { Db, Transaction } from '../../platform/db/handles.ts';

/** Selects the client's endpoints that belong to this key. With null, those that belong to no key. */
interface OfKey {
  readonly clientId: bigint;
  readonly keyId: bigint | null;
}

const isOfKey = 'client_id = $1 and key_id is not distinct from $2 and removed_at is null';

export interface EnabledWebhook {
  readonly id: bigint;
  /** Null if no key is recorded. */
  readonly keyId: bigint | null;
  readonly url: string;
}

export async function selectEnabledWebhooks(db: Db, clientId: bigint): Promise<EnabledWebhook[]> {
  const { rows } = await db.query<EnabledWebhook>({
    text: `select id, key_id as "keyId", url from webhooks where client_id = $1 and status = 'enabled' and removed_at is null order by id`,
    values: [clientId],
  });
  return rows;
}

/** Returns the ids of the disabled endpoints. */
export async function disableWebhooks(tx: Transaction, { clientId, keyId }: OfKey, reason: string): Promise<bigint[]> {
  const { rows } = await tx.query<{ id: bigint }>({
    text: `update webhooks set status = 'disabled', disabled_reason = $3, updated_at = now()
      where ${isOfKey} and status = 'enabled' returning id`,
    values: [clientId, keyId, reason],
  });
  return idsOf(rows);
}

/** Disables one endpoint of any client. False if it does not exist. */
export async function disableWebhook(tx: Transaction, id: bigint, reason: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: `update webhooks set status = 'disabled', disabled_reason = $2, updated_at = now() where id = $1 and removed_at is null`,
    values: [id, reason],
  });
  return rowCount === 1;
}

/** Enables one endpoint of any client. If its key has ended, it belongs to no key afterwards. False if it does not exist. */
export async function enableWebhook(tx: Transaction, id: bigint): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: `update webhooks set status = 'enabled', disabled_reason = null, failing_since = null, updated_at = now(),
        key_id = (select api_keys.id from api_keys where api_keys.id = key_id and revoked_at is null and (expires_at is null or expires_at > now()))
      where id = $1 and removed_at is null`,
    values: [id],
  });
  return rowCount === 1;
}

/** Disables endpoints that were not changed after `at`, with a minute of tolerance for clock skew. Returns how many. */
export async function disableWebhooksFromBefore(tx: Transaction, ids: readonly bigint[], reason: string, at: Date): Promise<number> {
  const { rowCount } = await tx.query({
    text: `update webhooks set status = 'disabled', disabled_reason = $2, updated_at = now()
      where id = any($1::bigint[]) and removed_at is null and updated_at <= $3::timestamptz + interval '1 minute'`,
    values: [ids, reason, at],
  });
  return rowCount ?? 0;
}

/** Leaves the endpoints of a key without an owner. */
export async function detachWebhooksFromKey(tx: Transaction, keyId: bigint): Promise<void> {
  await tx.query({ text: 'update webhooks set key_id = null where key_id = $1', values: [keyId] });
}

/** Includes disabled endpoints, so that they belong to the successor when they are enabled later. */
export async function handOverWebhooks(tx: Transaction, keyId: bigint, successorId: bigint): Promise<bigint[]> {
  const { rows } = await tx.query<{ id: bigint }>({
    text: `update webhooks set key_id = $2 where key_id = $1 and removed_at is null returning id`,
    values: [keyId, successorId],
  });
  return idsOf(rows);
}

const idsOf = (rows: ReadonlyArray<{ id: bigint }>): bigint[] => rows.map(({ id }) => id).sort((a, b) => (a < b ? -1 : 1));

// Endpoints of revoked keys are excluded: those that are still enabled were kept on purpose when the key was revoked.
const isExpired = (key: string) => `${key}.revoked_at is null and ${key}.expires_at <= now()`;
const isRecent = `($1::float8 is null or old.expires_at > now() - make_interval(secs => $1))`;

/** Hands the endpoints over to the last successor of the key, if that is valid. */
export async function handOverWebhooksOfExpiredKeys(tx: Transaction, sinceSeconds: number | undefined): Promise<void> {
  await tx.query({
    text: `with recursive line (first, last) as (
        select old.id, old.replaced_by from api_keys old where ${isExpired('old')} and ${isRecent} and old.replaced_by is not null
          and exists (select from webhooks where key_id = old.id)
        union all select first, next.replaced_by from line join api_keys next on next.id = last where next.replaced_by is not null),
      heir as (
        select first, last from (select first, max(last) as last from line group by first) as ends join api_keys on api_keys.id = last
          where revoked_at is null and (expires_at is null or expires_at > now()))
      update webhooks set key_id = last from heir where key_id = first`,
    values: [sinceSeconds ?? null],
  });
}

/** Disables the endpoints of expired keys that have no valid successor. Call handOverWebhooksOfExpiredKeys first. */
export async function disableWebhooksOfExpiredKeys(
  tx: Transaction,
  sinceSeconds: number | undefined,
): Promise<Array<{ id: bigint; clientId: bigint; reason: string }>> {
  const { rows } = await tx.query<{ id: bigint; clientId: bigint; reason: string }>({
    text: `update webhooks set status = 'disabled', updated_at = now(),
        disabled_reason = format('Key %s, which set up this endpoint, expired and has no valid successor.', old.id)
      from api_keys old where key_id = old.id and status = 'enabled' and removed_at is null
        and ${isExpired('old')} and ${isRecent}
      returning webhooks.id, webhooks.client_id as "clientId", disabled_reason as reason`,
    values: [sinceSeconds ?? null],
  });
  return rows;
}
