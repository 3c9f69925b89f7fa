import { awaitMailInFlight, cancelMail, findMailFailures, type QueuedMail, queueMail } from '../../changes/mail/mail-queue.ts';
import type { MailKind, ReadMail } from '../../changes/mail/mail-sender.ts';
import type { MailMessage } from '../../changes/mail/message.ts';
import { theService } from '../../domain/actor.ts';
import { type ApplicationParty, type ApplicationStatus, confirmedStatuses } from '../../domain/application-states.ts';
import type { Language } from '../../platform/config.ts';
import type { Db, Transaction, Transactor } from '../../platform/db/handles.ts';
import { mailTexts } from './application-mail-texts.ts';
import type { Application } from './application-schemas.ts';
import { cancelledLinkMail, farewellKind, linkMailKinds } from './link-mail.ts';
import { adopterMessage, type ListLink, shelterMessage } from './mail-messages.ts';
import { findMailedApplication, findShelterTold, selectJustUnanswered, type Unanswered } from './mail-queries.ts';
import type { Told } from './staff-queries.ts';

interface AdopterMail extends MailKind {
  /** It is not sent if the application has another status by then. */
  readonly statuses: readonly ApplicationStatus[];
}

/** What adopters are told. Their subject is the application. */
const adopterMail = {
  // Without it the application ends after three days, so it is worth waiting for.
  confirm: { countsAs: 'confirmation', shelterBound: 'submissions', atBound: 'wait', statuses: ['unconfirmed'] },
  received: { countsAs: 'message', shelterBound: 'submissions', statuses: ['submitted', 'reviewing'] },
  accepted: { countsAs: 'staff', shelterBound: 'decisions', atBound: 'fail', statuses: ['accepted'] },
  declined: { countsAs: 'staff', shelterBound: 'decisions', atBound: 'fail', statuses: ['declined'] },
  closed: { countsAs: 'message', shelterBound: 'endings', atBound: 'fail', statuses: ['closed', 'withdrawn'] },
} as const satisfies Record<string, AdopterMail>;

export type AdopterMailKind = keyof typeof adopterMail;
const isAdopterKind = (kind: string): kind is AdopterMailKind => kind in adopterMail;

/** Its subject is the shelter. */
const shelterKind = 'shelter';

export const applicationMailKinds: Readonly<Record<string, MailKind>> = {
  ...adopterMail,
  ...linkMailKinds,
  [shelterKind]: { countsAs: 'nothing', shelterBound: 'own' },
};
/** What an adopter is told while the store knows who that is. */
export const adopterKinds = [...Object.keys(adopterMail), ...cancelledLinkMail];

/** After this time without an act, an application is named in the shelter's mail. */
export const unansweredDays = 14;
/** So that one message tells of several that come together. */
const shelterDelaySeconds = 120;
const daySeconds = 86_400;
const countMax = 1_000;
const oldestMax = 10;
const pageSizeMax = 500;

/** What an adopter is told when the application gets this status; undefined: nothing. */
const toldAfter: Readonly<Record<ApplicationStatus, AdopterMailKind | undefined>> = {
  unconfirmed: 'confirm',
  submitted: 'received',
  reviewing: undefined,
  accepted: 'accepted',
  completed: undefined,
  declined: 'declined',
  withdrawn: 'closed',
  closed: 'closed',
};

/** Tells of applications that have just got their status, as the last statement of their transaction. `by`: who did it. */
export async function tellOfStatus(tx: Transaction, applications: readonly Application[], by: ApplicationParty): Promise<void> {
  const mail = applications.filter(({ isMailed }) => isMailed).flatMap((application) => mailOf(application, by));
  if (mail.length > 0) await queueMail(tx, ...mail);
}

function mailOf({ id, shelterId, status }: Application, by: ApplicationParty): QueuedMail[] {
  const kind = status === 'withdrawn' && by === 'adopter' ? 'withdrawn' : toldAfter[status];
  return [...(kind ? [{ kind, subjectId: id }] : []), ...(status === 'submitted' ? [toShelter(shelterId)] : [])];
}

/** Tells a shelter that applications wait for it: at most once an hour. */
const toShelter = (shelterId: bigint): QueuedMail => ({
  kind: shelterKind,
  subjectId: shelterId,
  isSingle: true,
  dueInSeconds: shelterDelaySeconds,
});

/** For an erasure: nothing more is sent to the adopters of these applications, and failures are forgotten. */
export const cancelAdopterMail = (tx: Transaction, ids: readonly bigint[]): Promise<void> =>
  cancelMail(tx, { kinds: adopterKinds, subjectIds: ids });

/** After a restore: nor what says that their data was erased, which takes the address along. */
export const cancelFarewells = (tx: Transaction, ids: readonly bigint[]): Promise<void> =>
  cancelMail(tx, { kinds: [farewellKind], subjectIds: ids });

/** After the commit of that: waits until no message to them begins any more, some seconds at most. */
export async function awaitAdopterMail(db: Db, ids: readonly bigint[]): Promise<void> {
  if (ids.length > 0) await awaitMailInFlight(db, { kinds: adopterKinds, subjectIds: ids });
}

/** Messages to an adopter that could not be delivered, with the codes of the mail server. Adopters' data: for staff. */
export async function findUndelivered(db: Db, id: bigint): Promise<Array<{ kind: string; code: string }>> {
  const failures = await findMailFailures(db, { kinds: adopterKinds, subjectIds: [id] });
  return failures.map(({ kind, failure }) => ({ kind, code: failure }));
}

export interface MailLinks {
  /** The adopter's page. */
  pageUrl(applicationId: bigint, linkNumber: bigint): string;
  /** The same, where the address can be confirmed. Only ever mailed. */
  confirmUrl(applicationId: bigint, linkNumber: bigint): string;
  applicationsList(shelterId: bigint): ListLink;
}

export interface MailSettings {
  readonly links: MailLinks;
  /** What the store is called. */
  readonly store: string;
  readonly language: Language;
  readonly applicationExpiryDays: number;
}

/** What a message says, as the store is when it is sent. */
export function applicationMailReader({ links, store, language, applicationExpiryDays }: MailSettings): ReadMail {
  const words = { texts: mailTexts[language], language, store };
  return async (db: Db, { kind, subjectId }): Promise<MailMessage | undefined> => {
    if (kind === shelterKind) {
      const told = await findShelterTold(db, subjectId, { days: unansweredDays, countMax, oldestMax });
      const list = links.applicationsList(subjectId);
      return told && shelterMessage(words, told, { list, days: unansweredDays, expiryDays: applicationExpiryDays });
    }
    if (!isAdopterKind(kind)) throw new Error(`mail of the kind ${kind} is about nothing that is known`);
    const application = await findMailedApplication(db, subjectId);
    const { statuses }: AdopterMail = adopterMail[kind];
    if (!application || !statuses.includes(application.status)) return undefined;
    const { isConfirmed, linkNumber } = application;
    const url = isConfirmed ? links.pageUrl(subjectId, linkNumber) : links.confirmUrl(subjectId, linkNumber);
    return adopterMessage(words, kind, application, url);
  };
}

/** What an adopter would be told by a decision, with the words that staff are writing. Undefined: the adopter gets no mail. */
export async function previewMail(
  db: Db,
  id: bigint,
  {
    kind,
    message,
    url,
    store,
    language,
  }: Pick<MailSettings, 'store' | 'language'> & { kind: 'accepted' | 'declined'; message?: string | undefined; url: string },
): Promise<MailMessage | undefined> {
  const application = await findMailedApplication(db, id);
  return (
    application && adopterMessage({ texts: mailTexts[language], language, store }, kind, { ...application, message: message || null }, url)
  );
}

/** Which message says that an application has a status. */
export const toldKinds: readonly Told[] = confirmedStatuses.flatMap((status) => {
  const kind = status === 'reviewing' ? toldAfter.submitted : toldAfter[status];
  return kind ? [{ status, kind }] : [];
});

/** A job: tells shelters of applications that have had no answer for `unansweredDays` since yesterday, at most once a day. Returns 0. */
export async function remindShelters(db: Transactor): Promise<0> {
  let after: Unanswered | undefined;
  do {
    const page = await selectJustUnanswered(db, unansweredDays, after, pageSizeMax);
    const shelterIds = [...new Set(page.map(({ shelterId }) => shelterId))];
    const reminders = shelterIds.map((subjectId) => ({ kind: shelterKind, subjectId, isSingle: true, unlessWithinSeconds: daySeconds }));
    if (reminders.length > 0) await db.transaction((tx) => queueMail(tx, ...reminders), theService);
    after = page.length === pageSizeMax ? page.at(-1) : undefined;
  } while (after);
  return 0;
}
