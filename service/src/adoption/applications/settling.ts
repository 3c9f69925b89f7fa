import { eraseApplicantsFromResponses } from '../../access/idempotency/idempotent-route.ts';
import { lockPetRows } from '../../animals/pets/pets.ts';
import { recordEvents } from '../../changes/events/events.ts';
import { type Author, theService } from '../../domain/actor.ts';
import { afterOrder, type ClosedReason, closedBy, closedReasonNames, unconfirmed } from '../../domain/application-states.ts';
import type { Transaction, Transactor } from '../../platform/db/handles.ts';
import type { ErasureExtent, Journal } from '../../platform/journal/journal.ts';
import { deleteAdopterLinks } from './adopter-link-queries.ts';
import { deleteUnconfirmedApplicants, eraseAll, eraseAnswers } from './applicant-queries.ts';
import { cancelAdopterMail } from './application-mail.ts';
import { applicationEvent, moveAndRecord, type Party } from './application-records.ts';
import type { Application } from './application-schemas.ts';
import {
  deleteUnconfirmedRow,
  lockOpenApplications,
  lockUnanswered,
  type OpenApplication,
  selectUnanswered,
} from './transition-queries.ts';

const unconfirmedHours = 72;

/** For people, in the history. */
export const whyClosed: Readonly<Record<ClosedReason, string>> = {
  adopted: 'somebody else adopted the animal',
  unavailable: 'the animal was removed',
  cancelled: 'its order has ended without an adoption',
  unanswered: 'nobody has answered in time',
  ended_together: 'staff have ended all of its client',
};

/**
 * Lets the open applications of a locked animal follow their order and the animal: the accepted one ends with its order, and the others
 * when the animal is sold or removed.
 */
export async function settleApplications(tx: Transaction, petId: bigint, { clientId, keyId, personId }: Author): Promise<void> {
  const party: Party = { clientId, keyId, personId, by: 'service' };
  const open = await lockOpenApplications(tx, petId);
  const thatEnd = (end: 'completed' | ClosedReason) => open.filter((application) => endOf(application) === end);
  await moveAndRecord(tx, party, thatEnd('completed'), { to: 'completed', why: 'its order was completed' });
  for (const reason of closedReasonNames) await close(tx, party, thatEnd(reason), reason);
}

/** Undefined: it stays open. */
function endOf({ status, orderStatus, petStatus }: OpenApplication): 'completed' | ClosedReason | undefined {
  if (status !== 'accepted') return closedBy[petStatus];
  const end = orderStatus === null ? undefined : afterOrder(orderStatus);
  return end?.to === 'closed' ? end.reason : end?.to;
}

const close = (tx: Transaction, party: Party, applications: readonly Application[], closedReason: ClosedReason) =>
  moveAndRecord(tx, party, applications, { to: 'closed', closedReason, why: whyClosed[closedReason] });

/** Closes a batch of applications that nobody has done anything about for `days`. Returns how many. */
export async function closeUnanswered(db: Transactor, days: number, batchSizeMax: number): Promise<number> {
  const due = Map.groupBy(await selectUnanswered(db, days, batchSizeMax), ({ petId }) => petId);
  let closed = 0;
  // Those of each animal in their own transaction: one that locks several animals could deadlock with another.
  for (const [petId, applications] of due) {
    closed += await db.transaction(async (tx) => {
      await lockPetRows(tx, [petId]);
      const ids = applications.map(({ id }) => id);
      return (await close(tx, { ...theService, by: 'service' }, await lockUnanswered(tx, ids, days), 'unanswered')).length;
    }, theService);
  }
  return closed;
}

/** Deletes a batch of applications whose adopters have not confirmed them in time. Returns how many. */
export async function deleteUnconfirmedApplications(db: Transactor, batchSizeMax: number): Promise<number> {
  return db.transaction(async (tx) => (await deleteUnconfirmedRow(tx, unconfirmedHours, batchSizeMax)).length, theService);
}

export interface ErasedApplications {
  readonly applications: number;
  /** Applications that the adopter had not confirmed. */
  readonly deleted: number;
  /** Stored responses that contained the adopter's data. */
  readonly responses: number;
}

const nothing: ErasedApplications = { applications: 0, deleted: 0, responses: 0 };

/**
 * Erases the adopters from locked applications, from the responses stored for retries and from messages that wait; ends the links that were
 * mailed; deletes unconfirmed applications. The events are recorded while the animals are locked, as all events about an application are, so
 * that they are in order.
 */
export async function eraseLocked(
  tx: Transaction,
  journal: Journal,
  found: readonly Application[],
  extent: ErasureExtent,
): Promise<ErasedApplications> {
  if (found.length === 0) return nothing;
  const ids = found.map(({ id }) => id);
  await deleteAdopterLinks(tx, ids);
  const keepsAddress = extent === 'answers';
  const deleted = await deleteUnconfirmedApplicants(
    tx,
    found.filter(({ status }) => status === unconfirmed).map(({ id }) => id),
  );
  const erased = await (keepsAddress ? eraseAnswers : eraseAll)(tx, ids);
  const responses = await eraseApplicantsFromResponses(tx, ids, { keepsAddress });
  await cancelAdopterMail(tx, ids);
  await recordEvents(tx, ...erased.map((application) => applicationEvent('adopter_erased', application)));
  journal({ act: 'applicants_erased', applications: ids, extent });
  return { applications: erased.length, deleted, responses };
}
