import { type LinkKind, linkUrl, mintMailedLink, signInLinkMinutes } from '../../access/people/links.ts';
import { invitationHours } from '../../access/people/people.ts';
import { raiseHours } from '../../access/people/raises.ts';
import { theService } from '../../domain/actor.ts';
import type { Language } from '../../platform/config.ts';
import type { Db, Transaction, Transactor } from '../../platform/db/handles.ts';
import { cancelMail, findLastMail, type LastMail, queueMail } from './mail-queue.ts';
import type { MailKind, ReadMail } from './mail-sender.ts';

/** What people of the store and its shelters are mailed. Their subject is the person. */
export const peopleMailKinds = {
  // To an address that nobody has confirmed. It fails beyond the bound, and the page of the person says so.
  invitation: { countsAs: 'invitation', atBound: 'fail' },
  raise: { countsAs: 'invitation', atBound: 'fail' },
  // LinkBudget has counted it.
  sign_in_link: { countsAs: 'nothing' },
} as const satisfies Record<string, MailKind>;

type PeopleMailKind = keyof typeof peopleMailKinds;

const linkKinds: Readonly<Record<PeopleMailKind, LinkKind>> = {
  invitation: 'invitation',
  raise: 'raise',
  sign_in_link: 'sign_in',
};

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
    raise: {
      subject: 'Your new role in Homeward',
      paragraphs: [
        'Hello,',
        'You are to have more rights in an adoption store than you have now. This page shows them, and lets you accept:',
        '{url}',
        `The link works once, within ${raiseHours} hours. Wherever you are signed in now, you are signed out, and you add your passkeys again. If you did not expect it, ask the people of the store first. Do not forward it.`,
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

/** In the transaction of the invitation. One that waits is not sent any more. */
export const queueInvitation = (tx: Transaction, personId: bigint): Promise<void> =>
  queueMail(tx, { kind: 'invitation' satisfies PeopleMailKind, subjectId: personId });

/** In the transaction that offers it. */
export const queueRaise = (tx: Transaction, personId: bigint): Promise<void> =>
  queueMail(tx, { kind: 'raise' satisfies PeopleMailKind, subjectId: personId });

/** What has become of the mail with the last link for this person. */
export const findLinkMail = (db: Db, kind: 'invitation' | 'raise', personId: bigint): Promise<LastMail | undefined> =>
  findLastMail(db, { kind: kind satisfies PeopleMailKind, subjectId: personId });

/** For whom `findLinkOwner` has found. */
export const queueSignInLink = (tx: Transaction, personId: bigint): Promise<void> =>
  queueMail(tx, { kind: 'sign_in_link' satisfies PeopleMailKind, subjectId: personId });

/** For who ends all sessions: no link that was asked for goes out after that. */
export const cancelSignInLinks = (tx: Transaction, personId: bigint): Promise<void> =>
  cancelMail(tx, { kinds: ['sign_in_link' satisfies PeopleMailKind], subjectIds: [personId] });

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
    const link = await db.transaction((tx) => mintMailedLink(tx, linkKinds[kind], subjectId), theService);
    if (!link) return undefined;
    const url = linkUrl(consoleUrl, linkKinds[kind], link.token);
    const { subject, paragraphs } = texts[language][kind];
    const text = `${paragraphs.map((paragraph) => (paragraph === '{url}' ? url : paragraph)).join('\n\n')}\n`;
    return { to: { address: link.person.email }, subject, text };
  };
}
