import { type MintedKey, revokeApiKey, rotateKey } from '../clients/clients.ts';
import type { Environment } from '../config.ts';
import type { Transaction, Transactor } from '../db/handles.ts';
import type { Journal } from '../journal/journal.ts';
import {
  disableWebhooks,
  disableWebhooksFromBefore,
  disableWebhooksOfExpiredKeys,
  type EnabledWebhook,
  handOverWebhooks,
  handOverWebhooksOfExpiredKeys,
  removeKey,
  selectEnabledWebhooks,
} from './endpoint-key-queries.ts';

/**
 * An endpoint belongs to the key that added it or last set its address or types, and ends with it: a leaked key must not go on reading
 * by an endpoint that it left behind. A key's successor by rotation takes its endpoints over.
 */
export type OnRevocation = 'disable' | 'keep' | 'disable-unowned-too';

export interface RevokedKey {
  readonly id: bigint;
  readonly clientId: bigint;
  readonly hint: string;
  readonly revokedAt: Date | null;
  /** Endpoints that this disabled. */
  readonly disabled: readonly bigint[];
  /** Endpoints of the client that are left enabled: those of its other keys, and those that no key is recorded for. */
  readonly stillEnabled: readonly EnabledWebhook[];
}

export async function revokeKeyAndWebhooks(db: Transactor, journal: Journal, id: bigint, onRevocation: OnRevocation): Promise<RevokedKey> {
  return db.transaction(async (tx) => {
    const { clientId, hint, revokedAt } = await revokeApiKey(tx, id);
    const why = `Key ${id}, which set this endpoint, was revoked.`;
    const own = onRevocation === 'keep' ? [] : await disableWebhooks(tx, { clientId, keyId: id }, why);
    const unowned =
      onRevocation === 'disable-unowned-too'
        ? await disableWebhooks(
            tx,
            { clientId, keyId: null },
            `Key ${id} of this client was revoked, and no key is recorded for this endpoint.`,
          )
        : [];
    const disabled = [...own, ...unowned];
    journal({ act: 'key_revoked', key: id, webhooks: disabled });
    return { id, clientId, hint, revokedAt, disabled, stillEnabled: await selectEnabledWebhooks(tx, clientId) };
  });
}

export async function rotateKeyAndWebhooks(
  db: Transactor,
  journal: Journal,
  id: bigint,
  options: { overlapSeconds: number; environment: Environment },
): Promise<MintedKey & { readonly handedOver: readonly bigint[] }> {
  return db.transaction(async (tx) => {
    const { oldExpiresAt, ...minted } = await rotateKey(tx, id, options);
    const handedOver = await handOverWebhooks(tx, id, minted.record.id);
    journal({ act: 'key_rotated', key: id, expiresAt: oldExpiresAt });
    return { ...minted, handedOver };
  });
}

/**
 * Disables the endpoints of keys that expired in the last `sinceSeconds`; undefined: ever. What a rotated key added during the
 * overlap goes to its successor, where that is in force.
 */
export async function disableWebhooksOfEndedKeys(
  db: Transactor,
  sinceSeconds: number | undefined,
): Promise<Array<{ id: bigint; clientId: bigint; reason: string }>> {
  return db.transaction(async (tx) => {
    await handOverWebhooksOfExpiredKeys(tx, sinceSeconds);
    return disableWebhooksOfExpiredKeys(tx, sinceSeconds);
  });
}

/** After a restore: as it was done at `at`. False where none of them is here, or those that are were added later. */
export async function reapplyDisabling(tx: Transaction, ids: readonly bigint[], reason: string, at: Date): Promise<boolean> {
  return ids.length > 0 && (await disableWebhooksFromBefore(tx, ids, reason, at)) > 0;
}

/** Its endpoints belong to no key from now on. */
export async function forgetKeyOfWebhooks(tx: Transaction, keyId: bigint): Promise<void> {
  await removeKey(tx, keyId);
}
