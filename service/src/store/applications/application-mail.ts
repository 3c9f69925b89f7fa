import { awaitMailInFlight, cancelMail } from '../../changes/mail/mail-queue.ts';
import type { Db, Transaction } from '../../platform/db/handles.ts';

/** Messages to adopters; each is about an application. */
const kinds = ['confirm', 'received', 'accepted', 'declined', 'closed'] as const;

/** What waits is not sent any more, and what was sent or has failed is forgotten. */
export const cancelApplicationMail = (tx: Transaction, applicationIds: readonly bigint[]): Promise<void> =>
  cancelMail(tx, { kinds, subjectIds: applicationIds });

/** After the commit: waits until none of these messages begins to be sent any more, for seconds at most. */
export const awaitApplicationMail = async (db: Db, applicationIds: readonly bigint[]): Promise<void> => {
  if (applicationIds.length > 0) await awaitMailInFlight(db, { kinds, subjectIds: applicationIds });
};
