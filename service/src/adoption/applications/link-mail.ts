import { queueMail } from '../../changes/mail/mail-queue.ts';
import type { MailKind, ReadMail } from '../../changes/mail/mail-sender.ts';
import type { MailMessage } from '../../changes/mail/message.ts';
import { applicationActions } from '../../domain/application-states.ts';
import type { Language } from '../../platform/config.ts';
import type { Transaction, Writer } from '../../platform/db/handles.ts';
import { type AdopterAct, type AdopterLink, beginAdopterLink } from './adopter-link-queries.ts';
import { mailTexts } from './application-mail-texts.ts';
import { adopterNameIn, animalNameIn, contactOf, fill, type MailWords, messageTextOf, shelterNameIn } from './mail-messages.ts';
import { findMailedApplication, type MailedApplication } from './mail-queries.ts';

/** What adopters are told of links, and of what was done by them. Their subject is the application. */
export const linkMailKinds = {
  withdraw_link: { countsAs: 'message', atBound: 'fail' },
  erase_link: { countsAs: 'message', atBound: 'fail' },
  withdrawn: { countsAs: 'message', atBound: 'fail' },
  status_link: { countsAs: 'staff', atBound: 'fail' },
  // Once for an application, by a link from the same mailbox.
  erased: { countsAs: 'nothing' },
} as const satisfies Record<LinkMailKind, MailKind>;

export const farewellKind = 'erased' satisfies LinkMailKind;
/** Those that an erasure cancels: it queues the other one. */
export const cancelledLinkMail = (Object.keys(linkMailKinds) as LinkMailKind[]).filter((kind) => kind !== farewellKind);

const actOf: Partial<Record<LinkMailKind, AdopterAct>> = { withdraw_link: 'withdraw', erase_link: 'erase' };
export const linkKindOf = { withdraw: 'withdraw_link', erase: 'erase_link' } as const satisfies Record<AdopterAct, LinkMailKind>;

const isLinkKind = (kind: string): kind is LinkMailKind => Object.hasOwn(linkMailKinds, kind);

/** For an application whose address is confirmed. The message of an erasure takes the address with it. */
export const tellAdopter = (tx: Transaction, kind: LinkMailKind, id: bigint, recipient?: string): Promise<void> =>
  queueMail(tx, { kind, subjectId: id, ...(recipient !== undefined && { recipient }) });

interface Settings extends Pick<MailWords, 'store' | 'language'> {
  readonly links: {
    pageUrl(applicationId: bigint, linkNumber: bigint): string;
    actUrl(link: AdopterLink): string;
  };
}

/** Passes on what is not about links. Those that act begin as their message is sent, so that neither the queue nor a dump has one. */
export function readingLinkMail(db: Writer, { links, store, language }: Settings, others: ReadMail): ReadMail {
  const words = { texts: mailTexts[language], store, language };
  return async (reader, mail) => {
    const { kind, subjectId: id, recipient } = mail;
    if (!isLinkKind(kind)) return others(reader, mail);
    const text = linkMailTexts[language][kind];
    if (kind === farewellKind) return recipient === null ? undefined : farewell(words, text, recipient);
    const application = await findMailedApplication(reader, id);
    if (!application?.isConfirmed || (kind === 'withdrawn' && application.status !== 'withdrawn')) return undefined;
    const act = actOf[kind];
    if (!act) return linkMessage(words, text, application, links.pageUrl(id, application.linkNumber));
    const number = await beginAdopterLink(db, id, act, actLinkMinutes);
    return number === undefined ? undefined : linkMessage(words, text, application, links.actUrl({ id, number, act }));
  };
}

function linkMessage({ texts, store }: MailWords, text: LinkText, application: MailedApplication, url: string): MailMessage {
  const { adopterName, adopterEmail, pet, shelter } = application;
  const [name, shelterName] = [adopterNameIn(adopterName), shelterNameIn(texts, shelter)];
  const values = { pet: animalNameIn(texts, pet), shelter: shelterName, name, url, store };
  const greeting = name ? texts.greeting.byName : texts.greeting.withoutName;
  const paragraphs = [greeting, ...text.paragraphs].map((part) => fill(part, values));
  return {
    to: { address: adopterEmail, name },
    replyTo: text.hasContact && shelter.email !== null ? { address: shelter.email, name: shelterName } : undefined,
    subject: fill(text.subject, values),
    text: messageTextOf([...paragraphs, ...(text.hasContact ? [contactOf(texts, shelter)] : []), fill(texts.footer, values)]),
  };
}

/** The operator's words alone. */
const farewell = ({ texts, store }: MailWords, { subject, paragraphs }: LinkText, address: string): MailMessage => ({
  to: { address },
  subject,
  text: messageTextOf([texts.greeting.withoutName, ...paragraphs, fill(texts.footer, { store })]),
});

/** For how long an adopter's link withdraws or erases, from when it is sent. */
export const actLinkMinutes = 15;
const reopenDays = applicationActions.reopen.lately.days;

/** A link that acts, or that shows the page; what was done by one. */
export type LinkMailKind = 'withdraw_link' | 'erase_link' | 'status_link' | 'withdrawn' | 'erased';

export interface LinkText {
  readonly subject: string;
  /** One text for each paragraph. `{pet}` and `{shelter}` are names, `{url}` is a link on a line of its own. */
  readonly paragraphs: readonly string[];
  /** Whether it says how to reach the shelter. */
  readonly hasContact: boolean;
}

const notYou =
  'If it was not you, somebody who has the link to the page of your application asked for this. There is nothing to do: without the link above nothing changes. Do not forward it.';
const works = `The page asks you once more. The link works once, for ${actLinkMinutes} minutes.`;

/** To addresses that their owners have confirmed, and about what was done by links. */
const en: Readonly<Record<LinkMailKind, LinkText>> = {
  withdraw_link: {
    subject: 'Your link to withdraw your application',
    paragraphs: ['Somebody, probably you, wants to withdraw your application for {pet}. This page does that:', '{url}', works, notYou],
    hasContact: false,
  },
  erase_link: {
    subject: 'Your link to erase your data',
    paragraphs: [
      'Somebody, probably you, wants to have your data erased from your application for {pet}. This page does that:',
      '{url}',
      works,
      notYou,
    ],
    hasContact: false,
  },
  withdrawn: {
    subject: 'Your application for {pet} was withdrawn',
    paragraphs: [
      'Your application for {pet} was withdrawn, by a link that we had sent to this address. {shelter} no longer considers it.',
      `If it was not you, or if you have changed your mind, contact {shelter} in the next ${reopenDays} days: as long as {pet} has no other home, your application can be opened again. If it was not you, somebody else reads your e-mail, so change its password too.`,
      'This page shows your application, and you can ask there to have your data erased:',
      '{url}',
    ],
    hasContact: true,
  },
  status_link: {
    subject: 'A new link to your application for {pet}',
    paragraphs: [
      'The links to the page of your application for {pet} that you had before have ended. This is the new one, for you alone:',
      '{url}',
      'Anyone who has it sees where your application stands, but can’t change it. Do not pass it on.',
    ],
    hasContact: true,
  },
  // No name: the store no longer knows whose application it was.
  erased: {
    subject: 'Your data has been erased',
    paragraphs: [
      'Your name, your e-mail address, your telephone number and your answers have been erased from an application to adopt an animal, by a link that we had sent to this address. If the application was still open, it was withdrawn first.',
      'That can’t be taken back, but you can apply again at any time. If it was not you, somebody else reads your e-mail, so change its password.',
      'We kept your address for this message alone, and delete it as soon as it is sent.',
    ],
    hasContact: false,
  },
};

export const linkMailTexts: Readonly<Record<Language, Readonly<Record<LinkMailKind, LinkText>>>> = { en };
