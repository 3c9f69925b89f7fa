import type { Order, PetListing } from '@homeward/sdk';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';
import { pictureOf } from './photo.ts';
import { shelterContact } from './shelter-contact.ts';
import { timeText } from './time-text.ts';
import { cancelledByVisitor, orderWords } from './words.ts';

export interface OrderPageParts {
  readonly order: Order;
  /** Undefined if the shelter has removed the animal. */
  readonly listing: PetListing | undefined;
  /** Of the shelter; undefined if it is not known. */
  readonly timezone: string | undefined;
  readonly asOf: string;
  /** The address of the step before cancelling it. */
  readonly cancelAddress: string;
  /** As far as its browser knows. */
  readonly isCancelledByVisitor: boolean;
}

export const canBeCancelled = ({ status }: Order): boolean => status === 'placed' || status === 'approved';

/** There is no more news of one that has ended: the visitor who has cancelled it needs none. */
const mayChange = ({ status }: Order): boolean => status === 'placed' || status === 'approved' || status === 'completed';

export function orderPage({ order, listing, timezone, asOf, cancelAddress, isCancelledByVisitor }: OrderPageParts): Html {
  const { status, expiresAt, adopter } = order;
  const animal = listing?.pet;
  const name = animal?.name ?? 'this animal';
  const { lead, next } = status === 'cancelled' && isCancelledByVisitor ? cancelledByVisitor : orderWords[status];
  return layout({
    title: `Your request for ${name}`,
    drawn: listing ? [listing] : [],
    asOf,
    scripts: status === 'placed' && timezone === undefined ? ['times.js'] : [],
    main: html`
<article class="animal request"${mayChange(order) && html` data-order="${order.id}"`}>
<div class="portrait">${listing && pictureOf(listing, { sizes: '(min-width: 48rem) 30rem, 92vw', loading: 'first' })}</div>
<div class="about">
<h1>Your request for ${name}</h1>
<p class="lead">${lead}</p>
${status === 'placed' && html`<p>${name} is reserved for you. The shelter has time to decide until <strong>${timeText(expiresAt, timezone)}</strong>.</p>`}
${status === 'approved' && html`<p>${name} is reserved for you.</p>`}
<h2>What comes next</h2>
<p>${next}</p>
${canBeCancelled(order) && html`<p><a class="button quiet" href="${cancelAddress}">Cancel the request</a></p>`}
${listing && html`<h2>How to reach the shelter</h2>${shelterContact(listing.shelter)}`}
<h2>What you sent</h2>
<dl class="facts-list">
<div><dt>Request</dt><dd>${order.id}</dd></div>
<div><dt>Asked by</dt><dd>${adopter?.name ?? 'erased'}</dd></div>
<div><dt>E-mail address</dt><dd>${adopter?.email ?? 'erased'}</dd></div>
</dl>
<p class="small">Keep the address of this page: it always shows what the shelter has decided. Don't share it: who has it sees the above and can cancel.</p>
</div>
</article>
<p class="pager">${animal && html`<a class="button quiet" href="/animals/${animal.id}">See ${name}</a>`}<a class="button quiet" href="/">All animals</a></p>`,
  });
}
