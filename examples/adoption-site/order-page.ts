import type { Order, Pet } from '@homeward/sdk';
import { drawingOf } from './drawings.ts';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';
import { orderWords } from './words.ts';

export interface OrderPageParts {
  readonly order: Order;
  /** Undefined if the shelter has removed the animal. */
  readonly animal: Pet | undefined;
  readonly asOf: string;
}

const timeWords = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

export function orderPage({ order, animal, asOf }: OrderPageParts): Html {
  const name = animal?.name ?? 'this animal';
  const { adopter } = order;
  return layout({
    title: `Your request for ${name}`,
    animals: animal ? [animal] : [],
    asOf,
    main: html`
<article class="animal" data-order="${order.id}">
<div class="portrait">${animal && drawingOf(animal)}</div>
<div class="about">
<h1>Your request for ${name}</h1>
<p class="lead">${orderWords[order.status]}</p>
${order.status === 'placed' && html`<p>${name} is reserved for you. The shelter has time to reply until <time datetime="${order.expiresAt}">${timeWords.format(new Date(order.expiresAt))} UTC</time>.</p>`}
<dl class="facts-list">
<dt>Request</dt><dd>${order.id}</dd>
<dt>Asked by</dt><dd>${adopter?.name ?? 'erased'}</dd>
<dt>The reply goes to</dt><dd>${adopter?.email ?? 'erased'}</dd>
</dl>
<p class="small">Keep the address of this page: it always shows the status of your request. Don't share it with anyone who should not see the above.</p>
</div>
</article>
<p class="pager">${animal && html`<a class="button quiet" href="/animals/${animal.id}">See ${name}</a>`}<a class="button quiet" href="/">All animals</a></p>`,
  });
}
