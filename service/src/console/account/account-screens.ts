import { Type } from 'typebox';
import {
  addPasskey,
  hasIdentity,
  listPasskeys,
  passkeysMax,
  removePasskey,
  renamePasskey,
  useOnce,
} from '../../access/people/credentials.ts';
import { endAllSessions, endSession, listSessions, type Session, type SignInMethod } from '../../access/people/sessions.ts';
import { cancelSignInLinks } from '../../changes/mail/people-mail.ts';
import type { Transactor } from '../../platform/db/handles.ts';
import { type Html, html } from '../../platform/html.ts';
import type { Journal } from '../../platform/journal/journal.ts';
import { factList, icon, table } from '../frame/elements.ts';
import { endSessionsPath } from '../screens/entrance.ts';
import type { Frame } from '../screens/frame.ts';
import { FormError, ifUnrecorded, notFound, PageError } from '../screens/page-error.ts';
import type { PageRoute, Screens } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import type { PasskeyCeremonies } from '../sign-in/passkey-ceremonies.ts';

interface Parts {
  readonly db: Transactor;
  readonly journal: Journal;
  readonly frame: Frame;
  readonly ceremonies: PasskeyCeremonies;
  /** People may sign in with a provider of OpenID Connect. */
  readonly hasProvider: boolean;
}

const methods: Readonly<Record<SignInMethod, string>> = { passkey: 'a passkey', oidc: 'your organisation’s account', link: 'a link' };
const nothing = Type.Object({});
const passkeyName = Type.Object({ name: Type.String({ minLength: 1, maxLength: 100 }) });

/** What people see and change of themselves: passkeys, and where they are signed in. */
export function addAccount(screens: Screens, { db, journal, frame, ceremonies, hasProvider }: Parts): void {
  const page: PageRoute = screens.page({
    path: '/me',
    needs: 'a person',
    place: { name: 'You', icon: 'person', order: 90 },
    show: async (visit) => {
      const { person, session, times, workplace } = visit;
      const [passkeys, sessions, isBound] = await Promise.all([
        listPasskeys(db, person.id),
        listSessions(db, person.id),
        hasProvider ? hasIdentity(db, person.id) : true,
      ]);
      return {
        title: 'You',
        main: html`<div class="head"><h1><bdi>${person.name}</bdi></h1>${visit.form(signOut, { submit: 'Sign out', tone: 'quiet', isInline: true })}</div>
${visit.query.has(firstPasskey) && nextSteps(visit)}
<section class="card">${factList({ Address: person.email, Role: capital(person.role), Where: html`<bdi>${workplace.name}</bdi>` })}
${!isBound && html`<p><a href="/sign-in/provider?to=/me">Sign in with your organisation’s account from now on</a></p>`}
<p><a href="/keys">Keys of the keyboard</a></p></section>
<section class="card" aria-labelledby="passkeys">
<h2 id="passkeys">Passkeys</h2>
<p class="soft">A passkey signs you in with your fingerprint, your face or the PIN of your device. There is no password that could be guessed or lost.</p>
${
  passkeys.length > 0 &&
  table('Your passkeys', passkeys, [
    { name: 'Name', cell: ({ name }) => html`<bdi>${name}</bdi>` },
    { name: 'Added', cell: ({ createdAt }) => times.on(createdAt) },
    { name: 'Last used', cell: ({ lastUsedAt }) => (lastUsedAt ? times.ago(lastUsedAt) : 'never') },
    { name: 'Acts', isActs: true, cell: ({ id }) => html`<a class="button quiet" href="/me/passkeys/${id}">Change</a>` },
  ])
}
${passkeys.length < passkeysMax ? adding(visit) : html`<p class="soft">You have ${passkeysMax} passkeys, as many as there can be.</p>`}
</section>
<section class="card" aria-labelledby="sessions">
<h2 id="sessions">Where you are signed in</h2>
${table('Your sessions', sessions, [
  {
    name: 'Since',
    cell: (one) => html`${times.at(one.signedInAt)}${one.id === session.id && html` <span class="label good">This one</span>`}`,
  },
  { name: 'By', cell: ({ method }) => methods[method] },
  { name: 'From', cell: ({ network }) => html`<span class="number">${network}</span>` },
  { name: 'Last used', cell: ({ lastSeenAt }) => times.ago(lastSeenAt) },
  {
    name: 'Acts',
    isActs: true,
    cell: (one: Session) =>
      one.id !== session.id && visit.form(end, { submit: 'End', tone: 'quiet', isInline: true, params: { sessionId: one.id } }),
  },
])}
${visit.form(endAll, { submit: 'End all of them, this one too', tone: 'danger' })}
</section>`,
      };
    },
  });

  const signOut = screens.form({
    path: '/me/sign-out',
    page,
    needs: 'a person',
    ends: true,
    fields: nothing,
    act: async ({ visit, tx }) => {
      await endSession(tx, visit.caller, visit.session.id, visit.session.id);
      return { to: '/sign-in' };
    },
  });

  const end = screens.form({
    path: '/me/sessions/:sessionId/end',
    page,
    needs: 'a person',
    ends: true,
    fields: nothing,
    act: async ({ visit, tx }) => {
      await endSession(tx, visit.caller, visit.session.id, visit.id('sessionId'));
      return { to: '/me', done: 'That session has ended.' };
    },
  });

  const endAll = screens.form({
    path: endSessionsPath,
    page,
    needs: 'a person',
    ends: true,
    fields: nothing,
    act: async ({ visit, tx }) => {
      await endAllSessions(tx, visit.caller);
      await cancelSignInLinks(tx, visit.person.id);
      return { to: '/sign-in' };
    },
  });

  const passkeyPage: PageRoute = screens.page({
    path: '/me/passkeys/:passkeyId',
    needs: 'a person',
    show: async (visit) => {
      const id = visit.id('passkeyId');
      const passkey = (await listPasskeys(db, visit.person.id)).find((one) => one.id === id);
      if (!passkey) throw notFound('You have no such passkey. It may have been removed.');
      const { name, createdAt, lastUsedAt } = passkey;
      return {
        title: name,
        main: html`<a class="crumb" href="/me">${icon('back')}You</a>
<h1><bdi>${name}</bdi></h1>
<section class="card">${factList({ Added: visit.times.at(createdAt), 'Last used': lastUsedAt ? visit.times.at(lastUsedAt) : 'never' })}
${visit.form(rename, { submit: 'Rename', tone: 'quiet', values: { name } }, (fields) => fields.text('name', 'Name'))}</section>
<section class="card"><h2>Remove</h2>
<p>It signs nobody in from then on. Delete it on your device, too.</p>
${visit.form(remove, { submit: 'Remove this passkey', tone: 'danger' })}</section>`,
      };
    },
  });

  const rename = screens.form({
    path: '/me/passkeys/:passkeyId/rename',
    page: passkeyPage,
    needs: 'a person',
    fields: passkeyName,
    act: async ({ visit, tx, values: { name } }) => {
      if (!(await renamePasskey(tx, visit.person.id, visit.id('passkeyId'), name))) throw new FormError('This passkey was removed.');
      return { to: '/me', done: `The passkey is called ${name.trim()} now.` };
    },
  });

  const remove = screens.form({
    path: '/me/passkeys/:passkeyId/remove',
    page: passkeyPage,
    needs: 'a person',
    ends: true,
    fields: nothing,
    act: async ({ visit, tx }) => {
      const removed = await removePasskey(tx, journal, visit.caller, visit.id('passkeyId'));
      return { to: '/me', done: `The passkey is removed.${ifUnrecorded(removed?.isJournaled ?? true)}` };
    },
  });

  screens.other({
    method: 'POST',
    path: '/me/passkeys/options',
    isScript: true,
    needs: 'a person',
    isFresh: true,
    handle: async ({ person }, _, reply) => reply.send(await ceremonies.startCreating(reply, person, await listPasskeys(db, person.id))),
  });

  screens.other({
    method: 'POST',
    path: '/me/passkeys',
    isScript: true,
    needs: 'a person',
    isFresh: true,
    handle: async (visit, request, reply) => {
      const { response, name } = (request.body ?? {}) as { response?: unknown; name?: unknown };
      const { passkey, challenge } = await ceremonies.finishCreating(request, reply, response);
      const given = typeof name === 'string' && name.trim() !== '' ? name : 'Passkey';
      const added = await db.transaction(async (tx) => {
        if (!(await useOnce(tx, 'passkey challenge', challenge.text, challenge.endsAt)))
          throw new PageError(403, '', 'This was sent before. Try again.');
        return addPasskey(tx, visit.caller, { ...passkey, name: given });
      }, visit.caller);
      frame.done(reply, `The passkey ${added.name} is added. Next time it signs you in.`);
      const isFirst = (await listPasskeys(db, visit.person.id)).length === 1;
      return reply.send({ next: isFirst ? `/me?${firstPasskey}` : '/me' });
    },
  });
}

/** In the address of the page to which the first passkey leads. */
const firstPasskey = 'first';

/** For who has just arrived: there is nothing more to set up for oneself. */
const nextSteps = (visit: Visit): Html => html`<section class="card"><h2>What comes next</h2>
<p>You are ready: there is nothing more to set up for yourself.</p>
<ul>
<li><a href="/">Today</a> shows what needs somebody.</li>
<li><a href="/animals">Animals</a> is where you add them, describe them and send their photos.</li>
${
  visit.may('shelter:settings') &&
  html`<li><a href="/shelters">${visit.caller.shelterId === null ? 'Shelters' : 'Shelter'}</a> has contact, opening hours
and the questions to those who apply.</li>`
}
${visit.may('people:manage') && html`<li><a href="/people/invite">Invite</a> those who work with you.</li>`}
</ul></section>`;

/** Needs JavaScript, as passkeys do; and a new sign-in, since a passkey outlasts the session. */
const adding = (visit: Visit): Html =>
  visit.session.isFresh
    ? html`<div class="form stack" data-passkey="create" data-url="/me/passkeys" data-token="${visit.formToken}" hidden>
<div class="field"><label for="passkey-name">Name of this device</label><input id="passkey-name" maxlength="100" autocomplete="off" value="${deviceName}"></div>
<button class="button" type="button">${icon('key')}Add a passkey</button>
<p class="wrong" role="alert" hidden></p>
</div>
<noscript><p class="soft">Adding a passkey needs JavaScript.</p></noscript>`
    : html`<p><a class="button quiet" href="/sign-in/again?to=/me">Sign in again to add a passkey</a></p>`;

const deviceName = 'My phone';

const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
