import type { Person } from '../../access/people/people.ts';
import type { ApplicationNote } from '../../adoption/applications/applications.ts';
import type { ApplicationMoment, ListedApplication } from '../../adoption/applications/staff-applications.ts';
import type { OrderMoment } from '../../adoption/orders/staff-orders.ts';
import type { Answer } from '../../adoption/questions/question-schemas.ts';
import type { ClosedReason, ConfirmedStatus } from '../../domain/application-states.ts';
import type { HoldReason } from '../../domain/holds.ts';
import type { OrderStatus } from '../../domain/order-states.ts';
import { type Html, html, personal } from '../../platform/html.ts';
import type { Banner } from '../frame/layout.ts';
import type { Times } from '../frame/times.ts';

type Tone = Exclude<Banner['tone'], 'bad'> | 'ended';

/** What a status is called here, and how it looks. */
const applicationWords = {
  submitted: { label: 'New', tone: 'info' },
  reviewing: { label: 'In review', tone: 'warn' },
  accepted: { label: 'Accepted', tone: 'good' },
  completed: { label: 'Adopted', tone: 'ended' },
  declined: { label: 'Declined', tone: 'ended' },
  withdrawn: { label: 'Withdrawn', tone: 'ended' },
  closed: { label: 'Closed', tone: 'ended' },
} as const satisfies Record<ConfirmedStatus, { readonly label: string; readonly tone: Tone }>;

const orderWords = {
  placed: { label: 'Waits for you', tone: 'warn' },
  approved: { label: 'Promised', tone: 'good' },
  completed: { label: 'Handed over', tone: 'ended' },
  cancelled: { label: 'Cancelled', tone: 'ended' },
  expired: { label: 'Expired', tone: 'ended' },
  returned: { label: 'Returned', tone: 'ended' },
} as const satisfies Record<OrderStatus, { readonly label: string; readonly tone: Tone }>;

const labelOf = ({ label, tone }: { label: string; tone: Tone }): Html => html`<span class="label ${tone}">${label}</span>`;
export const applicationLabel = (status: string): Html => labelOf(applicationWords[status as ConfirmedStatus]);
export const orderLabel = (status: OrderStatus): Html => labelOf(orderWords[status]);

export const closedReasonWords: Readonly<Record<ClosedReason, string>> = {
  adopted: 'somebody else has adopted the animal',
  unavailable: 'the animal is no longer here',
  cancelled: 'its order ended without an adoption',
  unanswered: 'nobody had answered for a long time',
  ended_together: 'all that its sender had sent was ended',
};

export const whyHeld: Readonly<Record<HoldReason, string>> = {
  medical: 'is being treated',
  stray: 'waits for its owner',
  behaviour: 'is being trained or assessed',
  trial: 'is trying a home',
  other: 'is not ready yet',
};

/** Of one line, in any direction of writing. */
export const name = (text: string): Html => html`<bdi>${text}</bdi>`;
export const adopterName = ({ adopter }: { readonly adopter: { readonly name: string } | null }): Html =>
  adopter ? personal(name(adopter.name)) : html`an erased adopter`;

/** Opens the mail program with this address and nothing else: before its @, an address may have what would begin a copy to somebody. */
export function mailLink(email: string): Html {
  const at = email.lastIndexOf('@');
  return personal(html`<a href="mailto:${encodeURIComponent(email.slice(0, at))}@${encodeURIComponent(email.slice(at + 1))}">${email}</a>`);
}

/** Beneath an animal, for people of the store. */
export const shelterLine = (shelter: string): Html => html`<br><span class="soft small">${name(shelter)}</span>`;

export const plural = (count: number, one: string, many: string): string =>
  count === 1 ? `1 ${one}` : `${count.toLocaleString('en')} ${many}`;

/** A count that was not counted beyond a bound. */
export const bounded = (count: number, max: number): string => (count >= max ? `${max - 1}+` : String(count));

/** What somebody has done with an application, as a sentence without its end: "Carl has accepted it". */
export function applicationDeed(
  moment: ApplicationMoment,
  reader: Reader,
  { closedReason }: Pick<ListedApplication, 'closedReason'>,
): Html {
  const { to, from, by } = moment;
  if (from === null) return by === 'staff' ? html`${who(moment, reader)} entered it at the desk` : html`It was sent`;
  if (to === 'closed' && by === 'staff')
    return html`${who(moment, reader, by)} ${has(moment, reader)} ended it with all that its sender had sent`;
  if (to === 'closed') return html`It was closed${closedReason !== null && `: ${closedReasonWords[closedReason]}`}`;
  if (to === 'withdrawn' && by === 'adopter') return html`The adopter has withdrawn it`;
  return html`${who(moment, reader, by)} ${has(moment, reader)} ${deeds[to](from)}`;
}

const deeds: Readonly<Record<Exclude<ConfirmedStatus, 'closed'>, (from: ConfirmedStatus) => string>> = {
  submitted: () => 'sent it',
  reviewing: (from) => (from === 'submitted' ? 'begun to review it' : 'reopened it'),
  accepted: () => 'accepted it',
  completed: () => 'handed the animal over',
  declined: () => 'declined it',
  withdrawn: () => 'withdrawn it',
};

export const noteAuthor = (note: ApplicationNote, reader: Reader): Html => who(note, reader);
export const noteDeed = (note: ApplicationNote, reader: Reader): Html => html`${who(note, reader)} ${has(note, reader)} noted something`;

export const orderDeed = (moment: OrderMoment, reader: Reader): Html =>
  moment.to === 'expired'
    ? html`It expired, since nobody had approved it`
    : html`${who(moment, reader)} ${has(moment, reader)} ${orderDeeds[moment.to]}`;

const orderDeeds: Readonly<Record<Exclude<OrderStatus, 'expired'>, string>> = {
  placed: 'placed it',
  approved: 'approved it',
  completed: 'handed the animal over',
  cancelled: 'cancelled it',
  returned: 'taken the animal back',
};

type Doer = Pick<ApplicationMoment, 'personId' | 'person' | 'personShelterId' | 'isProgram'>;

/** An animal may have been in another shelter, with its applications and orders: the people there stay unnamed. */
type Reader = Pick<Person, 'id' | 'shelterId'>;

function who({ personId, person, personShelterId, isProgram }: Doer, reader: Reader, by?: ApplicationMoment['by']): Html {
  if (personId === reader.id) return html`You`;
  if (reader.shelterId !== null && personShelterId !== null && personShelterId !== reader.shelterId)
    return html`Somebody of another shelter`;
  if (person !== null) return name(person);
  if (by === 'adopter') return html`The adopter`;
  return isProgram ? html`A program` : html`The store`;
}

const has = ({ personId }: Doer, reader: Reader) => (personId === reader.id ? 'have' : 'has');

/** What has happened, the latest first. */
export const deedsCard = (deeds: ReadonlyArray<{ readonly at: Date; readonly deed: Html }>, times: Times): Html =>
  html`<section class="card"><h2>What has happened</h2><ol class="deeds">${deeds.map(
    ({ at, deed }) => html`
<li><span>${deed}</span><span class="soft small">${times.at(at)}</span></li>`,
  )}</ol></section>`;

export const answerText = ({ answer }: Pick<Answer, 'answer'>): string => {
  if (typeof answer === 'boolean') return answer ? 'Yes' : 'No';
  return typeof answer === 'string' ? answer : answer.join(', ');
};

const shownAnswer = (answer: Answer): Html => personal(html`<span class="story" dir="auto">${answerText(answer)}</span>`);

export const answerList = (answers: readonly Answer[]): Html =>
  html`<dl class="answers">${answers.map((answer) => html`<div><dt dir="auto">${answer.text}</dt><dd>${shownAnswer(answer)}</dd></div>`)}</dl>`;
