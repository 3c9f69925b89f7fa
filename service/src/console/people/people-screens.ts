import { Type } from 'typebox';
import { queueInvitation } from '../../changes/mail/people-mail.ts';
import { linkUrl } from '../../partners/people/link-url.ts';
import {
  invitationHours,
  inviteByMail,
  invitePerson,
  listPeople,
  type NewPerson,
  type Person,
  requireInvitable,
} from '../../partners/people/people.ts';
import { PeopleError } from '../../partners/people/people-error.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { html } from '../../platform/html.ts';
import { namesOfShelters } from '../../store/shelters/shelter-names.ts';
import { emptyState, icon, pageLinks, table } from '../frame/elements.ts';
import { FormError, faultsOf } from '../screens/page-error.ts';
import type { PageRoute, Screens } from '../screens/screens.ts';
import { personName, placeGiven, postFields, roleName, shownPostFields, workplaceOf } from './person-fields.ts';
import { addPerson, invitedLabel, type PeopleParts } from './person-page.ts';

const pageSize = 50;
const invitation = Type.Object({
  email: Type.String({ minLength: 3, maxLength: 254 }),
  name: Type.Optional(personName),
  ...postFields,
});

/** Who works here: for admins. What they may do is decided by the operations; the pages only leave out what would be rejected. */
export function addPeople(screens: Screens, parts: PeopleParts): void {
  const { db, consoleUrl, mails } = parts;
  screens.page({
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
        ) => html`${fields.text('email', 'E-mail address', { type: 'email', isFirst: true, hint: mails ? 'The invitation is mailed there, and nowhere else.' : 'You get a link, and send it yourself.' })}
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

  addPerson(screens, parts);
}

const besideAddress = (thrown: unknown): never => {
  throw thrown instanceof PeopleError ? new FormError(thrown.message, 'email') : thrown;
};
