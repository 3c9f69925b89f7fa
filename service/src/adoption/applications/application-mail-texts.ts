import type { ClosedReason } from '../../domain/application-states.ts';
import type { Language } from '../../platform/config.ts';

/**
 * A message to an adopter. `{pet}`, `{shelter}` and `{name}` are names, `{store}` is what the sender is called, `{url}` is a link on a line
 * of its own.
 */
interface MailText {
  readonly subject: string;
  /** One text for each paragraph. */
  readonly paragraphs: readonly string[];
}

export interface MailTexts {
  readonly greeting: { readonly byName: string; readonly withoutName: string };
  /**
   * To an address that nobody has confirmed. Anyone may give another's, also at the desk: no word of a partner, a shelter or an adopter, so
   * the store and one link is all that may be filled in.
   */
  readonly unconfirmed: Readonly<Record<'confirm' | 'received' | 'news', MailText>>;
  readonly received: MailText;
  readonly accepted: MailText;
  /** `{message}` is what staff wrote. Its paragraph is left out if they wrote nothing. */
  readonly declined: MailText;
  /** It was withdrawn by someone else than the adopter, or closed. */
  readonly closed: Readonly<Record<'withdrawn' | ClosedReason, MailText>>;
  readonly shelter: {
    readonly subject: Plural;
    readonly submitted: Plural;
    readonly unanswered: Plural;
    /** A line for each of the oldest. `{id}` is that of the application. */
    readonly one: string;
    /** `{count}` is the number of the others. */
    readonly more: Plural;
    readonly end: string;
    /** Before the link: to the list in the console, or, where there is none, to that of the API. */
    readonly list: Readonly<Record<'people' | 'programs', string>>;
  };
  /** Before the contact: what the shelter wants to be said with each message of the kind. `{text}` is in its words. */
  readonly added: string;
  /** In place of a name that store staff have not confirmed. `{id}` is its number. */
  readonly unnamedShelter: string;
  /** In place of one that is unlike a name. */
  readonly unnamedAnimal: string;
  readonly contact: Readonly<Record<'title' | 'email' | 'phone' | 'website' | 'address', string>>;
  readonly footer: string;
}

/** By the number, `{count}`: Intl.PluralRules names the forms. */
export type Plural = Readonly<{ other: string } & Partial<Record<Intl.LDMLPluralRule, string>>>;

const apply = 'You are welcome to apply for another animal at any time.';
const page = 'This page always shows where your application stands. You can also withdraw it there, or have your data erased:';

const en: MailTexts = {
  greeting: { byName: 'Hello {name},', withoutName: 'Hello,' },
  unconfirmed: {
    confirm: {
      subject: 'Please confirm your e-mail address',
      paragraphs: [
        'Someone gave this e-mail address to {store}, in an application to adopt an animal. We hope that it was you.',
        'If so, please confirm on this page that the address is yours. The shelter sees your application from then on, and not before:',
        '{url}',
        'The link works for three days. If it was not you, there is nothing to do: the application is then deleted, and the shelter never sees it.',
      ],
    },
    received: {
      subject: 'An application with your e-mail address',
      paragraphs: [
        'An application to adopt an animal was entered at {store} with this e-mail address. We hope that it is yours.',
        'This page shows where the application stands. If you confirm there that the address is yours, we can tell you more by e-mail:',
        '{url}',
        'If you know of no application, there is nothing to do.',
      ],
    },
    news: {
      subject: 'News about an application with your e-mail address',
      paragraphs: [
        'There is news about an application to adopt an animal that was entered at {store} with this e-mail address.',
        'This page shows it. If you confirm there that the address is yours, we can tell you more by e-mail:',
        '{url}',
        'If you know of no application, there is nothing to do.',
      ],
    },
  },
  received: {
    subject: 'Your application for {pet}',
    paragraphs: [
      'Thank you for offering {pet} a home. {shelter} has your application and will read it. That may take some days, and others may have applied for {pet} too. You will hear from us as soon as it is decided.',
      page,
      '{url}',
    ],
  },
  accepted: {
    subject: 'Good news about {pet}',
    paragraphs: [
      '{shelter} would like you to adopt {pet}, and {pet} is now reserved for you.',
      'Please get in touch with {shelter} soon, if they have not called you already, to arrange when you can take {pet} home.',
      'If you have changed your mind, please withdraw your application here, so that {pet} finds another home:',
      '{url}',
    ],
  },
  declined: {
    subject: 'Your application for {pet}',
    paragraphs: [
      '{shelter} has read your application, and has decided to look for another home for {pet}. We are sorry. Thank you for your offer: the animals need people like you.',
      '{shelter} writes:\n\n{message}',
      `${apply} This page shows your application, and you can have your data erased there:`,
      '{url}',
    ],
  },
  closed: {
    withdrawn: {
      subject: 'Your application for {pet} was withdrawn',
      paragraphs: [
        'Your application for {pet} was withdrawn, so {shelter} no longer considers it. If you did not expect that, please contact {shelter}.',
        `${apply} This page shows your application, and you can have your data erased there:`,
        '{url}',
      ],
    },
    adopted: {
      subject: '{pet} has found a home',
      paragraphs: [
        '{pet} has found a home with someone else who applied at {shelter}. Thank you for offering one too.',
        `${apply} This page shows your application, and you can have your data erased there:`,
        '{url}',
      ],
    },
    unavailable: {
      subject: '{pet} is no longer up for adoption',
      paragraphs: [
        '{pet} is no longer up for adoption at {shelter}, so your application has ended. Thank you for offering a home.',
        `${apply} This page shows your application, and you can have your data erased there:`,
        '{url}',
      ],
    },
    cancelled: {
      subject: 'The adoption of {pet} was called off',
      paragraphs: [
        '{pet} is no longer reserved for you at {shelter}, and your application has ended. If you did not expect that, please contact {shelter}.',
        'This page shows your application, and you can have your data erased there:',
        '{url}',
      ],
    },
    unanswered: {
      subject: 'Your application for {pet} was not answered',
      paragraphs: [
        '{shelter} has not answered your application for {pet} for a long time, so we have closed it. We are sorry that nobody got back to you.',
        'If you still want to adopt {pet}, please contact {shelter}, or apply again.',
        'This page shows your application, and you can have your data erased there:',
        '{url}',
      ],
    },
    ended_together: {
      subject: 'Your application for {pet} has ended',
      paragraphs: [
        '{shelter} has ended all applications that it got in the same way as yours, for {pet} or for all animals, since too many of them were not real. We are sorry if yours was.',
        'If you still want to adopt {pet}, please contact {shelter}.',
        'This page shows your application, and you can have your data erased there:',
        '{url}',
      ],
    },
  },
  shelter: {
    subject: { one: 'An application is waiting for you', other: '{count} applications are waiting for you' },
    submitted: {
      one: 'One application to {shelter} has not been looked at yet.',
      other: '{count} applications to {shelter} have not been looked at yet.',
    },
    unanswered: {
      one: 'For one application nobody has done anything for {days} days or longer:',
      other: 'For {count} applications nobody has done anything for {days} days or longer:',
    },
    one: '- application {id}, for {pet}',
    more: { one: '- and one more', other: '- and {count} more' },
    end: 'The adopters are told as soon as you decide. An application that has no answer for {expiry} days is closed, and its adopter is told that too.',
    list: {
      people: 'You find them here, once you have signed in:',
      programs: 'This is the list, for programs with a key of your shelter:',
    },
  },
  added: '{shelter} adds:\n\n{text}',
  unnamedShelter: 'Shelter {id}',
  unnamedAnimal: 'Animal {id}',
  contact: { title: '{shelter}', email: 'E-mail', phone: 'Telephone', website: 'Website', address: 'Address' },
  footer: 'This message was sent automatically by {store}.',
};

export const mailTexts: Readonly<Record<Language, MailTexts>> = { en };
