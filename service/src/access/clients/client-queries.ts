import type { Scope } from '../../domain/scopes.ts';
import type { Db, Transaction, Writer } from '../../platform/db/handles.ts';
import type { PlanName } from '../rate-limit/plans.ts';

export interface Client {
  readonly id: bigint;
  readonly name: string;
  readonly plan: PlanName;
  readonly perMinute: number | null;
  readonly perDay: number | null;
  /** Custom limits of an enterprise client; null: the plan's. */
  readonly openOrdersMax: number | null;
  readonly newCategoriesMax: number | null;
  readonly suspendedAt: Date | null;
  readonly createdAt: Date;
}

/** A client's plan, with its custom limits if the plan is enterprise. */
export type Terms = Pick<Client, 'plan' | 'perMinute' | 'perDay'> & Partial<Pick<Client, 'openOrdersMax' | 'newCategoriesMax'>>;

export interface ApiKey {
  readonly id: bigint;
  readonly clientId: bigint;
  /** The shelter that the key is bound to; null: none. */
  readonly shelterId: bigint | null;
  readonly hint: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly replacedBy: bigint | null;
}

const clientColumns = `clients.id, clients.name, plan, per_minute as "perMinute", per_day as "perDay", open_orders_max as "openOrdersMax",
  new_categories_max as "newCategoriesMax", suspended_at as "suspendedAt", clients.created_at as "createdAt"`;
const keyColumns = `api_keys.id, client_id as "clientId", shelter_id as "shelterId", hint, scopes, api_keys.created_at as "createdAt",
  expires_at as "expiresAt", revoked_at as "revokedAt", replaced_by as "replacedBy"`;

export async function findClientByName(db: Db, name: string): Promise<Client | undefined> {
  const { rows } = await db.query<Client>({ text: `select ${clientColumns} from clients where name = $1`, values: [name] });
  return rows[0];
}

export async function lockClientByName(tx: Transaction, name: string): Promise<Client | undefined> {
  const { rows } = await tx.query<Client>({
    text: `select ${clientColumns} from clients where name = $1 for no key update`,
    values: [name],
  });
  return rows[0];
}

export async function findClient(db: Db, id: bigint): Promise<Client | undefined> {
  const { rows } = await db.query<Client>({ name: 'client', text: `select ${clientColumns} from clients where id = $1`, values: [id] });
  return rows[0];
}

/** The names of clients, by id. */
export async function findClientNames(db: Db, ids: readonly bigint[]): Promise<Map<bigint, string>> {
  const { rows } = await db.query<{ id: bigint; name: string }>({
    text: 'select id, name from clients where id = any($1::bigint[])',
    values: [ids],
  });
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Undefined if a client of that name was created in the meantime. */
export async function insertClient(db: Writer, client: Terms & { name: string }): Promise<Client | undefined> {
  const { rows } = await db.write<Client>({
    text: `insert into clients (name, plan, per_minute, per_day, open_orders_max, new_categories_max) values ($1, $2, $3, $4, $5, $6)
      on conflict (name) do nothing returning ${clientColumns}`,
    values: [client.name, client.plan, client.perMinute, client.perDay, client.openOrdersMax ?? null, client.newCategoriesMax ?? null],
  });
  return rows[0];
}

export async function updatePlan(db: Writer, id: bigint, terms: Terms): Promise<Client | undefined> {
  const { rows } = await db.write<Client>({
    text: `update clients set plan = $2, per_minute = $3, per_day = $4, open_orders_max = $5, new_categories_max = $6 where id = $1
      returning ${clientColumns}`,
    values: [id, terms.plan, terms.perMinute, terms.perDay, terms.openOrdersMax ?? null, terms.newCategoriesMax ?? null],
  });
  return rows[0];
}

/** A page of clients, each with the number of its valid keys. */
export async function listClients(db: Db, after: bigint, limit: number): Promise<Array<Client & { keys: number }>> {
  const { rows } = await db.query<Client & { keys: number }>({
    text: `select ${clientColumns},
        (select count(*)::int from api_keys where client_id = clients.id and revoked_at is null and (expires_at is null or expires_at > now())) as keys
      from clients where id > $1 order by id limit $2`,
    values: [after, limit],
  });
  return rows;
}

export async function insertKey(
  db: Writer,
  key: { clientId: bigint; shelterId: bigint | null; hash: string; hint: string; scopes: readonly Scope[]; expiresAt: Date | null },
): Promise<ApiKey> {
  const { rows } = await db.write<ApiKey>({
    text: `insert into api_keys (client_id, hash, hint, scopes, expires_at, shelter_id) values ($1, decode($2, 'hex'), $3, $4, $5, $6)
      returning ${keyColumns}`,
    values: [key.clientId, key.hash, key.hint, key.scopes, key.expiresAt, key.shelterId],
  });
  const [inserted] = rows;
  if (!inserted) throw new Error('an insert returned no row');
  return inserted;
}

export async function findKey(db: Db, id: bigint): Promise<ApiKey | undefined> {
  const { rows } = await db.query<ApiKey>({ text: `select ${keyColumns} from api_keys where id = $1`, values: [id] });
  return rows[0];
}

export async function lockKey(db: Writer, id: bigint): Promise<ApiKey | undefined> {
  const { rows } = await db.write<ApiKey>({ text: `select ${keyColumns} from api_keys where id = $1 for update`, values: [id] });
  return rows[0];
}

/** A key with what staff need to know about its client. */
export interface ListedKey extends ApiKey {
  readonly client: string;
  readonly plan: PlanName;
  readonly suspendedAt: Date | null;
}

/** A page of keys: of one client, or of all. */
export async function listKeys(db: Db, filter: { clientId: bigint | undefined; after: bigint; limit: number }): Promise<ListedKey[]> {
  const ofClient = filter.clientId === undefined ? '' : 'and client_id = $3';
  const { rows } = await db.query<ListedKey>({
    // The client's columns are looked up for the page only.
    text: `select page.*, name as client, plan, suspended_at as "suspendedAt"
      from (select ${keyColumns} from api_keys where id > $1 ${ofClient} order by id limit $2) as page
        join clients on clients.id = "clientId" order by page.id`,
    values: [filter.after, filter.limit, ...(filter.clientId === undefined ? [] : [filter.clientId])],
  });
  return rows;
}

/** Returns when the replaced key expires. */
export async function replaceKey(db: Writer, id: bigint, successor: bigint, overlapSeconds: number): Promise<Date> {
  const { rows } = await db.write<{ expiresAt: Date }>({
    text: `update api_keys set replaced_by = $2, expires_at = least(expires_at, now() + make_interval(secs => $3)) where id = $1
      returning expires_at as "expiresAt"`,
    values: [id, successor, overlapSeconds],
  });
  const [replaced] = rows;
  if (!replaced) throw new Error('a locked key is gone');
  return replaced.expiresAt;
}

export async function revokeKey(db: Writer, id: bigint): Promise<ApiKey | undefined> {
  const { rows } = await db.write<ApiKey>({
    text: `update api_keys set revoked_at = coalesce(revoked_at, now()) where id = $1 returning ${keyColumns}`,
    values: [id],
  });
  return rows[0];
}

/** Locks the key, so that nobody can revoke it before the transaction ends. False if it is already revoked. */
export async function lockUnrevokedKey(tx: Transaction, id: bigint): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'lock-unrevoked-key',
    text: 'select from api_keys where id = $1 and revoked_at is null for share',
    values: [id],
  });
  return rowCount === 1;
}

/** Keys that were revoked, expired, or suspended with their client in the last `sinceSeconds`. */
export async function selectEndedKeys(db: Db, sinceSeconds: number): Promise<bigint[]> {
  const { rows } = await db.query<{ id: bigint }>({
    name: 'ended-keys',
    // The time is compared in each part, so that each part uses its own index.
    text: `select id from api_keys where revoked_at > now() - make_interval(secs => $1)
      union select id from api_keys where expires_at > now() - make_interval(secs => $1) and expires_at <= now()
      union select api_keys.id from clients join api_keys on client_id = clients.id where suspended_at > now() - make_interval(secs => $1)`,
    values: [sinceSeconds],
  });
  return rows.map(({ id }) => id);
}

export async function updateSuspension(db: Writer, name: string, isSuspended: boolean): Promise<Client | undefined> {
  const { rows } = await db.write<Client>({
    text: `update clients set suspended_at = case when $2 then coalesce(suspended_at, now()) end where name = $1 returning ${clientColumns}`,
    values: [name, isSuspended],
  });
  return rows[0];
}

// The clocks of PostgreSQL and of the process that wrote the journal may differ by this much.
const isFromBefore = (table: string, at: string) => `${table}.created_at <= ${at}::timestamptz + interval '1 minute'`;

/** Undefined if there is no such key, or it was created after `at`. An earlier revocation or expiry is not changed. */
export async function endKeyAsOf(
  tx: Transaction,
  id: bigint,
  { at, revokedAt, expiresAt }: { at: Date; revokedAt: Date | null; expiresAt: Date | null },
): Promise<{ replacedBy: bigint | null } | undefined> {
  const { rows } = await tx.query<{ replacedBy: bigint | null }>({
    text: `update api_keys set revoked_at = coalesce(revoked_at, $2), expires_at = least(expires_at, $3)
      where id = $1 and ${isFromBefore('api_keys', '$4')} returning replaced_by as "replacedBy"`,
    values: [id, revokedAt, expiresAt, at],
  });
  return rows[0];
}

/** False if there is no such client, if it was created after `at`, or if it was suspended later. */
export async function updateSuspensionAsOf(tx: Transaction, id: bigint, suspendedAt: Date | null, at: Date): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: `update clients set suspended_at = $2 where id = $1 and ${isFromBefore('clients', '$3')}
      and (suspended_at is null or suspended_at <= $3::timestamptz + interval '1 minute')`,
    values: [id, suspendedAt, at],
  });
  return rowCount === 1;
}

/** A key, and whose it is. */
export interface KeyOwner {
  readonly id: bigint;
  readonly clientId: bigint;
}

/** The keys of these hashes, which are in base64, whether or not they are still valid. */
export async function findOwners(db: Db, hashes: readonly string[]): Promise<Map<string, KeyOwner>> {
  const { rows } = await db.query<KeyOwner & { hash: string }>({
    name: 'find-owners',
    text: `select encode(hash, 'base64') as hash, id, client_id as "clientId" from api_keys where hash = any ($1::bytea[])`,
    values: [hashes.map((hash) => Buffer.from(hash, 'base64'))],
  });
  return new Map(rows.map(({ hash, ...owner }) => [hash, owner]));
}

/** What authentication reads of a key and its client. */
export interface FoundKey
  extends Pick<ApiKey, 'id' | 'clientId' | 'shelterId' | 'scopes' | 'expiresAt' | 'revokedAt' | 'replacedBy'>,
    Pick<Client, 'plan' | 'perMinute' | 'perDay' | 'openOrdersMax' | 'newCategoriesMax'> {
  /** Null: the client is not suspended. */
  readonly suspension: { readonly at: Date; readonly clientName: string } | null;
}

/** The only query that authentication needs. The hash is in base64. */
export async function findKeyByHash(db: Db, hash: string): Promise<FoundKey | undefined> {
  const { rows } = await db.query<Omit<FoundKey, 'suspension'> & Pick<Client, 'suspendedAt' | 'name'>>({
    name: 'find-key-by-hash',
    text: `select api_keys.id, client_id as "clientId", shelter_id as "shelterId", scopes, expires_at as "expiresAt", revoked_at as "revokedAt",
        replaced_by as "replacedBy", name, plan, per_minute as "perMinute", per_day as "perDay", open_orders_max as "openOrdersMax",
        new_categories_max as "newCategoriesMax", suspended_at as "suspendedAt"
      from api_keys join clients on clients.id = client_id where hash = decode($1, 'base64')`,
    values: [hash],
  });
  const [row] = rows;
  if (!row) return undefined;
  const { suspendedAt, name, ...found } = row;
  return { ...found, suspension: suspendedAt && { at: suspendedAt, clientName: name } };
}
