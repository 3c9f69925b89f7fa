import { type ApplicationStatus, applicationActions, type ClosedReason } from '../../domain/application-states.ts';
import type { Language } from '../../platform/config.ts';
import { actLinkMinutes } from '../applications/link-mail.ts';

/** What the page says of an application. `{pet}` and `{shelter}` are names. */
export interface StatusText {
  /** A word or two. */
  readonly label: string;
  readonly headline: string;
  readonly text: string;
  /** What comes next. */
  readonly next: string;
}

/** A page that is nothing but this. */
export interface Message {
  readonly title: string;
  readonly text: string;
}

/** A step that is asked about again. */
export interface ConfirmTexts extends Message {
  readonly yes: string;
  readonly no: string;
}

export interface PageTexts {
  /** By its BCP 47 tag, and that of its dates. */
  readonly language: Language;
  readonly locale: string;
  readonly direction: 'ltr' | 'rtl';
  readonly title: string;
  readonly statuses: Readonly<Record<Exclude<ApplicationStatus, 'closed'>, StatusText>>;
  readonly closed: Readonly<Record<ClosedReason, StatusText>>;
  readonly erased: StatusText;
  /** The steps of an application that ends well, from `submitted` to `completed`. */
  readonly steps: readonly [sent: string, considered: string, accepted: string, adopted: string];
  readonly stepsLabel: string;
  readonly nextLabel: string;
  readonly sentAt: string;
  readonly statusSince: string;
  readonly messageLabel: string;
  readonly actsLabel: string;
  /** Behind a link on the page, for who knows the address. */
  readonly answers: {
    readonly link: string;
    readonly title: string;
    readonly why: string;
    readonly label: string;
    readonly wrong: string;
    readonly yes: string;
    readonly no: string;
    /** How an answer to a question of yes or no is shown. */
    readonly words: { readonly yes: string; readonly no: string };
  };
  /** Leads to the site on which adopters find animals. */
  readonly site: string;
  readonly contact: {
    readonly title: string;
    readonly email: string;
    readonly phone: string;
    readonly address: string;
    readonly website: string;
    readonly none: string;
  };
  readonly confirm: ConfirmTexts & { readonly notYou: Message };
  /** Of an application that was entered at the desk. */
  readonly confirmAddress: Message & { readonly yes: string };
  readonly obstacles: Readonly<Record<'unavailable' | 'exists' | 'tooMany' | 'full', Message>>;
  readonly withdraw: ConfirmTexts & { readonly link: string; readonly reserved: string };
  readonly erase: ConfirmTexts & {
    readonly link: string;
    readonly ofUnconfirmed: string;
    readonly ofOpen: string;
    readonly completed: string;
  };
  /** Before a link is mailed that withdraws or erases. `{minutes}`, `{left}` and `{max}` are numbers, `{time}` is a time. */
  readonly ask: {
    readonly why: string;
    readonly stepsLabel: string;
    readonly steps: readonly [press: string, open: string, confirm: string];
    readonly yes: string;
    readonly again: string;
    readonly left: string;
    readonly none: string;
    readonly sent: Message;
  };
  /** In place of buttons, where nobody has confirmed the address. */
  readonly askShelter: string;
  readonly deleted: Message;
  /** A link that was used, is too old, or was ended by staff. */
  readonly ended: Message;
  readonly notFound: Message;
  /** `{seconds}` is a number. */
  readonly tooManyRequests: Message;
  readonly notSupported: Message;
  readonly fromElsewhere: Message;
  readonly unavailable: Message;
  readonly failed: Message;
}

const keepAddress = 'You don’t have to do anything. This page always shows where your application stands, so keep its address.';

const en: PageTexts = {
  language: 'en',
  locale: 'en-GB',
  direction: 'ltr',
  title: 'Your application for {pet}',
  statuses: {
    unconfirmed: {
      label: 'Not confirmed yet',
      headline: 'Please confirm your e-mail address',
      text: 'Your application has not been sent to {shelter} yet.',
      next: 'Open the link in the e-mail that we sent you. Look for it among unwanted e-mails, too. Without your confirmation the application is deleted after three days.',
    },
    submitted: {
      label: 'Sent',
      headline: '{shelter} has your application',
      text: 'The people there will read it. Others may have applied for {pet} too.',
      next: keepAddress,
    },
    reviewing: {
      label: 'Being considered',
      headline: '{shelter} is considering your application',
      text: 'They may call you or write to you with questions. Others may have applied for {pet} too.',
      next: keepAddress,
    },
    accepted: {
      label: 'Accepted',
      headline: '{shelter} would like you to adopt {pet}',
      text: '{pet} is reserved for you.',
      next: 'Contact {shelter} to arrange the adoption, if they have not contacted you yet. If you have changed your mind, please withdraw the application, so that {pet} finds another home.',
    },
    completed: {
      label: 'Adopted',
      headline: 'You have adopted {pet}',
      text: 'The adoption is complete. We wish you many good years together.',
      next: 'If you have questions about {pet}, {shelter} will be glad to help.',
    },
    declined: {
      label: 'Declined',
      headline: '{shelter} has declined your application',
      text: 'We are sorry. Thank you for offering {pet} a home.',
      next: 'You can apply for another animal at any time.',
    },
    withdrawn: {
      label: 'Withdrawn',
      headline: 'This application was withdrawn',
      text: '{shelter} no longer considers it.',
      next: `If that was a mistake, contact {shelter} within ${applicationActions.reopen.lately.days} days, or apply again.`,
    },
  },
  closed: {
    adopted: {
      label: 'Closed',
      headline: '{pet} has found a home',
      text: 'Somebody else has adopted {pet}. Thank you for offering a home.',
      next: 'You can apply for another animal at any time.',
    },
    unavailable: {
      label: 'Closed',
      headline: '{pet} is no longer up for adoption',
      text: 'Your application has therefore ended. Thank you for offering a home.',
      next: 'You can apply for another animal at any time.',
    },
    cancelled: {
      label: 'Closed',
      headline: 'The adoption was called off',
      text: '{pet} is no longer reserved for you, and your application has ended.',
      next: 'If you did not expect that, contact {shelter}.',
    },
    unanswered: {
      label: 'Closed',
      headline: 'Your application was not answered',
      text: '{shelter} has not decided for a long time, so the application was closed. We are sorry that you have waited for nothing.',
      next: 'If you still want to adopt {pet}, contact {shelter} or apply again.',
    },
    ended_together: {
      label: 'Closed',
      headline: 'Your application has ended',
      text: '{shelter} has ended all applications that came in the same way as yours, since too many of them were not real. We are sorry if yours was.',
      next: 'If you still want to adopt {pet}, contact {shelter}.',
    },
  },
  erased: {
    label: 'Erased',
    headline: 'Your data has been erased',
    text: 'Your name, your e-mail address, your telephone number and your answers are no longer part of this application.',
    next: 'You can close this page.',
  },
  steps: ['Sent', 'Being considered', 'Accepted', 'Adopted'],
  stepsLabel: 'Progress',
  nextLabel: 'What comes next',
  sentAt: 'Sent',
  statusSince: 'Status since',
  messageLabel: '{shelter} writes',
  actsLabel: 'What you can do',
  answers: {
    link: 'What I have answered',
    title: 'Your answers about {pet}',
    why: 'This page may be seen by others who have its address, and your answers are for you and the shelter. So write the e-mail address with which you applied.',
    label: 'Your e-mail address',
    wrong: 'This application was not sent with that address. Check how it is written.',
    yes: 'Show my answers',
    no: 'Back',
    words: { yes: 'Yes', no: 'No' },
  },
  site: 'See other animals',
  contact: {
    title: 'Contact {shelter}',
    email: 'E-mail',
    phone: 'Telephone',
    address: 'Address',
    website: 'Website',
    none: '{shelter} has not said how to reach it. Ask on the site where you applied.',
  },
  confirm: {
    title: 'Send your application for {pet}?',
    text: 'Confirm that this is your e-mail address. {shelter} gets your application then, and not before.',
    yes: 'Confirm and send',
    no: 'This was not me',
    notYou: {
      title: 'You have not applied?',
      text: 'Then somebody has entered your address. You don’t have to do anything: the application is deleted after three days, and nobody sees it. You can also delete it now.',
    },
  },
  confirmAddress: {
    title: 'Is this your e-mail address?',
    text: 'You came here by an e-mail. If the address is yours, confirm it: then we tell you by e-mail what becomes of this application.',
    yes: 'Yes, it is mine',
  },
  obstacles: {
    unavailable: {
      title: '{pet} is no longer available',
      text: 'Your application could not be sent to {shelter}. It is deleted three days after you wrote it. You can apply for another animal at any time.',
    },
    exists: {
      title: 'You have already applied for {pet}',
      text: 'With this e-mail address there is an open application for {pet}, so this one was not sent. You find the other one by the link in an earlier e-mail.',
    },
    tooMany: {
      title: 'Too many applications are open',
      text: 'With this e-mail address, or by the site on which you applied, as many applications are open as are possible at once, so this one was not sent. Withdraw one that you no longer want, or try again later: this link works until three days after you applied.',
    },
    full: {
      title: '{shelter} has many applications for {pet}',
      text: 'At the moment no further one is accepted. You can try again later: this link works until three days after you applied.',
    },
  },
  withdraw: {
    link: 'Withdraw the application',
    title: 'Withdraw your application for {pet}?',
    text: `{shelter} will no longer consider it. If you change your mind, contact {shelter} within ${applicationActions.reopen.lately.days} days, or apply again.`,
    reserved: 'The reservation of {pet} ends too.',
    yes: 'Yes, withdraw it',
    no: 'No, go back',
  },
  erase: {
    link: 'Erase my data',
    title: 'Erase your data?',
    text: 'Your name, your e-mail address, your telephone number and your answers are erased from this application. You can’t take that back.',
    ofUnconfirmed: 'The application is deleted, and {shelter} never sees it.',
    ofOpen: 'The application is withdrawn first, since {shelter} can no longer reach you.',
    completed: 'You have adopted {pet}, so {shelter} keeps your contact details. If you want them to be erased, contact {shelter}.',
    yes: 'Yes, erase my data',
    no: 'No, go back',
  },
  ask: {
    why: 'To be sure that it is you, we send a link to the e-mail address that you have confirmed. Nothing changes before you open it.',
    stepsLabel: 'How it goes on',
    steps: [
      'Press the button below.',
      'Open the e-mail that we send you. Look for it among unwanted e-mails, too.',
      `Follow its link within ${actLinkMinutes} minutes, and confirm there.`,
    ],
    yes: 'E-mail me the link',
    again: 'E-mail me another link',
    left: 'You can ask for {left} more today, of {max} a day.',
    none: 'Today no further link can be sent for this application: {max} a day are possible. You can ask again after {time}. If you can’t wait, contact {shelter}.',
    sent: {
      title: 'Look into your e-mail',
      text: `A link was asked for at {time}. It works once, for ${actLinkMinutes} minutes from when it is sent. If it has not come after some minutes, look among unwanted e-mails, ask for another one, or contact {shelter}.`,
    },
  },
  askShelter:
    'To withdraw the application, or to have your data erased, contact {shelter}: we know of no e-mail address that you have confirmed.',
  deleted: { title: 'The application was deleted', text: 'Nothing of it is stored any more. You can close this page.' },
  ended: {
    title: 'This link has ended',
    text: 'It was used before, is too old, or was ended by the shelter, so it changes nothing. Open the page of your application by the latest e-mail that you have from us, and ask for a new link there.',
  },
  notFound: {
    title: 'This link leads nowhere',
    text: 'Maybe a part of it is missing: open it from the e-mail again, or copy all of it. Maybe the application was deleted: that happens after three days if it was not confirmed.',
  },
  tooManyRequests: {
    title: 'Please wait a moment',
    text: 'Too many pages were opened from your connection to the internet. Try again in {seconds} seconds.',
  },
  notSupported: { title: 'That is not possible here', text: 'Open the link from the e-mail again.' },
  fromElsewhere: {
    title: 'Please confirm that here',
    text: 'This request came from another website, so nothing was changed. Open the link from the e-mail again, and use the buttons there.',
  },
  unavailable: { title: 'This page can’t be shown at the moment', text: 'Please try again in a minute.' },
  failed: { title: 'Something went wrong', text: 'That is our fault, not yours. Please try again later.' },
};

/** By HOMEWARD_LANGUAGE. */
export const pageTexts: Readonly<Record<Language, PageTexts>> = { en };
