import type { Db, Transaction } from '../db/handles.ts';

export interface StoredResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const retention = "interval '24 hours'";
/** Longer than a transaction and a cached page together. */
const recent = "interval '1 minute'";

/** Takes a lock until the transaction ends. False at once if another request has it: a retry doesn't wait for the first. */
export async function tryLockKey(tx: Transaction, clientId: bigint, key: string): Promise<boolean> {
  const { rows } = await tx.query<{ locked: boolean }>({
    name: 'lock-idempotency-key',
    text: `select pg_try_advisory_xact_lock(hashtextextended($2, $1)) as locked`,
    values: [clientId, key],
  });
  return rows[0]?.locked ?? false;
}

interface FoundResponse extends StoredResponse {
  readonly fingerprint: string;
  /** The transaction that stored it. Null if that was long ago: its changes are in every list by now. */
  readonly transactionId: string | null;
}

export async function findResponse(tx: Transaction, clientId: bigint, key: string): Promise<FoundResponse | undefined> {
  const { rows } = await tx.query<FoundResponse>({
    name: 'idempotent-answer',
    text: `select fingerprint, status, headers, body, case when created_at > now() - ${recent} then xmin::text end as "transactionId"
      from idempotent_answers where client_id = $1 and key = $2 and created_at > now() - ${retention}`,
    values: [clientId, key],
  });
  return rows[0];
}

/** Replaces a response that has expired but is not deleted yet. */
export async function insertResponse(
  tx: Transaction,
  response: StoredResponse & { clientId: bigint; key: string; fingerprint: string; orderId: bigint | undefined },
): Promise<void> {
  await tx.query({
    name: 'insert-idempotent-answer',
    text: `insert into idempotent_answers (client_id, key, fingerprint, order_id, status, headers, body) values ($1, $2, $3, $4, $5, $6, $7)
      on conflict (client_id, key) do update set fingerprint = excluded.fingerprint, created_at = now(), order_id = excluded.order_id,
        status = excluded.status, headers = excluded.headers, body = excluded.body`,
    values: [
      response.clientId,
      response.key,
      response.fingerprint,
      response.orderId ?? null,
      response.status,
      response.headers,
      response.body,
    ],
  });
}

/** Deletes expired responses, at most `batchSizeMax`, and returns how many. */
export async function deleteOldResponses(db: Db, batchSizeMax: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'sweep-idempotent-answers',
    text: `with old as materialized (
        select client_id, key from idempotent_answers where created_at <= now() - ${retention} order by created_at limit $1 for update skip locked)
      delete from idempotent_answers where (client_id, key) in (select client_id, key from old)`,
    values: [batchSizeMax],
  });
  return rowCount ?? 0;
}

export async function nullAdopters(tx: Transaction, orderIds: readonly bigint[]): Promise<number> {
  const { rowCount } = await tx.query({
    text: `update idempotent_answers set body = jsonb_set(body::jsonb, '{adopter}', 'null')::text where order_id = any($1::bigint[])`,
    values: [orderIds],
  });
  return rowCount ?? 0;
}
