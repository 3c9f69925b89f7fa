// What the page of an application says. It promises e-mail only where the store is known to send some.
import type { Application } from '@homeward/sdk';

export interface StatusWords {
  readonly label: string;
  readonly lead: string;
  readonly text: string;
  /** What comes next. */
  readonly next: string;
}

interface About {
  readonly pet: string;
  readonly shelter: string;
  /** Where the store has sent its message. */
  readonly email: string;
}

const another = 'You can ask for another animal at any time.';
const stay = 'You don’t have to do anything. This page always shows where your application stands.';

export function wordsOf({ status, closedReason }: Application, about: About): StatusWords {
  return status === 'closed' && closedReason !== null ? closed[closedReason](about) : statuses[status](about);
}

type Words = (about: About) => StatusWords;

const closed: Readonly<Record<NonNullable<Application['closedReason']>, Words>> = {
  adopted: ({ pet }) => ({
    label: 'Closed',
    lead: `${pet} has found a home.`,
    text: `Somebody else has adopted ${pet}. Thank you for offering a home.`,
    next: another,
  }),
  unavailable: ({ pet }) => ({
    label: 'Closed',
    lead: `${pet} is no longer up for adoption.`,
    text: 'Your application has therefore ended. Thank you for offering a home.',
    next: another,
  }),
  cancelled: ({ pet, shelter }) => ({
    label: 'Closed',
    lead: 'The adoption was called off.',
    text: `${pet} is no longer reserved for you, and your application has ended.`,
    next: `If you did not expect that, contact ${shelter}.`,
  }),
  unanswered: ({ pet, shelter }) => ({
    label: 'Closed',
    lead: 'Your application was not answered.',
    text: 'The shelter has not decided for a long time, so the application was closed. We are sorry that you have waited in vain.',
    next: `If you still want to adopt ${pet}, contact ${shelter} or apply again.`,
  }),
  ended_together: ({ pet, shelter }) => ({
    label: 'Closed',
    lead: 'Your application has ended.',
    text: 'The shelter has ended all applications that came in the same way as yours, since too many of them were not real. We are sorry if yours was.',
    next: `If you still want to adopt ${pet}, contact ${shelter}.`,
  }),
};

const statuses: Readonly<Record<Application['status'], Words>> = {
  // The store sends e-mail, or it would not ask for this.
  unconfirmed: ({ shelter, email }) => ({
    label: 'Not confirmed yet',
    lead: 'One step is left: confirm your e-mail address.',
    text: `A message is on its way to ${email}. Open the link in it, and your application goes to ${shelter}. Look among unwanted mail, too. Without your confirmation the application is deleted after three days.`,
    next: `${capital(shelter)} reads your application. You are told by e-mail what it decides, and this page shows it too.`,
  }),
  submitted: ({ pet, shelter }) => ({
    label: 'Sent',
    lead: `${capital(shelter)} has your application.`,
    text: `The people there will read it. Others may apply for ${pet} too; the shelter chooses.`,
    next: stay,
  }),
  reviewing: ({ pet, shelter }) => ({
    label: 'Being considered',
    lead: `${capital(shelter)} is considering your application.`,
    text: `They may contact you with questions. Others may have applied for ${pet} too.`,
    next: stay,
  }),
  accepted: ({ pet, shelter }) => ({
    label: 'Accepted',
    lead: `${capital(shelter)} would like you to adopt ${pet}.`,
    text: `${pet} is reserved for you.`,
    next: `Contact ${shelter} to arrange the day, if they have not contacted you yet. If you have changed your mind, please withdraw, so that ${pet} finds another home.`,
  }),
  completed: ({ pet, shelter }) => ({
    label: 'Adopted',
    lead: `You have adopted ${pet}.`,
    text: 'We hope for many good years together.',
    next: `If you have questions, ${shelter} will be glad to help.`,
  }),
  declined: ({ shelter, pet }) => ({
    label: 'Declined',
    lead: `${capital(shelter)} has declined your application.`,
    text: `We are sorry. Thank you for offering ${pet} a home.`,
    next: another,
  }),
  withdrawn: ({ shelter }) => ({
    label: 'Withdrawn',
    lead: 'This application was withdrawn.',
    text: `${capital(shelter)} no longer considers it.`,
    next: `If that was a mistake, apply again. ${another}`,
  }),
  // Without a reason, from a store that is newer than this site.
  closed: ({ pet }) => ({
    label: 'Closed',
    lead: 'Your application has ended.',
    text: `Thank you for offering ${pet} a home.`,
    next: another,
  }),
};

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
