import { reapplyRevocation, reapplyRotation, reapplySuspension } from '../../access/clients/clients.ts';
import { reapplyPasskeyRemoval } from '../../access/people/credentials.ts';
import { reapplyChange, reapplyRemoval, reapplySignInsEnd } from '../../access/people/people.ts';
import { reapplyLinkEnd } from '../../adoption/applications/adopter-links.ts';
import { reapplyApplicantErasure } from '../../adoption/applications/applicants.ts';
import { reapplyErasure } from '../../adoption/orders/adopters.ts';
import { detachWebhooksFromKey, reapplyDisabling } from '../../changes/webhooks/endpoint-keys.ts';
import { theService } from '../../domain/actor.ts';
import type { Transaction, Transactor } from '../../platform/db/handles.ts';
import type { JournalEntry, JournalLine } from '../../platform/journal/journal.ts';

export interface Applied {
  /** Lines whose order, application, key, client, endpoint, person or passkey exists here and was not changed later. */
  readonly applied: number;
  /** The other lines: what they are about is newer than the backup, or was changed after the line was written. */
  readonly skipped: number;
}

/**
 * Applies the journal to a store that was restored from a backup: changes that were made after the backup and must not be
 * undone. Lines are applied in the order of their times. Applying them twice is harmless. Apply them before the store
 * serves: ids that are newer than the backup are assigned again. Therefore a line never changes what was created after
 * it was written.
 */
export async function applyJournal(
  db: Transactor,
  lines: readonly JournalLine[],
  progress: (done: number, of: number) => void,
): Promise<Applied> {
  const inOrder = lines.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  let applied = 0;
  for (const [index, line] of inOrder.entries()) {
    if (await db.transaction((tx) => reapply(tx, line), theService)) applied += 1;
    progress(index + 1, inOrder.length);
  }
  return { applied, skipped: lines.length - applied };
}

/** False if what the line is about does not exist here, or was changed after the line was written. */
function reapply(tx: Transaction, { entry, at }: JournalLine): Promise<boolean> {
  const { act } = entry;
  const handlers: { [Act in JournalEntry['act']]: (entry: Extract<JournalEntry, { act: Act }>) => Promise<boolean> } = {
    adopters_erased: ({ orders }) => reapplyErasure(tx, orders, at),
    applicants_erased: ({ applications, extent }) => reapplyApplicantErasure(tx, applications, extent, at),
    application_link_ended: ({ application, number }) => reapplyLinkEnd(tx, application, number, at),
    key_revoked: async ({ key, webhooks }) => {
      const isHere = await reapplyRevocation(tx, key, at);
      const areHere = await reapplyDisabling(tx, webhooks, `Key ${key}, which set up this endpoint, was revoked.`, at);
      return isHere || areHere;
    },
    // The successor is newer than the backup and lost: its endpoints stay enabled, without a key.
    key_rotated: async ({ key, expiresAt }) => {
      const rotated = await reapplyRotation(tx, key, expiresAt, at);
      if (rotated?.replacedBy === null) await detachWebhooksFromKey(tx, key);
      return rotated !== undefined;
    },
    client_suspended: ({ client }) => reapplySuspension(tx, client, true, at),
    client_resumed: ({ client }) => reapplySuspension(tx, client, false, at),
    webhook_disabled: ({ webhook }) => reapplyDisabling(tx, [webhook], "Disabled by the store's operators.", at),
    person_removed: ({ person }) => reapplyRemoval(tx, person, at),
    person_changed: ({ person: id, role, shelter: shelterId }) => reapplyChange(tx, { id, role, shelterId }, at),
    sign_ins_ended: ({ person }) => reapplySignInsEnd(tx, person, at),
    passkey_removed: ({ passkey }) => reapplyPasskeyRemoval(tx, passkey, at),
  };
  return (handlers[act] as (entry: JournalEntry) => Promise<boolean>)(entry);
}
