import { linkUrl } from '../../partners/people/link-url.ts';
import { type LinkKind, mintMailedLink, signInLinkMinutes } from '../../partners/people/links.ts';
import { invitationHours } from '../../partners/people/people.ts';
import type { Language } from '../../platform/config.ts';
import type { Db, Transaction, Transactor } from '../../platform/db/handles.ts';
import { findLastMail, type LastMail, queueMail } from './mail-queue.ts';
import type { MailKind, ReadMail } from './mail-sender.ts';

/** What people of the store and its shelters are mailed. Their subject is the person. */
export const peopleMailKinds = {
  // To an address that nobody has confirmed. It fails beyond the bound, and the link that the command shows works.
  invitation: { countsAs: 'confirmation', atBound: 'fail' },
  // As often as the person may ask for one.
  sign_in_link: { countsAs: 'nothing' },
} as const satisfies Record<string, MailKind>;

type PeopleMailKind = keyof typeof peopleMailKinds;

const linkKinds: Readonly<Record<PeopleMailKind, LinkKind>> = { invitation: 'invitation', sign_in_link: 'sign_in' };

const isPeopleKind = (kind: string): kind is PeopleMailKind => Object.hasOwn(peopleMailKinds, kind);

interface PeopleText {
  readonly subject: string;
  /** `{url}` is a link on a line of its own. No name: an admin of a shelter may invite any address. */
  readonly paragraphs: readonly string[];
}

const texts: Readonly<Record<Language, Readonly<Record<PeopleMailKind, PeopleText>>>> = {
  en: {
    invitation: {
      subject: 'Your invitation to Homeward',
      paragraphs: [
        'Hello,',
        'You are invited to work with the animals, applications and orders of an adoption store. This page lets you accept:',
        '{url}',
        `The link works once, within ${invitationHours} hours of the invitation. If you did not expect it, there is nothing to do.`,
      ],
    },
    sign_in_link: {
      subject: 'Your link to sign in to Homeward',
      paragraphs: [
        'Hello,',
        'Somebody, probably you, has asked for a link to sign in with this address. This page signs you in:',
        '{url}',
        `The link works once, for ${signInLinkMinutes} minutes. If it was not you, there is nothing to do: nobody else can read it here. Do not forward it.`,
      ],
    },
  },
};

/** In the transaction of the invitation. At most one an hour is sent. Returns when this one is due. */
export async function queueInvitation(tx: Transaction, personId: bigint): Promise<Date> {
  await queueMail(tx, { kind: 'invitation' satisfies PeopleMailKind, subjectId: personId, isSingle: true });
  const mail = await findInvitationMail(tx, personId);
  if (!mail) throw new Error('an invitation that was queued is not in the queue');
  return mail.dueAt;
}

/** What has become of the mail of the last invitation. */
export const findInvitationMail = (db: Db, personId: bigint): Promise<LastMail | undefined> =>
  findLastMail(db, { kind: 'invitation' satisfies PeopleMailKind, subjectId: personId });

/** After `askForSignInLink`, with what it has returned. */
export const queueSignInLink = (tx: Transaction, personId: bigint): Promise<void> =>
  queueMail(tx, { kind: 'sign_in_link' satisfies PeopleMailKind, subjectId: personId });

/** Passes on what is not about people. The link is made as its message is sent, so that neither the queue nor a dump has one that works. */
export function readingPeopleMail(
  db: Transactor,
  { consoleUrl, language }: { consoleUrl: string; language: Language },
  others: ReadMail,
): ReadMail {
  return async (reader, mail) => {
    const { kind, subjectId } = mail;
    if (!isPeopleKind(kind)) return others(reader, mail);
    // The message waits until it is.
    if (consoleUrl === '') throw new Error('HOMEWARD_CONSOLE_URL is not set for the worker, and mail waits that has links to the console');
    const link = await db.transaction((tx) => mintMailedLink(tx, linkKinds[kind], subjectId));
    if (!link) return undefined;
    const url = linkUrl(consoleUrl, linkKinds[kind], link.token);
    const { subject, paragraphs } = texts[language][kind];
    const text = `${paragraphs.map((paragraph) => (paragraph === '{url}' ? url : paragraph)).join('\n\n')}\n`;
    return { to: { address: link.person.email }, subject, text, isUnconfirmed: kind === 'invitation' };
  };
}
