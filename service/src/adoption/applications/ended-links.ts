import { requireAccess } from '../../access/admission/access.ts';
import { type AuditAuthor, recordAudit } from '../../access/audit/audit.ts';
import type { Actor } from '../../domain/actor.ts';
import type { Transaction } from '../../platform/db/handles.ts';
import type { Journal } from '../../platform/journal/journal.ts';
import { deleteAdopterLinks, raiseLinkNumber } from './adopter-link-queries.ts';
import { lockApplicants, selectFromBefore } from './applicant-queries.ts';
import { applicationNotFound } from './application-errors.ts';
import type { Application } from './application-schemas.ts';
import { getApplication } from './applications.ts';
import { tellAdopter } from './link-mail.ts';
import { lockApplication } from './transition-queries.ts';

interface Ending {
  readonly journal: Journal;
  readonly by: AuditAuthor;
  /** Whether the adopter gets the next one by mail, if somebody has confirmed the address. */
  readonly mails: boolean;
}

interface Ended {
  readonly isMailed: boolean;
  /** False: a restored backup would undo it. */
  readonly isJournaled: boolean;
}

/**
 * Staff end the links to the page of an application, also those in mailboxes and those that act. Without the animal's lock: what follows
 * the application's waits for nothing.
 */
export async function endAdopterLinks(tx: Transaction, id: bigint, actor: Actor, { journal, by, mails }: Ending): Promise<Ended> {
  requireAccess(actor, 'manageOrders', await getApplication(tx, actor, id));
  const application = await lockApplication(tx, id);
  if (!application) throw applicationNotFound(String(id));
  // It may have moved with its animal to another shelter.
  requireAccess(actor, 'manageOrders', application);
  const number = application.linkNumber + 1n;
  await endThem(tx, id, number);
  await recordAudit(tx, by, 'application.link_ended', { targetId: id, shelterId: application.shelterId });
  const isMailed = mails && isReached(application);
  if (isMailed) await tellAdopter(tx, 'status_link', id);
  return { isMailed, isJournaled: journal({ act: 'application_link_ended', application: id, number }) };
}

/** Whether there is an address to which a link may be mailed. */
export const isReached = ({ isMailed, isConfirmed, adopter }: Pick<Application, 'isMailed' | 'isConfirmed' | 'adopter'>): boolean =>
  isMailed && isConfirmed && adopter !== null;

/** Ends, after a restore, what was ended at `at`: only links with this number lead to the page then, or later ones. */
export async function reapplyLinkEnd(tx: Transaction, id: bigint, number: bigint, at: Date): Promise<boolean> {
  const found = await selectFromBefore(tx, [id], at);
  if (found.length === 0) return false;
  await lockApplicants(tx, [id]);
  await endThem(tx, id, number);
  return true;
}

async function endThem(tx: Transaction, id: bigint, number: bigint): Promise<void> {
  await raiseLinkNumber(tx, id, number);
  await deleteAdopterLinks(tx, [id]);
}
