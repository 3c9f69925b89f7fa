import { Type } from 'typebox';
import type { LastMail } from '../../changes/mail/mail-queue.ts';
import { findInvitationMail, queueInvitation } from '../../changes/mail/people-mail.ts';
import { rightsOf, roles, roleTable } from '../../domain/roles.ts';
import { linkUrl } from '../../partners/people/link-url.ts';
import {
  changePerson,
  findPerson,
  invitationHours,
  invitePerson,
  listPeople,
  type Person,
  removePerson,
} from '../../partners/people/people.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Db, Transactor } from '../../platform/db/handles.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { type Html, html } from '../../platform/html.ts';
import { StringEnum } from '../../platform/http/schemas.ts';
import type { Journal } from '../../platform/journal/journal.ts';
import { findSheltersCalled, namesOfShelters } from '../../store/shelters/shelter-names.ts';
import type { Choice, Fields } from '../forms/fields.ts';
import { emptyState } from '../frame/empty-state.ts';
import { icon } from '../frame/icons.ts';
import { pageLinks } from '../frame/page-links.ts';
import { factList, table } from '../frame/table.ts';
import type { Times } from '../frame/times.ts';
import { FormError, faultsOf, notFound } from '../screens/page-error.ts';
import type { PageRoute, Screens } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';

interface Parts {
  readonly db: Transactor;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly consoleUrl: string;
  /** Mail is on: invitations are mailed. */
  readonly mails: boolean;
}

const pageSize = 50;
// Nobody gets the whole store because a field was left empty.
const place = { reach: Type.Optional(StringEnum(['shelter', 'store'] as const)), shelter: Type.Optional(Type.String({ maxLength: 200 })) };
const role = StringEnum(roles);
const name = Type.String({ minLength: 1, maxLength: 200 });
const invitation = Type.Object({ email: Type.String({ minLength: 3, maxLength: 254 }), name: Type.Optional(name), role, ...place });
const changes = Type.Object({ name, role, ...place });
const nothing = Type.Object({});

/** Who works here: for admins. What they may do is decided by the operations; the pages only leave out what would be rejected. */
export function addPeople(screens: Screens, { db, journal, clock, consoleUrl, mails }: Parts): void {
  const list: PageRoute = screens.page({
    path: '/people',
    needs: 'people:manage',
    place: { name: 'People', icon: 'people', order: 80 },
    show: async (visit) => {
      const { query, caller, times } = visit;
      const afterId = parseInt64(query.get('cursor') ?? '') ?? 0n;
      const found = await listPeople(db, {
        afterId,
        limit: pageSize + 1,
        ...(caller.shelterId !== null && { shelterId: caller.shelterId }),
      });
      const people = found.slice(0, pageSize);
      const names = await namesOfShelters(
        db,
        people.flatMap((person) => person.shelterId ?? []),
      );
      const isStore = caller.shelterId === null;
      return {
        title: 'People',
        main: html`<div class="head"><h1>People</h1><a class="button" href="/people/invite" data-key="n">${icon('plus')}Invite someone</a></div>
${
  people.length === 0
    ? emptyState('people', 'Nobody here yet', 'Invite those who work with you.')
    : table('People', people, [
        { name: 'Name', cell: ({ id, name }) => html`<a href="/people/${id}" data-row><bdi>${name}</bdi></a>` },
        { name: 'Address', cell: ({ email }) => email },
        { name: 'Role', cell: (person) => capital(person.role) },
        ...(isStore ? [{ name: 'Where', cell: (person: Person) => placeOf(person, names) }] : []),
        {
          name: 'Last seen',
          cell: ({ lastSeenAt, invitedUntil, isOpen }) =>
            invitedUntil ? invitedLabel(isOpen) : lastSeenAt ? times.ago(lastSeenAt) : 'never',
        },
      ])
}
${pageLinks('/people', query, found.length > pageSize ? String(people.at(-1)?.id) : undefined)}`,
      };
    },
  });

  const invite: PageRoute = screens.page({
    path: '/people/invite',
    needs: 'people:manage',
    isFresh: true,
    show: (visit) => ({
      title: 'Invite someone',
      main: html`<a class="crumb" href="/people">${icon('back')}People</a>
<h1>Invite someone</h1>
<section class="card">${visit.form(
        sendInvitation,
        { submit: 'Invite', values: { role: 'staff' } },
        (
          fields,
        ) => html`${fields.text('email', 'E-mail address', { type: 'email', isFirst: true, hint: mails ? 'The invitation is mailed there. You get a link too.' : 'You get a link, and send it yourself.' })}
${fields.text('name', 'Name')}
${placeFields(fields, visit)}`,
      )}</section>`,
    }),
  });

  const sendInvitation = screens.form({
    path: '/people/invite',
    page: invite,
    needs: 'people:manage',
    isFresh: true,
    fields: invitation,
    check: (visit, values) => faultsOf(() => placeGiven(db, values, visit)),
    act: async ({ visit, tx, values }) => {
      const { caller } = visit;
      const { email, name: called, role: given } = values;
      const shelterId = await placeGiven(tx, values, visit);
      const { person, token } = await invitePerson(tx, caller, {
        email,
        ...(called !== undefined && { name: called }),
        role: given,
        shelterId,
      });
      const mailed = mails ? `${whenMailed(person, (await queueInvitation(tx, person.id)).getTime() - clock.now())} ` : '';
      // With mail too: it may come late, or never, and the links from before have just ended.
      return {
        to: `/people/${person.id}`,
        done: `${person.name} is invited for ${invitationHours} hours. ${mailed}Send this link: it is shown once, and works once.`,
        once: linkUrl(consoleUrl, 'invitation', token),
      };
    },
  });

  const page: PageRoute = screens.page({
    path: '/people/:personId',
    needs: 'people:manage',
    show: async (visit) => {
      const person = await getManaged(visit);
      const { times } = visit;
      const names = await namesOfShelters(db, person.shelterId === null ? [] : [person.shelterId]);
      const isSelf = person.id === visit.person.id;
      const mail = mails && person.invitedUntil !== null ? await findInvitationMail(db, person.id) : undefined;
      return {
        title: person.name,
        main: html`<a class="crumb" href="/people">${icon('back')}People</a>
<div class="head"><h1><bdi>${person.name}</bdi></h1>${person.invitedUntil !== null && invitedLabel(person.isOpen)}</div>
<div class="columns">
<section class="card"><h2>About</h2>${factList({
          Address: person.email,
          Role: capital(person.role),
          Where: placeOf(person, names),
          Since: times.on(person.createdAt),
          'Last seen': person.lastSeenAt ? times.ago(person.lastSeenAt) : 'never',
          'Invited until': person.invitedUntil ? times.at(person.invitedUntil) : false,
          Mail: mail && mailState(mail, times, clock.now()),
        })}</section>
<section class="card"><h2>Change</h2>${visit.form(
          change,
          {
            submit: 'Save',
            values: {
              name: person.name,
              role: person.role,
              reach: person.shelterId === null ? 'store' : 'shelter',
              shelter: person.shelterId,
            },
          },
          (fields) => html`${fields.text('name', 'Name')}${placeFields(fields, visit)}`,
        )}</section>
</div>
<section class="card"><h2>${isSelf ? 'Leave' : 'Remove'}</h2>
<p>${isSelf ? 'You are signed out at once, and can sign in no more.' : html`<bdi>${person.name}</bdi> is signed out everywhere at once, and can sign in no more.`} What was done stays in the history.</p>
${visit.form(remove, { submit: isSelf ? 'Remove myself' : html`Remove ${person.name}`, tone: 'danger' })}</section>`,
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
      const { name: called, role: given } = values;
      const shelterId = await placeGiven(tx, values, visit);
      const changed = await changePerson(tx, visit.caller, visit.id('personId'), { name: called, role: given, shelterId });
      return { to: '/people', done: `${changed.name} is saved. What the role permits holds from the next click on.` };
    },
  });

  const remove = screens.form({
    path: '/people/:personId/remove',
    page,
    needs: 'people:manage',
    isFresh: true,
    fields: nothing,
    act: async ({ visit, tx }) => {
      const { person, isJournaled } = await removePerson(tx, journal, visit.caller, visit.id('personId'));
      const noted = isJournaled
        ? ''
        : ' Tell the operators of the store: the disk of the journal is full, and a restored backup would undo it.';
      return { to: list.path, done: `${person.name} is removed.${noted}` };
    },
  });

  /** Those of another shelter are not found, like those who don't exist. */
  async function getManaged(visit: Visit): Promise<Person> {
    const person = await findPerson(db, visit.id('personId'));
    if (!person || (visit.caller.shelterId !== null && person.shelterId !== visit.caller.shelterId))
      throw notFound('There is no such person here.');
    return person;
  }
}

/** An admin of a shelter has no choice of places. */
function placeFields(fields: Fields, { caller }: Visit): Html {
  const isStore = caller.shelterId === null;
  const choices: Choice[] = roles
    .filter((one) => isStore || rightsOf(one, caller.shelterId))
    .map((one) => ({ value: one, label: capital(one), hint: roleTable[one].meaning }));
  return html`${fields.choices('role', 'Role', choices)}
${isStore && html`${fields.choices('reach', 'Where', reaches)}${fields.text('shelter', 'Which shelter', { hint: 'Its name, or its number. Leave it empty for the whole store.' })}`}`;
}

const reaches: readonly Choice[] = [
  { value: 'shelter', label: 'One shelter' },
  { value: 'store', label: 'The whole store' },
];
const foundMax = 5;

/** A person of a shelter has no choice. */
async function placeGiven(
  db: Db,
  { reach, shelter }: { readonly reach?: 'shelter' | 'store'; readonly shelter?: string },
  { caller }: Visit,
): Promise<bigint | null> {
  if (caller.shelterId !== null) return caller.shelterId;
  const text = shelter?.trim() ?? '';
  if (reach === undefined) throw new FormError('Choose one shelter, or the whole store.', 'reach');
  if (reach === 'store' && text !== '') throw new FormError('This is for one shelter. Leave it empty for the whole store.', 'shelter');
  if (reach === 'store') return null;
  if (text === '') throw new FormError('Write the name or the number of the shelter.', 'shelter');
  const found = await findSheltersCalled(db, text, foundMax + 1);
  const [first, second] = found;
  if (!first) throw new FormError(`No shelter has “${text}” in its name, or as its number.`, 'shelter');
  if (!second || (first.isMeant && !second.isMeant)) return first.id;
  const named = found.slice(0, foundMax).map(({ id, name: called }) => `${called} (number ${id})`);
  throw new FormError(
    `Write the number of the one that you mean: ${named.join(', ')}${found.length > foundMax ? ', or others' : ''}.`,
    'shelter',
  );
}

const placeOf = ({ shelterId: id }: Person, names: ReadonlyMap<bigint, string>): Html =>
  id === null ? html`Whole store` : html`<bdi>${names.get(id) ?? `Shelter ${id}`}</bdi>`;

const invitedLabel = (isOpen: boolean): Html =>
  isOpen ? html`<span class="label info">Invited</span>` : html`<span class="label ended">Invitation ended</span>`;

function whenMailed({ email }: Person, inMs: number): string {
  const minutes = Math.round(inMs / 60_000);
  if (minutes < 1) return `A mail to ${email} is queued.`;
  return `One mail an hour goes to ${email}: the next one in ${minutes} min. The link of the last one has ended.`;
}

function mailState({ state, dueAt, endedAt, failure }: LastMail, times: Times, nowMs: number): Html {
  const code = failure === null ? '' : ` (${failure})`;
  if (state === 'failed')
    return html`<span class="label bad">Not delivered${code}</span> Is the address right? Invite again for a link that you send yourself.`;
  if (state === 'sent') return html`Sent${endedAt ? html` ${times.ago(endedAt)}` : ''}`;
  return dueAt.getTime() > nowMs ? html`Goes out ${times.ago(dueAt)}${code}` : html`Waits to be sent${code}`;
}

const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
