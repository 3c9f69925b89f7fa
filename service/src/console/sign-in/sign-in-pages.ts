import type { LinkTurn } from '../../access/people/link-budget.ts';
import { type Role, roleTable } from '../../domain/roles.ts';
import { type Html, html } from '../../platform/html.ts';
import { icon } from '../frame/elements.ts';
import { bannerOf } from '../frame/layout.ts';
import type { ShownPage } from '../screens/screens.ts';

/** The ways in that this store offers. */
export interface Ways {
  /** Mail is on: a person may ask for a link. */
  readonly mails: boolean;
  readonly provider: boolean;
}

interface Asked {
  /** Where the person wanted to go. */
  readonly to: string;
  /** The person that must sign in again; undefined: anyone. */
  readonly again?: { readonly name: string; readonly email: string } | undefined;
  /** The provider does not respond. */
  readonly isProviderAway?: boolean;
}

export const signInPage = ({ mails, provider }: Ways, { to, again, isProviderAway = false }: Asked): ShownPage => {
  const title = again ? 'Sign in again' : 'Sign in';
  const query = `?to=${encodeURIComponent(to)}`;
  return {
    title,
    main: html`<h1>${title}</h1>
${isProviderAway && providerAway(mails)}
${again && html`<p>To manage people, show that it is still you, <strong><bdi>${again.name}</bdi></strong>.</p>`}
<div class="stack" data-passkey="get" data-url="/sign-in/passkey" data-to="${to}" hidden>
<button class="button wide" type="button">${icon('key')}Use a passkey</button>
<p class="wrong" role="alert" hidden></p>
</div>
<noscript><p class="soft small">Passkeys need JavaScript.</p></noscript>
${provider && html`<a class="button quiet wide" href="/sign-in/provider${query}">${icon('person')}Use your organisation’s account</a>`}
${mails && (again ? mailAgain(again.email) : mailForm())}
${!mails && !provider && html`<p class="soft small">No passkey yet? Ask an admin for an invitation, or your operator for a link.</p>`}
${again && html`<p><a href="/">Not now</a></p>`}`,
  };
};

function providerAway(mails: boolean): Html {
  const link = mails ? 'have a link mailed to you' : 'ask your operator for a link';
  const next = `Sign in with a passkey, or ${link}, or try again in a few minutes.`;
  return bannerOf({ tone: 'warn', text: `Your organisation’s account does not respond at this moment. ${next}` });
}

const mailForm = (): Html => html`<p class="or">or</p>
<form method="post" action="/sign-in/mail">
<div class="field">
<label for="email">Your e-mail address</label>
<input id="email" name="email" type="email" autocomplete="email" maxlength="254" required>
</div>
<button class="button quiet">${icon('mail')}Mail me a link</button>
</form>`;

const mailAgain = (email: string): Html => html`<p class="or">or</p>
<form method="post" action="/sign-in/mail">
<input type="hidden" name="email" value="${email}">
<button class="button quiet wide">${icon('mail')}Mail me a link</button>
</form>`;

/** The same for every address, whether anybody has it or not. */
export const mailedPage = (turn: LinkTurn): ShownPage => ({
  title: 'Look into your mail',
  main: html`<h1>Look into your mail</h1>
<p>If this address belongs to somebody who works here, a link is on its way to it. It works for 10 minutes, once.</p>
<p class="soft small">Nothing there after a few minutes? Look into the folder for junk. The next link can go ${whenNext(turn)}.</p>
<p><a href="/sign-in">Back</a></p>`,
});

/** The same for every address, too. */
export const notMailedPage = (turn: LinkTurn): ShownPage => ({
  title: 'Not yet',
  main: html`<h1>Not yet</h1>
<p>A link was asked for before, so none goes now. The next one to this address can go <strong>${whenNext(turn)}</strong>.</p>
<p class="soft small">Look into your mail, and into the folder for junk: a link works for 10 minutes.
A device that you were signed in on before gets links of its own, and with a passkey you need none.</p>
<p><a class="button quiet" href="/sign-in">Back</a></p>`,
});

export const secondsOf = ({ waitMs }: LinkTurn): number => Math.ceil(waitMs / 1_000);

/** More than a minute is until the next day (UTC). */
const whenNext = (turn: LinkTurn): string =>
  secondsOf(turn) <= 60 ? `in ${secondsOf(turn)} s` : `after midnight (UTC), in ${inHours(turn)}`;

const inHours = ({ waitMs }: LinkTurn): string => {
  const minutes = Math.ceil(waitMs / 60_000);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};

/** A link of its own signs nobody in: programs that check mail open it, too. */
export const linkPage = (path: string, name: string): ShownPage => ({
  title: 'Sign in',
  main: html`<h1>Hello, <bdi>${name}</bdi></h1>
<p>This signs you in on this device. The link works once.</p>
<form method="post" action="${path}"><button class="button wide">Sign in</button></form>`,
});

export const invitationPage = (path: string, name: string, workplace: string): ShownPage => ({
  title: 'Welcome',
  main: html`<h1>Welcome, <bdi>${name}</bdi></h1>
<p>You are invited to work with <strong><bdi>${workplace}</bdi></strong> here: its animals, and those who want to adopt them.</p>
<form method="post" action="${path}"><button class="button wide">Accept and sign in</button></form>
<p class="soft small">There is no password to make up. Next you can add a passkey, so that this device signs you in.</p>`,
});

export const raisePage = (path: string, name: string, role: Role, workplace: string): ShownPage => ({
  title: 'Your new role',
  main: html`<h1>Hello, <bdi>${name}</bdi></h1>
<p>You become <strong>${role} of <bdi>${workplace}</bdi></strong>. ${roleTable[role].meaning}</p>
<form method="post" action="${path}"><button class="button wide">Accept and sign in</button></form>
<p class="soft small">You are signed out wherever else you are, and your passkeys are removed: add them again afterwards.
Until you accept, nothing changes.</p>`,
});

export const endedLinkPage = (text: string): ShownPage => ({
  title: 'This link has ended',
  main: html`<h1>This link has ended</h1>
<p>${text}</p>
<p><a class="button quiet" href="/sign-in">Sign in</a></p>`,
});

export const rejectedPage = (text: string): ShownPage => ({
  title: 'You are not signed in',
  main: html`<h1>You are not signed in</h1>
${bannerOf({ tone: 'bad', text })}
<p><a class="button quiet" href="/sign-in">Try again</a></p>`,
});
