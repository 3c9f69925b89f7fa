import { type Db, recentTransactionOf, type Transaction, type Writer } from '../../platform/db/handles.ts';

export interface StoredResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const retention = "interval '24 hours'";

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
  /** The shelter that the request's key was bound to; 0n: none. */
  readonly shelterId: bigint;
  /** The transaction that stored it. Null if that was long ago: its changes are in every list by now. */
  readonly transactionId: string | null;
}

/**
 * Locks the row, which writes to the log of the server: so the commit waits for the standby, and a response is not repeated before the
 * standby has what it says.
 */
export async function lockResponse(tx: Transaction, clientId: bigint, key: string): Promise<FoundResponse | undefined> {
  const { rows } = await tx.query<FoundResponse>({
    name: 'idempotent-answer',
    text: `select fingerprint, shelter_id as "shelterId", status, headers, body,
        ${recentTransactionOf('idempotent_answers', 'created_at')} as "transactionId"
      from idempotent_answers where client_id = $1 and key = $2 and created_at > now() - ${retention} for key share`,
    values: [clientId, key],
  });
  return rows[0];
}

/** Those of the keys that have a stored response. */
export async function selectStoredKeys<Key extends { readonly clientId: bigint; readonly key: string }>(
  db: Db,
  keys: readonly Key[],
): Promise<Key[]> {
  const { rows } = await db.query<{ n: bigint }>({
    name: 'stored-idempotency-keys',
    text: `select n from unnest($1::bigint[], $2::text[]) with ordinality as asked(client_id, key, n)
      cross join lateral (select from idempotent_answers stored
        where stored.client_id = asked.client_id and stored.key = asked.key and created_at > now() - ${retention} limit 1) found`,
    values: [keys.map(({ clientId }) => clientId), keys.map(({ key }) => key)],
  });
  return rows.flatMap(({ n }) => keys[Number(n) - 1] ?? []);
}

/** Replaces a response that has expired but is not deleted yet. */
export async function insertResponse(
  tx: Transaction,
  response: StoredResponse & {
    clientId: bigint;
    key: string;
    fingerprint: string;
    shelterId: bigint;
    orderId?: bigint | undefined;
    applicationId?: bigint | undefined;
  },
): Promise<void> {
  await tx.query({
    name: 'insert-idempotent-answer',
    text: `insert into idempotent_answers (client_id, key, fingerprint, shelter_id, order_id, status, headers, body, application_id)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      on conflict (client_id, key) do update set fingerprint = excluded.fingerprint, shelter_id = excluded.shelter_id, created_at = now(), order_id = excluded.order_id,
        status = excluded.status, headers = excluded.headers, body = excluded.body, application_id = excluded.application_id`,
    values: [
      response.clientId,
      response.key,
      response.fingerprint,
      response.shelterId,
      response.orderId ?? null,
      response.status,
      response.headers,
      response.body,
      response.applicationId ?? null,
    ],
  });
}

/** Deletes expired responses, at most `batchSizeMax`, and returns how many. */
export async function deleteOldResponses(db: Writer, batchSizeMax: number): Promise<number> {
  const { rowCount } = await db.write({
    name: 'sweep-idempotent-answers',
    text: `with old as materialized (
        select client_id, key from idempotent_answers where created_at <= now() - ${retention} order by created_at limit $1 for update skip locked)
      delete from idempotent_answers where (client_id, key) in (select client_id, key from old)`,
    values: [batchSizeMax],
  });
  return rowCount ?? 0;
}

/** Retries still get their stored response, without the adopter. Returns the number of changed responses. */
export async function eraseAdoptersFromResponses(tx: Transaction, orderIds: readonly bigint[]): Promise<number> {
  const { rowCount } = await tx.query({
    text: `update idempotent_answers set body = jsonb_set(body::jsonb, '{adopter}', 'null')::text where order_id = any($1::bigint[])`,
    values: [orderIds],
  });
  return rowCount ?? 0;
}

/**
 * The same for applications: also without what the adopter has answered, and what staff have written about them. After an adoption name
 * and e-mail address stay.
 */
export async function eraseApplicantsFromResponses(
  tx: Transaction,
  applicationIds: readonly bigint[],
  { keepsAddress }: { readonly keepsAddress: boolean },
): Promise<number> {
  const { rowCount } = await tx.query({
    text: `update idempotent_answers set body = (body::jsonb || '{"answers":null,"message":null}'
        || case when body::jsonb ? 'note' then '{"note":null}'::jsonb else '{}' end
        || case when not $2::boolean then '{"adopter":null}'::jsonb when body::jsonb -> 'adopter' = 'null' then '{}'
          else jsonb_build_object('adopter', (body::jsonb -> 'adopter') || '{"phone":null}') end)::text
      where application_id = any($1::bigint[])`,
    values: [applicationIds, keepsAddress],
  });
  return rowCount ?? 0;
}
