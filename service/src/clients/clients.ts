import { controls, findCharacter, reorderings } from '../characters.ts';
import type { Environment } from '../config.ts';
import type { Db, Transaction, Transactor } from '../db/handles.ts';
import type { Scope } from '../domain/scopes.ts';
import { AppError } from '../errors.ts';
import type { Journal } from '../journal/journal.ts';
import { boundsOf, type Quota, quotaOf } from '../rate-limit/plans.ts';
import { hashApiKey, keyHint, mintApiKey } from './api-key.ts';
import {
  type ApiKey,
  type Client,
  endKeyAsOf,
  findClient,
  findClientByName,
  insertClient,
  insertKey,
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

/** What the store's staff got wrong, in words for them. */
export class ClientsError extends Error {}

const nameLengthMax = 200;

/** A key as it is shown once, at its making. */
export interface MintedKey {
  readonly key: string;
  readonly record: ApiKey;
}

export async function createKey(
  db: Transactor,
  input: { client: string; limits: Terms; scopes: readonly Scope[]; expiresAt: Date | null; environment: Environment },
): Promise<MintedKey> {
  const nameLength = [...input.client].length;
  if (!input.client.trim() || nameLength > nameLengthMax) {
    throw new ClientsError(`A client's name has 1 to ${nameLengthMax} characters and is not blank; this one has ${nameLength}.`);
  }
  return db.transaction(async (tx) => {
    const client = (await findClientByName(tx, input.client)) ?? (await insertOrFindClient(tx, { name: input.client, ...input.limits }));
    if (describe(client) !== describe(input.limits)) {
      throw new ClientsError(
        `Client "${client.name}" is on the plan ${describe(client)}, not ${describe(input.limits)}. Use 'homeward clients set-plan' to change it, or name that plan.`,
      );
    }
    return mint(tx, client.id, input);
  });
}

/** The new key works at once, the old one until the overlap is over. The new key lives as long as the old one was to. */
export async function rotateKey(
  tx: Transaction,
  id: bigint,
  options: { overlapSeconds: number; environment: Environment },
): Promise<MintedKey & { readonly oldExpiresAt: Date }> {
  const old = await lockKey(tx, id);
  if (!old) throw new ClientsError(`There is no key ${id}.`);
  if (old.revokedAt) throw new ClientsError(`Key ${id} was revoked; create a new one instead.`);
  if (old.replacedBy) throw new ClientsError(`Key ${id} was rotated already; its successor is key ${old.replacedBy}.`);
  const lifeMs = old.expiresAt && old.expiresAt.getTime() - old.createdAt.getTime();
  const minted = await mint(tx, old.clientId, {
    ...options,
    scopes: old.scopes,
    expiresAt: lifeMs ? new Date(Date.now() + lifeMs) : null,
  });
  return { ...minted, oldExpiresAt: await replaceKey(tx, id, minted.record.id, options.overlapSeconds) };
}

export async function revokeApiKey(db: Db, id: bigint): Promise<ApiKey> {
  const revoked = await revokeKey(db, id);
  if (!revoked) throw new ClientsError(`There is no key ${id}.`);
  return revoked;
}

/** For what must not outlive its key: throws where the key was revoked, and holds off a revocation until the transaction ends. */
export async function requireUnrevoked(tx: Transaction, keyId: bigint): Promise<void> {
  if (await lockUnrevokedKey(tx, keyId)) return;
  throw new AppError('api_key_revoked', `Key ${keyId} was revoked while this request was in progress. Use another key.`);
}

/** A suspended client's keys are rejected, its endpoints get nothing, and its streams end, until it is resumed. */
export async function setSuspended(db: Transactor, journal: Journal, name: string, isSuspended: boolean): Promise<Client> {
  return db.transaction(async (tx) => {
    const client = await updateSuspension(tx, name, isSuspended);
    if (!client) throw new ClientsError(`There is no client "${name}".`);
    journal({ act: isSuspended ? 'client_suspended' : 'client_resumed', client: client.id });
    return client;
  });
}

/** As it is now, for what has been open since before its plan may have changed. */
export async function getQuota(db: Db, clientId: bigint): Promise<Quota> {
  const client = await findClient(db, clientId);
  if (!client) throw new Error('a caller without a client');
  return quotaOf(client);
}

export async function setPlan(db: Db, name: string, limits: Terms): Promise<Client> {
  const client = await findClientByName(db, name);
  const updated = client && (await updatePlan(db, client.id, limits));
  if (!updated) throw new ClientsError(`There is no client "${name}".`);
  return updated;
}

/** After a restore: as it was done at `at`. False where there is no such key, or one that was made later. */
export async function reapplyRevocation(tx: Transaction, id: bigint, at: Date): Promise<boolean> {
  return (await endKeyAsOf(tx, id, { at, revokedAt: at, expiresAt: null })) !== undefined;
}

/** Its successor can't be brought back: nobody but its owner has it. Returns whether the backup knows of one. */
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

async function insertOrFindClient(tx: Transaction, client: Terms & { name: string }): Promise<Client> {
  // Only of a new one: a client that was named under earlier rules can still be given keys.
  const rejected = findCharacter(client.name, controls + reorderings);
  if (rejected) {
    throw new ClientsError(`A client's name has no control characters and no bidirectional overrides; this one contains ${rejected}.`);
  }
  const found = (await insertClient(tx, client)) ?? (await findClientByName(tx, client.name));
  if (!found) throw new Error('a client neither inserted nor found');
  return found;
}

async function mint(
  tx: Transaction,
  clientId: bigint,
  input: { scopes: readonly Scope[]; expiresAt: Date | null; environment: Environment },
): Promise<MintedKey> {
  const key = mintApiKey(input.environment);
  const record = await insertKey(tx, {
    clientId,
    hash: hashApiKey(key),
    hint: keyHint(key),
    scopes: input.scopes,
    expiresAt: input.expiresAt,
  });
  return { key, record };
}

function describe(terms: Terms): string {
  const { plan, perMinute, perDay } = terms;
  if (plan !== 'enterprise') return plan;
  const { openOrders, newCategoriesPerDay } = boundsOf(terms);
  return `enterprise (${perMinute} requests a minute, ${perDay} a day, ${openOrders} open orders, ${newCategoriesPerDay} new categories a day)`;
}
