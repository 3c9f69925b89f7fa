import type { Db, Transaction, Writer } from '../../platform/db/handles.ts';
import type { NewWebhook, Webhook } from './webhook-schemas.ts';

/** Selects the endpoints of one client, or of any client for the operator's commands. */
export type Owner = { readonly clientId: bigint } | 'any';

const columns = `id, url, types, shelter_ids as "shelterIds", category_ids as "categoryIds", description,
  case when status = 'enabled' and verified_at is null then 'unverified' else status::text end as status,
  disabled_reason as "disabledReason", failing_since as "failingSince", created_at as "createdAt", updated_at as "updatedAt"`;

interface ListedWebhook extends Webhook {
  readonly clientId: bigint;
  readonly keyId: bigint | null;
  /** When the first event that it may still have to get was published; null: it is not behind. */
  readonly behindSince: Date | null;
}

/** One keyset page. */
export async function selectWebhooks(db: Db, owner: Owner, page: { afterId: bigint | undefined; limit: number }): Promise<ListedWebhook[]> {
  const { rows } = await db.query<ListedWebhook>({
    name: 'webhooks',
    text: `select ${columns}, client_id as "clientId", key_id as "keyId",
        (select published_at from events where events.position > webhooks.position order by events.position limit 1) as "behindSince"
      from webhooks
      where ($1::bigint is null or client_id = $1) and id > $2 and removed_at is null order by id limit $3`,
    values: [clientOf(owner), page.afterId ?? 0n, page.limit],
  });
  return rows;
}

/** Includes fields that are not shown to clients. */
export interface OwnedWebhook extends Webhook {
  readonly withOrders: boolean;
  /** Whether the key that it belongs to is revoked or expired. */
  readonly isKeyEnded: boolean;
  /** How often it was disabled or suspended while deliveries from before were still queued. */
  readonly pauseCount: number;
}

export async function findWebhook(db: Db, owner: Owner, id: bigint): Promise<OwnedWebhook | undefined> {
  const { rows } = await db.query<OwnedWebhook>({
    name: 'webhook',
    text: `select ${columns}, with_orders as "withOrders", (select count(*) from unnest(skipped))::int as "pauseCount", exists (select from api_keys
        where api_keys.id = key_id and (revoked_at is not null or expires_at <= now())) as "isKeyEnded"
      from webhooks where id = $1 and ($2::bigint is null or client_id = $2) and removed_at is null`,
    values: [id, clientOf(owner)],
  });
  return rows[0];
}

/** Locks the endpoint until the transaction ends. */
export async function lockWebhook(tx: Transaction, id: bigint): Promise<void> {
  await tx.query({ name: 'lock-webhook', text: 'select from webhooks where id = $1 for no key update', values: [id] });
}

/** Locks the client first, so that of two concurrent requests the second counts what the first has added. */
export async function countWebhooks(tx: Transaction, clientId: bigint): Promise<number> {
  await tx.query({ name: 'lock-client', text: 'select from clients where id = $1 for no key update', values: [clientId] });
  const { rows } = await tx.query<{ count: bigint }>({
    name: 'count-webhooks',
    text: 'select count(*) from webhooks where client_id = $1 and removed_at is null',
    values: [clientId],
  });
  return Number(rows[0]?.count ?? 0);
}

export async function insertWebhook(
  tx: Transaction,
  webhook: NewWebhook & { clientId: bigint; keyId: bigint; withOrders: boolean; secret: string },
): Promise<Webhook> {
  const { rows } = await tx.query<Webhook>({
    name: 'insert-webhook',
    text: `insert into webhooks (client_id, key_id, url, types, description, with_orders, secret, shelter_ids, category_ids)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      returning ${columns}`,
    values: [
      webhook.clientId,
      webhook.keyId,
      webhook.url,
      webhook.types ?? [],
      webhook.description ?? '',
      webhook.withOrders,
      webhook.secret,
      webhook.shelterIds ?? [],
      webhook.categoryIds ?? [],
    ],
  });
  const [inserted] = rows;
  if (!inserted) throw new Error('an insert returned no row');
  return inserted;
}

/** Undefined: each of them exists. */
export async function findMissingShelter(tx: Transaction, ids: readonly bigint[]): Promise<bigint | undefined> {
  const { rows } = await tx.query<{ id: bigint }>({
    name: 'missing-shelter',
    text: 'select id from unnest($1::bigint[]) as wanted (id) where not exists (select from shelters where shelters.id = wanted.id) limit 1',
    values: [ids],
  });
  return rows[0]?.id;
}

/** Undefined fields stay unchanged. Setting a status clears disabled_reason. */
export async function updateWebhook(
  tx: Transaction,
  id: bigint,
  changes: {
    url: string | undefined;
    types: readonly string[] | undefined;
    shelterIds: readonly bigint[] | undefined;
    categoryIds: readonly bigint[] | undefined;
    description: string | undefined;
    status: 'enabled' | 'disabled' | undefined;
    /** The new owner; undefined if it does not change. */
    owner: { readonly keyId: bigint; readonly withOrders: boolean } | undefined;
  },
): Promise<Webhook | undefined> {
  const { rows } = await tx.query<Webhook>({
    name: 'update-webhook',
    text: `update webhooks set updated_at = now(), url = coalesce($2, url), types = coalesce($3, types),
        shelter_ids = coalesce($8, shelter_ids), category_ids = coalesce($9, category_ids), description = coalesce($4, description),
        status = coalesce($5, status), key_id = coalesce($6, key_id), with_orders = coalesce($7, with_orders),
        disabled_reason = case when $5 is null then disabled_reason end, failing_since = case when $5 = 'enabled' then null else failing_since end
      where id = $1 and removed_at is null returning ${columns}`,
    values: [
      id,
      changes.url ?? null,
      changes.types ?? null,
      changes.description ?? null,
      changes.status ?? null,
      changes.owner?.keyId ?? null,
      changes.owner?.withOrders ?? null,
      changes.shelterIds ?? null,
      changes.categoryIds ?? null,
    ],
  });
  return rows[0];
}

/** Deliveries are also signed with the old secret for a day. */
export async function replaceSecret(tx: Transaction, owner: Owner, id: bigint, secret: string): Promise<Webhook | undefined> {
  const { rows } = await tx.query<Webhook>({
    name: 'replace-webhook-secret',
    text: `update webhooks set updated_at = now(), previous_secret = secret, previous_secret_until = now() + interval '24 hours', secret = $3
      where id = $1 and ($2::bigint is null or client_id = $2) and removed_at is null returning ${columns}`,
    values: [id, clientOf(owner), secret],
  });
  return rows[0];
}

/** False if the endpoint does not exist. Deletes its secrets; queued deliveries are not sent. */
export async function markRemoved(db: Writer, owner: Owner, id: bigint): Promise<boolean> {
  const { rowCount } = await db.write({
    name: 'remove-webhook',
    text: `update webhooks set removed_at = now(), status = 'disabled', secret = '', previous_secret = null
      where id = $1 and ($2::bigint is null or client_id = $2) and removed_at is null`,
    values: [id, clientOf(owner)],
  });
  return rowCount === 1;
}

/** Lets the worker read the endpoint and its queued deliveries again. */
export async function notifyWorker(tx: Transaction, id: bigint): Promise<void> {
  await tx.query({
    name: 'notify-webhook-worker',
    text: 'update webhooks set is_changed = true, revision = revision + 1 where id = $1',
    values: [id],
  });
}

interface FailingWebhook {
  readonly id: bigint;
  readonly clientId: bigint;
  readonly failingSince: Date;
}

export async function selectFailing(db: Db, limit: number): Promise<FailingWebhook[]> {
  const { rows } = await db.query<FailingWebhook>({
    text: `select id, client_id as "clientId", failing_since as "failingSince" from webhooks
      where status = 'enabled' and failing_since < now() - interval '1 day' order by failing_since limit $1`,
    values: [limit],
  });
  return rows;
}

const clientOf = (owner: Owner) => (owner === 'any' ? null : owner.clientId);
