import { Type } from 'typebox';
import { linkUrl } from '../../access/people/links.ts';
import {
  invitationHours,
  inviteByMail,
  invitePerson,
  listPeople,
  type NewPerson,
  type Person,
  requireInvitable,
} from '../../access/people/people.ts';
import { PeopleError } from '../../access/people/people-error.ts';
import { findSheltersCalled, namesOfShelters } from '../../adoption/shelters/shelters.ts';
import { queueInvitation } from '../../changes/mail/people-mail.ts';
import { type Post, rightsOf, roles, roleTable } from '../../domain/roles.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Db, Transactor } from '../../platform/db/handles.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { type Html, html } from '../../platform/html.ts';
import { StringEnum } from '../../platform/http/schemas.ts';
import type { Journal } from '../../platform/journal/journal.ts';
import type { Choice, Fields } from '../forms/fields.ts';
import { emptyState, icon, pageLinks, table } from '../frame/elements.ts';
import { FormError, faultsOf } from '../screens/page-error.ts';
import type { PageRoute, Screens } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';

export interface PeopleParts {
  readonly db: Transactor;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly consoleUrl: string;
  /** Mail is on: a link for somebody goes there alone, and no page shows it. */
  readonly mails: boolean;
}

/** What an invitation and a change have in common. Nobody gets the whole store because a field was left empty. */
export const postFields = {
  role: StringEnum(roles),
  reach: Type.Optional(StringEnum(['shelter', 'store'] as const)),
  shelter: Type.Optional(Type.String({ maxLength: 200 })),
};
export const personName = Type.String({ minLength: 1, maxLength: 200 });

const pageSize = 50;
const invitation = Type.Object({
  email: Type.String({ minLength: 3, maxLength: 254 }),
  name: Type.Optional(personName),
  ...postFields,
});

/** Who works here: for admins. What they may do is decided by the operations; the pages only leave out what would be rejected. */
export function addPeople(screens: Screens, { db, consoleUrl, mails }: PeopleParts): void {
  screens.page({
    path: '/people',
    needs: 'people:manage',
    place: { name: 'People', icon: 'people', order: 80 },
    show: async (visit) => {
      const { query, caller, times } = visit;
      const afterId = parseInt64(query.get('cursor') ?? '') ?? 0n;
      const shelterId = caller.shelterId ?? parseInt64(query.get('shelter') ?? '');
      const found = await listPeople(db, {
        afterId,
        limit: pageSize + 1,
        ...(shelterId !== undefined && { shelterId }),
      });
      const people = found.slice(0, pageSize);
      const names = await namesOfShelters(db, [
        ...people.flatMap((person) => person.shelterId ?? []),
        ...(shelterId === undefined ? [] : [shelterId]),
      ]);
      const isStore = caller.shelterId === null;
      const invitePath = `/people/invite${isStore && shelterId !== undefined ? `?shelter=${shelterId}` : ''}`;
      return {
        title: 'People',
        main: html`<div class="head"><h1>People</h1><a class="button" href="${invitePath}" data-key="n">${icon('plus')}Invite someone</a></div>
${isStore && shelterId !== undefined && html`<p>Of ${workplaceOf({ shelterId }, names)}. <a href="/people">Show all</a></p>`}
${
  people.length === 0
    ? emptyState('people', 'Nobody here yet', 'Invite those who work with you.')
    : table('People', people, [
        { name: 'Name', cell: ({ id, name }) => html`<a href="/people/${id}" data-row><bdi>${name}</bdi></a>` },
        { name: 'Address', cell: ({ email }) => email },
        {
          name: 'Role',
          cell: (person) =>
            html`<span>${roleName(person)}${person.raise?.isOpen && html` <span class="label info">New role waits</span>`}</span>`,
        },
        ...(isStore ? [{ name: 'Where', cell: (person: Person) => workplaceOf(person, names) }] : []),
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

  const hint = mails ? 'The invitation is mailed there, and nowhere else.' : 'You get a link, and send it yourself.';
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
        { submit: 'Invite', values: { role: 'staff', ...presetOf(visit) } },
        (fields) => html`${fields.text('email', 'E-mail address', { type: 'email', isFirst: true, hint })}
${fields.text('name', 'Name')}
${shownPostFields(fields, visit)}`,
      )}</section>`,
    }),
  });

  const sendInvitation = screens.form({
    path: '/people/invite',
    page: invite,
    needs: 'people:manage',
    isFresh: true,
    fields: invitation,
    check: async (visit, values) => {
      const { email } = values;
      const faults = await faultsOf(() => placeGiven(db, values, visit));
      if (email === undefined || faults.size > 0) return faults;
      return faultsOf(() => requireInvitable(db, visit.caller, email).catch(besideAddress));
    },
    act: async ({ visit, tx, values }) => {
      const { email, name, role } = values;
      const person: NewPerson = { email, name, role, shelterId: await placeGiven(tx, values, visit) };
      if (mails) {
        const { id, name: called } = await inviteByMail(tx, visit.caller, person);
        await queueInvitation(tx, id);
        return { to: `/people/${id}`, done: `${called} is invited for ${invitationHours} hours. The link is mailed to ${email.trim()}.` };
      }
      const { person: invited, token } = await invitePerson(tx, visit.caller, person);
      const done = `${invited.name} is invited for ${invitationHours} hours.`;
      return {
        to: `/people/${invited.id}`,
        done: `${done} Send this link: it is shown once, and works once.`,
        repeated: `${done} The link was shown once: if you have not seen it, invite again for another one.`,
        once: linkUrl(consoleUrl, 'invitation', token),
      };
    },
  });
}

const besideAddress = (thrown: unknown): never => {
  throw thrown instanceof PeopleError ? new FormError(thrown.message, 'email') : thrown;
};

/** An admin of a shelter has no choice of places. */
export function shownPostFields(fields: Fields, { caller }: Visit): Html {
  const isStore = caller.shelterId === null;
  const choices: Choice[] = roles
    .filter((one) => isStore || rightsOf(one, caller.shelterId))
    .map((one) => ({ value: one, label: roleName({ role: one }), hint: roleTable[one].meaning }));
  return html`${fields.choices('role', 'Role', choices)}
${isStore && fields.choices('reach', 'Where', reaches)}
${isStore && fields.text('shelter', 'Which shelter', { hint: 'Its name, or its number. Leave it empty for the whole store.' })}`;
}

const reaches: readonly Choice[] = [
  { value: 'shelter', label: 'One shelter' },
  { value: 'store', label: 'The whole store' },
];
const foundMax = 5;

/** A person of a shelter has no choice. */
export async function placeGiven(
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

/** Who comes from the page of a shelter invites somebody there. */
const presetOf = ({ query }: Visit) => (query.has('shelter') ? { reach: 'shelter', shelter: query.get('shelter') ?? '' } : {});

/** What the fields show first. */
export const postValues = ({ role, shelterId }: Post) => ({ role, reach: shelterId === null ? 'store' : 'shelter', shelter: shelterId });

/** For people: where somebody works. */
export const workplaceOf = ({ shelterId: id }: Pick<Post, 'shelterId'>, names: ReadonlyMap<bigint, string>): Html =>
  id === null ? html`Whole store` : html`<bdi>${names.get(id) ?? `Shelter ${id}`}</bdi>`;

export const roleName = ({ role }: Pick<Post, 'role'>): string => `${role.slice(0, 1).toUpperCase()}${role.slice(1)}`;

export const invitedLabel = (isOpen: boolean): Html =>
  isOpen ? html`<span class="label info">Invited</span>` : html`<span class="label ended">Invitation ended</span>`;
