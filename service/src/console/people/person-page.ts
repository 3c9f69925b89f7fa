import { Type } from 'typebox';
import { changePerson, findPerson, invitedShownMax, listInvited, type Person, removePerson } from '../../access/people/people.ts';
import { namesOfShelters } from '../../adoption/shelters/shelters.ts';
import { addressBounds, dailyLimit, type LastMail } from '../../changes/mail/mail-queue.ts';
import { findLinkMail, queueRaise } from '../../changes/mail/people-mail.ts';
import type { Transaction } from '../../platform/db/handles.ts';
import { type Html, html } from '../../platform/html.ts';
import { factList, icon } from '../frame/elements.ts';
import type { Times } from '../frame/times.ts';
import { faultsOf, ifUnrecorded, notFound } from '../screens/page-error.ts';
import type { PageRoute, Screens } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import {
  invitedLabel,
  type PeopleParts,
  personName,
  placeGiven,
  postFields,
  postValues,
  roleName,
  shownPostFields,
  workplaceOf,
} from './people-screens.ts';

const changes = Type.Object({ name: personName, ...postFields });
const removal = Type.Object({
  others: Type.Optional(Type.Array(Type.String({ pattern: '^[1-9][0-9]{0,17}$' }), { maxItems: invitedShownMax })),
});
const nothing = Type.Object({});

/** Somebody who works here: what that person may do, what waits, and the end of it. */
export function addPerson(screens: Screens, { db, journal, clock, mails }: PeopleParts): void {
  const page: PageRoute = screens.page({
    path: '/people/:personId',
    needs: 'people:manage',
    show: async (visit) => {
      const person = await getManaged(visit);
      const { times, caller } = visit;
      const { raise } = person;
      const names = await namesOfShelters(
        db,
        [person.shelterId, raise?.shelterId].flatMap((id) => id ?? []),
      );
      const isSelf = person.id === visit.person.id;
      const waits = person.invitedUntil !== null ? 'invitation' : raise ? 'raise' : undefined;
      const mail = mails && waits ? await findLinkMail(db, waits, person.id) : undefined;
      const invited = isSelf ? [] : await listInvited(db, caller, person.id);
      return {
        title: person.name,
        main: html`<a class="crumb" href="/people">${icon('back')}People</a>
<div class="head"><h1><bdi>${person.name}</bdi></h1>${person.invitedUntil !== null && invitedLabel(person.isOpen)}</div>
${
  raise !== null &&
  html`<section class="card"><h2>New role</h2>
${raise.isOpen ? waiting(person, html`${roleName(raise)}, ${workplaceOf(raise, names)}`, times) : missed(person)}
${visit.form(withdraw, { submit: 'Withdraw it', tone: 'quiet' })}</section>`
}
<div class="columns">
<section class="card"><h2>About</h2>${factList({
          Address: person.email,
          Role: roleName(person),
          Where: workplaceOf(person, names),
          Since: times.on(person.createdAt),
          'Invited by': await inviterOf(visit, person),
          'Last seen': person.lastSeenAt ? times.ago(person.lastSeenAt) : 'never',
          'Invited until': person.invitedUntil ? times.at(person.invitedUntil) : false,
          Mail: mail && mailState(mail, times, clock.now()),
        })}</section>
<section class="card"><h2>Change</h2>
<p class="soft">Fewer rights hold at once. More rights wait until <bdi>${person.name}</bdi> follows a link.</p>
${visit.form(
  change,
  { submit: 'Save', values: { name: person.name, ...postValues(raise?.isOpen ? raise : person) } },
  (fields) => html`${fields.text('name', 'Name')}${shownPostFields(fields, visit)}`,
)}</section>
</div>
<section class="card"><h2>${isSelf ? 'Leave' : 'Remove'}</h2>
<p>${isSelf ? 'You are signed out at once' : html`<bdi>${person.name}</bdi> is signed out everywhere at once`}, and can sign in no more.
What was done stays in the history.</p>
${visit.form(
  remove,
  {
    submit: isSelf ? 'Remove myself' : html`Remove ${person.name}`,
    tone: 'danger',
    // Who has not joined can only do so by what this person has decided.
    values: { others: invited.flatMap(({ id, invitedUntil }) => (invitedUntil === null ? [] : id)) },
  },
  (fields) =>
    invited.length > 0 &&
    fields.boxes(
      'others',
      `Remove also whom ${person.name} has invited`,
      invited.map((one) => ({
        value: one.id,
        label: html`<bdi>${one.name}</bdi>`,
        hint:
          one.invitedUntil === null
            ? html`${one.email}, ${one.role}, last seen ${one.lastSeenAt ? times.ago(one.lastSeenAt) : 'never'}`
            : `${one.email}, has not joined`,
      })),
      {
        hint: `Tick those whom nobody else knows.${invited.length === invitedShownMax ? ` These are the first ${invitedShownMax}: there may be more.` : ''}`,
      },
    ),
)}</section>`,
      };
    },
  });

  const change = screens.form({
    path: '/people/:personId/change',
    page,
    needs: 'people:manage',
    isFresh: true,
    fields: changes,
    check: (visit, values) => faultsOf(() => placeGiven(db, values, visit)),
    act: async ({ visit, tx, values }) => {
      const { name, role } = values;
      const shelterId = await placeGiven(tx, values, visit);
      const wanted = { name, role, shelterId };
      const { person, isOffered, isJournaled } = await changePerson(tx, journal, visit.caller, visit.id('personId'), wanted);
      if (!isOffered)
        return {
          to: '/people',
          done: `${person.name} is saved. What the role permits holds from the next click on.${ifUnrecorded(isJournaled)}`,
        };
      return { to: `/people/${person.id}`, done: `${person.name} is saved. ${await sendRaise(tx, person)}` };
    },
  });

  const withdraw = screens.form({
    path: '/people/:personId/withdraw',
    page,
    needs: 'people:manage',
    isFresh: true,
    ends: true,
    fields: nothing,
    act: async ({ visit, tx }) => {
      const { role, shelterId } = await getManaged(visit);
      const { person } = await changePerson(tx, journal, visit.caller, visit.id('personId'), { role, shelterId });
      return { to: `/people/${person.id}`, done: 'The new role is withdrawn.' };
    },
  });

  const remove = screens.form({
    path: '/people/:personId/remove',
    page,
    needs: 'people:manage',
    isFresh: true,
    ends: true,
    fields: removal,
    act: async ({ visit, tx, values: { others = [] } }) => {
      const { person, isJournaled } = await removePerson(tx, journal, visit.caller, visit.id('personId'), others.map(BigInt));
      const also = others.length === 0 ? '' : ` and ${others.length} more`;
      return { to: '/people', done: `${person.name}${also} ${others.length === 0 ? 'is' : 'are'} removed.${ifUnrecorded(isJournaled)}` };
    },
  });

  async function sendRaise(tx: Transaction, { id, name, email }: Person): Promise<string> {
    if (!mails) return `The new role waits until ${name} follows a link: ask your operator for it (homeward people link ${email}).`;
    await queueRaise(tx, id);
    return `The new role waits until ${name} follows the link that is mailed to ${email}.`;
  }

  function waiting({ name, email, raise }: Person, post: Html, times: Times): Html {
    const asked = html`a link. Ask your operator for it: <code>homeward people link ${email}</code>`;
    const link = mails ? html`the link mailed to ${email}` : asked;
    const until = raise !== null && html`, until ${times.at(raise.until)}`;
    return html`<p><strong>${post}</strong> takes effect when <bdi>${name}</bdi> follows ${link}${until}.</p>
<p class="soft">It then signs <bdi>${name}</bdi> out wherever else that is, and removes passkeys: they are added again.
${mails && 'Save the role once more for another mail.'}</p>`;
  }

  /** Those of another shelter are not found, like those who don't exist. */
  async function getManaged(visit: Visit): Promise<Person> {
    const person = await findPerson(db, visit.id('personId'));
    if (!person || (visit.caller.shelterId !== null && person.shelterId !== visit.caller.shelterId))
      throw notFound('There is no such person here.');
    return person;
  }

  async function inviterOf({ caller }: Visit, { invitedBy }: Person): Promise<Html | string> {
    if (invitedBy === null) return 'A command';
    const inviter = await findPerson(db, invitedBy);
    if (!inviter) return 'Somebody who was removed';
    if (caller.shelterId !== null && caller.shelterId !== inviter.shelterId) return 'Somebody who works elsewhere';
    return html`<a href="/people/${inviter.id}"><bdi>${inviter.name}</bdi></a>`;
  }
}

const missed = ({ name }: Person): Html =>
  html`<p><bdi>${name}</bdi> did not follow the link to a new role in time. To offer it again, save the role once more.</p>`;

function mailState({ state, dueAt, endedAt, failure }: LastMail, times: Times, nowMs: number): Html {
  const code = failure === null ? '' : ` (${failure})`;
  if (state === 'failed') {
    const limited = `It has had ${addressBounds.confirmations} such mails today: send one tomorrow, or ask your operator for a link.`;
    const next = failure === dailyLimit ? limited : 'Is the address right? Your operator can make a link, too.';
    return html`<span class="label bad">Not delivered${code}</span> ${next}`;
  }
  if (state === 'sent') return html`Sent${endedAt ? html` ${times.ago(endedAt)}` : ''}`;
  return dueAt.getTime() > nowMs ? html`Goes out ${times.ago(dueAt)}${code}` : html`Waits to be sent${code}`;
}
