import { theService } from '../../domain/actor.ts';
import { type Scope, scopesOfBoundKeys } from '../../domain/scopes.ts';
import { controls, findCharacter, reorderings } from '../../platform/characters.ts';
import type { Environment } from '../../platform/config.ts';
import type { Db, Transaction, Transactor } from '../../platform/db/handles.ts';
import { violates } from '../../platform/db/pool.ts';
import { AppError } from '../../platform/errors.ts';
import type { Journal } from '../../platform/journal/journal.ts';
import { type AuditAuthor, type AuditedValues, changedValues, recordAudit } from '../audit/audit.ts';
import { type Bounds, boundsOf, type PlanName, planNames, type Quota, quotaOf } from '../rate-limit/plans.ts';
import { hashApiKey, keyHint, mintApiKey } from './api-key.ts';
import {
  type ApiKey,
  type Client,
  endKeyAsOf,
  findClient,
  findClientByName,
  insertClient,
  insertKey,
  lockClientByName,
  lockKey,
  lockUnrevokedKey,
  replaceKey,
  revokeKey,
  type Terms,
  updatePlan,
  updateSuspension,
  updateSuspensionAsOf,
} from './client-queries.ts';

export type { Terms };

/** A mistake in a command. The message is for the store's staff. */
export class ClientsError extends Error {}

const nameLengthMax = 200;
/** Somebody would have to take that many names on purpose. */
const numbersMax = 1_000;

/** A new key in plain text, which is shown only once. */
export interface MintedKey {
  readonly key: string;
  readonly record: ApiKey;
}

/** Creates a key, and its client if that is new. Without limits the client must exist. */
export async function createKey(
  db: Transactor,
  input: {
    client: string;
    limits: Terms | undefined;
    scopes: readonly Scope[];
    /** The shelter that the key is bound to; null or left out: none. */
    shelterId?: bigint | null;
    expiresAt: Date | null;
    environment: Environment;
    by: AuditAuthor;
  },
): Promise<MintedKey> {
  const nameLength = [...input.client].length;
  if (!input.client.trim() || nameLength > nameLengthMax) {
    throw new ClientsError(`A client's name must have 1–${nameLengthMax} characters and must not be blank. This one has ${nameLength}.`);
  }
  const { shelterId = null } = input;
  const needsShelter = input.scopes.find((scope) => scopesOfBoundKeys.includes(scope));
  if (shelterId === null && needsShelter) {
    throw new ClientsError(
      `A key with the scope ${needsShelter} must be bound to a shelter: give --shelter. 'homeward shelters list' lists all.`,
    );
  }
  return db.transaction(async (tx) => {
    const { limits } = input;
    const client =
      (await findClientByName(tx, input.client)) ?? (limits && (await insertOrFindClient(tx, input.by, { name: input.client, ...limits })));
    if (!client) {
      throw new ClientsError(`There is no client "${input.client}". To create it, give a plan with --plan: ${planNames.join(', ')}.`);
    }
    if (limits && describe(client) !== describe(limits)) {
      throw new ClientsError(
        `Client "${client.name}" has the plan ${describe(client)}, not ${describe(limits)}. Use 'homeward clients set-plan' to change it, or leave out --plan.`,
      );
    }
    const minted = await mint(tx, client.id, { ...input, shelterId });
    await recordAudit(tx, input.by, 'key.created', { targetId: minted.record.id, shelterId, after: keyValues(minted.record) });
    return minted;
  }, theService);
}

/** Creates a client of this name, or with a number after it if that is taken. */
export async function createNumberedClient(
  tx: Transaction,
  by: AuditAuthor,
  name: string,
  plan: Exclude<PlanName, 'enterprise'>,
): Promise<Client> {
  for (let number = 1; number <= numbersMax; number += 1) {
    const numbered = number === 1 ? name : `${name} ${number}`;
    const client = await insertClient(tx, { name: numbered, plan, perMinute: null, perDay: null });
    if (!client) continue;
    await recordAudit(tx, by, 'client.created', { targetId: client.id, shelterId: null, after: planValues(client) });
    return client;
  }
  throw new Error(`${numbersMax} clients are named ${name}`);
}

/** The new key is valid at once, the old one until the overlap ends. The new key gets the lifetime that the old one had. */
export async function rotateKey(
  tx: Transaction,
  id: bigint,
  options: { overlapSeconds: number; environment: Environment },
): Promise<MintedKey & { readonly oldExpiresAt: Date }> {
  const old = await lockKey(tx, id);
  if (!old) throw new ClientsError(`There is no key ${id}.`);
  if (old.revokedAt) throw new ClientsError(`Key ${id} was revoked, so it can't be rotated. Create a new key instead.`);
  if (old.replacedBy) throw new ClientsError(`Key ${id} was already rotated. Its successor is key ${old.replacedBy}.`);
  const lifeMs = old.expiresAt && old.expiresAt.getTime() - old.createdAt.getTime();
  const minted = await mint(tx, old.clientId, {
    ...options,
    scopes: old.scopes,
    shelterId: old.shelterId,
    expiresAt: lifeMs ? new Date(Date.now() + lifeMs) : null,
  });
  if (options.overlapSeconds === 0) tx.endsAuthority();
  return { ...minted, oldExpiresAt: await replaceKey(tx, id, minted.record.id, options.overlapSeconds) };
}

export async function revokeApiKey(tx: Transaction, id: bigint): Promise<ApiKey> {
  const revoked = await revokeKey(tx, id);
  if (!revoked) throw new ClientsError(`There is no key ${id}.`);
  tx.endsAuthority();
  return revoked;
}

/** For writes that must not succeed after a revocation: throws if the key is revoked, otherwise locks it until the transaction ends. */
export async function requireUnrevoked(tx: Transaction, keyId: bigint): Promise<void> {
  if (await lockUnrevokedKey(tx, keyId)) return;
  throw new AppError('api_key_revoked', `Key ${keyId} was revoked while this request was in progress. Use another key.`);
}

/**
 * Until the suspension ends, the client's keys are rejected, nothing is sent to its endpoints, and its streams are closed.
 * `isJournaled` is false if the journal's disk is full: the client is suspended all the same.
 */
export async function setSuspended(
  db: Transactor,
  journal: Journal,
  by: AuditAuthor,
  name: string,
  isSuspended: boolean,
): Promise<{ readonly client: Client; readonly isJournaled: boolean }> {
  return db.transaction(async (tx) => {
    const client = await updateSuspension(tx, name, isSuspended);
    if (!client) throw new ClientsError(`There is no client "${name}".`);
    if (isSuspended) tx.endsAuthority();
    await recordAudit(tx, by, isSuspended ? 'client.suspended' : 'client.resumed', { targetId: client.id, shelterId: null });
    return { client, isJournaled: journal({ act: isSuspended ? 'client_suspended' : 'client_resumed', client: client.id }) };
  }, theService);
}

/** The client as it is now: its plan may have changed since its work began. */
export async function getClient(db: Db, clientId: bigint): Promise<Client> {
  const client = await findClient(db, clientId);
  if (!client) throw new Error(`client ${clientId} does not exist`);
  return client;
}

/** The client's current quota, for a stream that may have been opened under another plan. */
export async function getQuota(db: Db, clientId: bigint): Promise<Quota> {
  return quotaOf(await getClient(db, clientId));
}

/** The bounds of a client that is not the caller. */
export const getBounds = async (db: Db, clientId: bigint): Promise<Bounds> => boundsOf(await getClient(db, clientId));

export async function setPlan(db: Transactor, by: AuditAuthor, name: string, limits: Terms): Promise<Client> {
  return db.transaction(async (tx) => {
    const client = await lockClientByName(tx, name);
    const updated = client && (await updatePlan(tx, client.id, limits));
    if (!updated) throw new ClientsError(`There is no client "${name}".`);
    const values = changedValues(planValues(client), planValues(updated));
    if (values) await recordAudit(tx, by, 'client.plan_changed', { targetId: client.id, shelterId: null, ...values });
    return updated;
  }, theService);
}

/** After a restore, re-applies a revocation that was made at `at`. False if there is no such key, or it was created later. */
export async function reapplyRevocation(tx: Transaction, id: bigint, at: Date): Promise<boolean> {
  return (await endKeyAsOf(tx, id, { at, revokedAt: at, expiresAt: null })) !== undefined;
}

/** Re-applies a rotation. Its successor can't be restored: only its owner has it. Says whether the backup contains a successor. */
export async function reapplyRotation(
  tx: Transaction,
  id: bigint,
  expiresAt: Date,
  at: Date,
): Promise<{ replacedBy: bigint | null } | undefined> {
  return endKeyAsOf(tx, id, { at, revokedAt: null, expiresAt });
}

export async function reapplySuspension(tx: Transaction, id: bigint, isSuspended: boolean, at: Date): Promise<boolean> {
  return updateSuspensionAsOf(tx, id, isSuspended ? at : null, at);
}

async function insertOrFindClient(tx: Transaction, by: AuditAuthor, client: Terms & { name: string }): Promise<Client> {
  // Only new names are checked: a client that was named under earlier rules can still get keys.
  const rejected = findCharacter(client.name, controls + reorderings);
  if (rejected) {
    throw new ClientsError(
      `A client's name must not contain control characters or bidirectional overrides. This one contains ${rejected}.`,
    );
  }
  const inserted = await insertClient(tx, client);
  if (inserted) await recordAudit(tx, by, 'client.created', { targetId: inserted.id, shelterId: null, after: planValues(inserted) });
  const found = inserted ?? (await findClientByName(tx, client.name));
  if (!found) throw new Error('the client was neither inserted nor found');
  return found;
}

async function mint(
  tx: Transaction,
  clientId: bigint,
  { scopes, shelterId, expiresAt, environment }: Pick<ApiKey, 'scopes' | 'shelterId' | 'expiresAt'> & { environment: Environment },
): Promise<MintedKey> {
  const key = mintApiKey(environment);
  try {
    const record = await insertKey(tx, { clientId, shelterId, hash: hashApiKey(key), hint: keyHint(key), scopes, expiresAt });
    return { key, record };
  } catch (error) {
    if (!violates(error, 'api_keys_shelter_id_fkey')) throw error;
    throw new ClientsError(`There is no shelter ${shelterId}. 'homeward shelters list' lists all.`);
  }
}

/** What the audit says of a key. */
export const keyValues = ({ clientId, scopes, expiresAt }: Pick<ApiKey, 'clientId' | 'scopes' | 'expiresAt'>): AuditedValues => ({
  client: String(clientId),
  scopes,
  expiresAt: expiresAt?.toISOString() ?? null,
});

const planValues = ({ name, plan, perMinute, perDay, openOrdersMax, newCategoriesMax }: Client): AuditedValues => ({
  name,
  plan,
  perMinute,
  perDay,
  openOrdersMax,
  newCategoriesMax,
});

function describe(terms: Terms): string {
  const { plan, perMinute, perDay } = terms;
  if (plan !== 'enterprise') return plan;
  const { openOrders, newCategoriesPerDay } = boundsOf(terms);
  return `enterprise (${perMinute} requests a minute, ${perDay} a day, ${openOrders} open orders, ${newCategoriesPerDay} new categories a day)`;
}
