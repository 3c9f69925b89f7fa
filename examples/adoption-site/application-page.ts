import type { Application, PetListing } from '@homeward/sdk';
import { wordsOf } from './application-words.ts';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';
import { pictureOf } from './photo.ts';
import { isWebAddress, shelterContact } from './shelter-contact.ts';

export interface ApplicationPageParts {
  readonly application: Application;
  /** Undefined if the shelter has removed the animal. */
  readonly listing: PetListing | undefined;
  readonly asOf: string;
  /** The address of the step before withdrawing it. */
  readonly withdrawAddress: string;
}

/** One that nobody has confirmed is deleted by itself. */
export const canBeWithdrawn = ({ status }: Application): boolean => ['submitted', 'reviewing', 'accepted'].includes(status);

export function applicationPage({ application, listing, asOf, withdrawAddress }: ApplicationPageParts): Html {
  const { id, shelterId, status, adopter, message, statusUrl } = application;
  const name = listing?.pet.name ?? 'this animal';
  // The animal may have moved after the shelter had decided.
  const shelter = listing && Number(listing.shelter.id) === Number(shelterId) ? listing.shelter : undefined;
  const words = wordsOf(application, { pet: name, shelter: shelter?.name ?? 'the shelter', email: adopter?.email ?? 'your address' });
  return layout({
    title: `Your application for ${name}`,
    drawn: listing ? [listing] : [],
    asOf,
    main: html`
<article class="animal" data-application="${id}" data-status="${status}">
<div class="portrait">${listing && pictureOf(listing, { sizes: '(min-width: 48rem) 30rem, 92vw', loading: 'first' })}</div>
<div class="about">
<h1>Your application for ${name}</h1>
<p class="facts"><span class="badge" data-status="${toneOf(status)}">${words.label}</span></p>
<p class="lead">${words.lead}</p>
<p>${words.text}</p>
${message !== null && html`<p>The shelter writes:</p><blockquote class="note">${message}</blockquote>`}
<h2>What comes next</h2>
<p>${words.next}</p>
<dl class="facts-list">
<div><dt>Application</dt><dd>${id}</dd></div>
<div><dt>Asked by</dt><dd>${adopter?.name ?? 'erased'}</dd></div>
<div><dt>E-mail address</dt><dd>${adopter?.email ?? 'erased'}</dd></div>
</dl>
${shelter && status !== 'unconfirmed' && html`<h2>How to reach the shelter</h2>${shelterContact(shelter)}`}
${statusUrl !== undefined && isWebAddress(statusUrl) && html`<p><a href="${statusUrl}" rel="noreferrer">Your application at the store</a>: there you can also have your data erased.</p>`}
${canBeWithdrawn(application) && html`<p><a class="button quiet" href="${withdrawAddress}">Withdraw the application</a></p>`}
<p class="small">Keep the address of this page: it always shows where your application stands. Don't share it: who has it sees the above and can withdraw.</p>
</div>
</article>
<p class="pager">${listing && html`<a class="button quiet" href="/animals/${listing.pet.id}">See ${name}</a>`}<a class="button quiet" href="/">All animals</a></p>`,
  });
}

/** The colours of animals' statuses. */
function toneOf(status: Application['status']): string {
  if (status === 'accepted' || status === 'completed') return 'available';
  return ['unconfirmed', 'submitted', 'reviewing'].includes(status) ? 'pending' : 'sold';
}
