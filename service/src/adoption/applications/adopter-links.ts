import { randomInt } from 'node:crypto';
import { requireAccess } from '../../access/admission/access.ts';
import { type AuditAuthor, recordAudit } from '../../access/audit/audit.ts';
import { type Actor, theService } from '../../domain/actor.ts';
import type { Db, Transaction, Transactor } from '../../platform/db/handles.ts';
import type { Journal } from '../../platform/journal/journal.ts';
import {
  type AdopterAct,
  type AdopterLink,
  countAsked,
  deleteAdopterLinks,
  insertAdopterLink,
  isLinkLive,
  lockAsked,
  raiseLinkNumber,
  useAdopterLink,
} from './adopter-link-queries.ts';
import { lockApplicants, selectFromBefore } from './applicant-queries.ts';
import { applicationNotFound } from './application-errors.ts';
import type { Application } from './application-schemas.ts';
import { getApplication } from './applications.ts';
import { linkKindOf, tellAdopter } from './link-mail.ts';
import { linkNumberMax } from './page-tokens.ts';
import { lockApplication } from './transition-queries.ts';

export type { AdopterAct, AdopterLink } from './adopter-link-queries.ts';
export { isLinkLive };

/** Of an application, for a UTC day: who has its status link can't flood the adopter. */
export const asksMax = 3;

export interface AskState {
  /** When a link for this act was last asked for today; null: it was not. */
  readonly lastAt: Date | null;
  readonly left: number;
  /** When there are `asksMax` again. */
  readonly resetAt: Date;
}

export async function readAsked(db: Db, id: bigint, act: AdopterAct): Promise<AskState> {
  const { count, ...rest } = await countAsked(db, id, act);
  return { ...rest, left: Math.max(0, asksMax - count) };
}

/** Queues mail with a link that does this, to the confirmed address. Does nothing for who may not ask, or not again today. */
export const askForLink = (db: Transactor, { id, act, linkNumber }: { id: bigint; act: AdopterAct; linkNumber: bigint }): Promise<void> =>
  db.transaction(async (tx) => {
    if (!(await lockAsked(tx, id, linkNumber)) || (await readAsked(tx, id, act)).left === 0) return;
    await insertAdopterLink(tx, { id, act, number: BigInt(randomInt(1, linkNumberMax)) });
    await tellAdopter(tx, linkKindOf[act], id);
  }, theService);

/** The link was used, has ended, or was ended meanwhile. Nothing was changed. */
export class LinkEnded extends Error {}

/** The last of what makes an act by a link true, in its transaction. Requires the lock of the application. */
export async function requireLink(tx: Transaction, link: AdopterLink): Promise<void> {
  if (!(await useAdopterLink(tx, link))) throw new LinkEnded();
}

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
