import type { Author } from '../../domain/actor.ts';
import type { ConfirmedStatus } from '../../domain/application-states.ts';
import type { Transaction } from '../../platform/db/handles.ts';
import { moveAndRecord } from './application-records.ts';
import { addReopened, lockSubmissions } from './count-queries.ts';
import { lockApplication } from './transition-queries.ts';

/** An application that an act has changed, and its status before. */
export interface ChangedApplication {
  readonly id: bigint;
  readonly clientId: bigint;
  readonly from: ConfirmedStatus;
}

/** Before the animal is locked: what is open again counts for the clients. In the order of their ids, since others lock several, too. */
export async function lockClientsOf(tx: Transaction, changed: readonly ChangedApplication[]): Promise<void> {
  const clientIds = [...new Set(changed.map(({ clientId }) => clientId))].sort((a, b) => (a < b ? -1 : 1));
  for (const clientId of clientIds) await lockSubmissions(tx, clientId);
}

/**
 * Applications of a locked animal have their status before an act again. Nobody is told by mail: what the act had queued is not sent. False,
 * and nothing is changed: an adopter was erased meanwhile.
 */
export async function restoreApplications(tx: Transaction, changed: readonly ChangedApplication[], author: Author): Promise<boolean> {
  const locked = [];
  for (const { id, from } of changed) {
    const application = await lockApplication(tx, id);
    if (!application?.adopter) return false;
    locked.push({ application, from });
  }
  const { clientId, keyId, personId } = author;
  for (const [to, rows] of Map.groupBy(locked, ({ from }) => from)) {
    const applications = rows.map(({ application }) => application);
    for (const application of applications) await addReopened(tx, application.clientId);
    await moveAndRecord(tx, { clientId, keyId, personId, by: 'staff' }, applications, { to, why: 'undone', isToldLater: true });
  }
  return true;
}
