import type { Order, PetListing } from '@homeward/sdk';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';
import { pictureOf } from './photo.ts';
import { orderWords } from './words.ts';

export interface OrderPageParts {
  readonly order: Order;
  /** Undefined if the shelter has removed the animal. */
  readonly listing: PetListing | undefined;
  readonly asOf: string;
  /** The address of the step before cancelling it. */
  readonly cancelAddress: string;
}

export const canBeCancelled = ({ status }: Order): boolean => status === 'placed' || status === 'approved';

const timeWords = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

export function orderPage({ order, listing, asOf, cancelAddress }: OrderPageParts): Html {
  const animal = listing?.pet;
  const name = animal?.name ?? 'this animal';
  const { adopter } = order;
  return layout({
    title: `Your request for ${name}`,
    drawn: listing ? [listing] : [],
    asOf,
    main: html`
<article class="animal" data-order="${order.id}">
<div class="portrait">${listing && pictureOf(listing, { sizes: '(min-width: 48rem) 30rem, 92vw', loading: 'first' })}</div>
<div class="about">
<h1>Your request for ${name}</h1>
<p class="lead">${orderWords[order.status]}</p>
${order.status === 'placed' && html`<p>${name} is reserved for you. The shelter has time to decide until <time datetime="${order.expiresAt}">${timeWords.format(new Date(order.expiresAt))} UTC</time>.</p>`}
<dl class="facts-list">
<dt>Request</dt><dd>${order.id}</dd>
<dt>Asked by</dt><dd>${adopter?.name ?? 'erased'}</dd>
<dt>E-mail address</dt><dd>${adopter?.email ?? 'erased'}</dd>
</dl>
${canBeCancelled(order) && html`<p><a class="button quiet" href="${cancelAddress}">Cancel the request</a></p>`}
<p class="small">Keep the address of this page: it always shows what the shelter has decided. Don't share it: who has it sees the above and can cancel.</p>
</div>
</article>
<p class="pager">${animal && html`<a class="button quiet" href="/animals/${animal.id}">See ${name}</a>`}<a class="button quiet" href="/">All animals</a></p>`,
  });
}
