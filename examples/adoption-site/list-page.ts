import type { Category, Pet, PetStatus } from '@homeward/sdk';
import type { AnimalPage, Filter, Seen } from './catalogue.ts';
import { drawingOf } from './drawings.ts';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';
import { categoryName, statusWords } from './words.ts';

const emptyWords: Readonly<Record<PetStatus, string>> = {
  available: 'needs a home right now',
  pending: 'is promised to someone right now',
  sold: 'has found a home through us yet',
};

export function listPage({ value, asOf }: Seen<AnimalPage>, filter: Filter, categories: readonly Category[]): Html {
  const category = categories.find(({ id }) => id === filter.categoryId);
  const title = `${category?.name ?? 'Animals'}: ${statusWords[filter.status].toLowerCase()}`;
  return layout({
    title,
    description: `${title}. Meet them, and ask to adopt one.`,
    animals: value.items,
    asOf,
    main: html`
<div class="hero"><h1>Somebody here is waiting for you</h1><p>Meet the animals of the shelter. When one is promised while you look, this page shows it at once.</p></div>
<nav class="chips" aria-label="Kind of animal">
${chip('All', addressOf({ status: filter.status }), filter.categoryId === undefined)}
${categories.map(({ id, name }) => chip(name ?? '', addressOf({ status: filter.status, categoryId: id }), id === filter.categoryId))}
</nav>
<nav class="tabs" aria-label="Status">
${(Object.keys(statusWords) as PetStatus[]).map((status) => chip(statusWords[status], addressOf({ ...filter, status, cursor: undefined }), status === filter.status))}
</nav>
<ul class="cards" id="animals" data-status="${filter.status}" data-category="${String(filter.categoryId ?? '')}">
${value.items.map((animal) => animalCard(animal, categories))}
</ul>
${value.items.length === 0 && html`<p class="empty">Nobody ${category ? `among “${category.name}” ` : ''}${emptyWords[filter.status]}. Leave this page open: it tells you when someone arrives.</p>`}
<p class="pager">
${filter.cursor !== undefined && html`<a class="button quiet" href="${addressOf({ ...filter, cursor: undefined })}">Back to the first</a>`}
${value.cursor !== undefined && html`<a class="button" href="${addressOf({ ...filter, cursor: value.cursor })}" rel="next">More animals</a>`}
</p>`,
  });
}

export function animalCard(animal: Pet, categories: readonly Category[]): Html {
  return html`<li class="card" data-animal="${animal.id}"><a href="/animals/${animal.id}">${drawingOf(animal)}
<h2>${animal.name}</h2><span class="kind">${categoryName(animal, categories)}</span>${statusBadge(animal)}</a></li>
`;
}

export const statusBadge = ({ status }: Pet): Html => html`<span class="badge" data-status="${status}">${statusWords[status]}</span>`;

const chip = (words: string, address: string, isCurrent: boolean): Html =>
  html`<a href="${address}"${isCurrent && html` aria-current="page"`}>${words}</a>
`;

function addressOf({ status, categoryId, cursor }: Filter): string {
  const query = new URLSearchParams();
  if (categoryId !== undefined) query.set('category', String(categoryId));
  if (status !== 'available') query.set('status', status);
  if (cursor !== undefined) query.set('cursor', cursor);
  return query.size === 0 ? '/' : `/?${query}`;
}
