import { type AuditAuthor, recordAudit } from '../../access/audit/audit.ts';
import { keyValues, type MintedKey, revokeApiKey, rotateKey } from '../../access/clients/clients.ts';
import { theService } from '../../domain/actor.ts';
import type { Environment } from '../../platform/config.ts';
import type { Transaction, Transactor } from '../../platform/db/handles.ts';
import type { Journal } from '../../platform/journal/journal.ts';
import {
  detachWebhooksFromKey,
  disableWebhooks,
  disableWebhooksFromBefore,
  disableWebhooksOfExpiredKeys,
  type EnabledWebhook,
  handOverWebhooks,
  handOverWebhooksOfExpiredKeys,
  selectEnabledWebhooks,
} from './endpoint-key-queries.ts';

export { detachWebhooksFromKey };

/**
 * An endpoint belongs to the key that added it or last set its url or types, and is disabled when that key ends. Otherwise a leaked
 * key could still read events through an endpoint that it had added. A successor by rotation takes over the endpoints.
 */
export type OnRevocation = 'disable' | 'keep' | 'disable-unowned-too';

export interface RevokedKey {
  readonly id: bigint;
  readonly clientId: bigint;
  readonly hint: string;
  readonly revokedAt: Date | null;
  /** Endpoints that were disabled. */
  readonly disabled: readonly bigint[];
  /** Endpoints of the client that are still enabled: those of its other keys, and those without a recorded key. */
  readonly stillEnabled: readonly EnabledWebhook[];
  /** False if the journal's disk is full: the key is revoked all the same. */
  readonly isJournaled: boolean;
}

export async function revokeKeyAndWebhooks(
  db: Transactor,
  journal: Journal,
  by: AuditAuthor,
  id: bigint,
  onRevocation: OnRevocation,
): Promise<RevokedKey> {
  return db.transaction(async (tx) => {
    const { clientId, shelterId, hint, revokedAt } = await revokeApiKey(tx, id);
    const why = `Key ${id}, which set up this endpoint, was revoked.`;
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
    await recordAudit(tx, by, 'key.revoked', { targetId: id, shelterId, after: { webhooksDisabled: disabled.map(String) } });
    const isJournaled = journal({ act: 'key_revoked', key: id, webhooks: disabled });
    return { id, clientId, hint, revokedAt, disabled, stillEnabled: await selectEnabledWebhooks(tx, clientId), isJournaled };
  }, theService);
}

export async function rotateKeyAndWebhooks(
  db: Transactor,
  journal: Journal,
  by: AuditAuthor,
  id: bigint,
  options: { overlapSeconds: number; environment: Environment },
): Promise<MintedKey & { readonly handedOver: readonly bigint[] }> {
  return db.transaction(async (tx) => {
    const { oldExpiresAt, ...minted } = await rotateKey(tx, id, options);
    const handedOver = await handOverWebhooks(tx, id, minted.record.id);
    const { record } = minted;
    const after = { ...keyValues(record), successor: String(record.id), oldExpiresAt: oldExpiresAt.toISOString() };
    await recordAudit(tx, by, 'key.rotated', { targetId: id, shelterId: record.shelterId, after });
    journal({ act: 'key_rotated', key: id, expiresAt: oldExpiresAt });
    return { ...minted, handedOver };
  }, theService);
}

/**
 * Disables the endpoints of keys that expired in the last `sinceSeconds`, or at any time if it is undefined. Endpoints that a rotated
 * key added during the overlap go to its successor, if that is valid.
 */
export async function disableWebhooksOfEndedKeys(
  db: Transactor,
  sinceSeconds: number | undefined,
): Promise<Array<{ id: bigint; clientId: bigint; reason: string }>> {
  return db.transaction(async (tx) => {
    await handOverWebhooksOfExpiredKeys(tx, sinceSeconds);
    return disableWebhooksOfExpiredKeys(tx, sinceSeconds);
  }, theService);
}

/** Reapplies, after a restore, what was done at `at`. False if none of the endpoints exists, or all were added later. */
export async function reapplyDisabling(tx: Transaction, ids: readonly bigint[], reason: string, at: Date): Promise<boolean> {
  return ids.length > 0 && (await disableWebhooksFromBefore(tx, ids, reason, at)) > 0;
}
