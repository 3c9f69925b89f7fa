import { applicationActions } from '../../domain/application-states.ts';
import type { Language } from '../../platform/config.ts';

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
