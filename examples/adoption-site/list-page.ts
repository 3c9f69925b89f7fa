import type { Category, Facets, PetListing, PetStatus } from '@homeward/sdk';
import { animalCard } from './animal-card.ts';
import type { ListingPage, Seen } from './catalogue.ts';
import { type Chosen, chosenOf } from './chosen-filters.ts';
import { addressOf, type Filter, isNarrow, ofKind } from './filter.ts';
import { filterForm, type Place } from './filter-form.ts';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';
import type { OwnState } from './own-requests.ts';
import { understoodFilter, withoutMeaning, withSpelling } from './understood-words.ts';
import { areFew, waysOn } from './ways-on.ts';
import { listWords } from './words.ts';

export interface ListPageParts {
  readonly seen: Seen<ListingPage>;
  readonly filter: Filter;
  readonly categories: readonly Category[];
  readonly places: readonly Place[];
  readonly facets: Facets | undefined;
  /** Those to look at in addition to the few that are found. */
  readonly others: readonly PetListing[];
  /** The visitor's own requests, by the ids of animals. */
  readonly own: ReadonlyMap<string, OwnState>;
  readonly publicUrl: string;
}

const emptyWords: Readonly<Record<PetStatus, string>> = {
  available: 'needs a home right now',
  pending: 'is promised or waiting for something else right now',
  sold: 'has found a home through us yet',
};
/** Visible without scrolling on a desktop. */
const eagerMax = 4;

export function listPage({ seen: { value, asOf }, filter, categories, places, facets, others, own, publicUrl }: ListPageParts): Html {
  const { status, categoryId } = filter;
  const category = categories.find(({ id }) => id === categoryId);
  const title = `${category?.name ?? 'Animals'}: ${listWords[status].toLowerCase()}`;
  const firstPage = { ...filter, cursor: undefined };
  const understood = understoodFilter(firstPage, value.understoodAs);
  const isSearch = isNarrow(filter);
  const chosen = chosenOf({ typed: firstPage, understood, found: value.items, categories, places });
  const few = areFew(filter, value);
  const { text: count, of } = countOf(filter, value, facets);
  return layout({
    title: isSearch ? `${count} · ${title}` : title,
    description: `${title}. Meet them, and ask to adopt one.`,
    // One address for each kind and status, however it was searched.
    canonical: new URL(addressOf(ofKind(filter)), publicUrl).href,
    drawn: [...value.items, ...others],
    asOf,
    scripts: ['near.js'],
    // Past the search, the kinds and the tabs.
    skip: { to: 'results', text: 'Skip to the animals' },
    main: html`
${!isSearch && html`<div class="hero"><h1>Somebody here is waiting for you</h1><p>Meet the animals of our shelters. When one is promised while you look, this page shows it at once.</p></div>`}
${filterForm(firstPage, places, facets?.isExact ? facets : undefined)}
<nav class="chips" aria-label="Kind of animal">
${chip('All', addressOf({ ...understood, categoryId: undefined }), understood.categoryId === undefined)}
${categories.map(({ id, name }) => chip(name ?? '', addressOf({ ...understood, categoryId: id }), id === understood.categoryId))}
</nav>
<nav class="tabs" aria-label="Status">
${(Object.keys(listWords) as PetStatus[]).map((one) => chip(listWords[one], addressOf({ ...understood, status: one }), one === status))}
</nav>
<div id="results">
${isSearch ? html`<h1 class="found">${count}</h1>${of && html`<p class="understood">${of}</p>`}${chosenFilters(firstPage, chosen)}${searchNotes(firstPage, understood, value)}` : value.items.length > 0 && html`<p class="found">${count}</p>${of && html`<p class="understood">${of}</p>`}`}
<ul class="cards" id="animals" data-status="${status}" data-category="${String(categoryId ?? '')}"${isSearch && html` data-narrow`}>
${value.items.map((listing, index) => animalCard(listing, { categories, usual: status, own, loading: index === 0 ? 'first' : index < eagerMax ? 'eager' : 'lazy' }))}
</ul>
${value.items.length === 0 && html`<p class="empty">${emptyText(filter, category)}</p>`}
</div>
${few && waysOn({ filter: understood, chosen, category: categories.find(({ id }) => id === understood.categoryId), categories, places, others })}
<p class="pager">
${filter.cursor !== undefined && html`<a class="button quiet" href="${addressOf(firstPage)}">Back to the first</a>`}
${value.cursor !== undefined && html`<a class="button" href="${addressOf({ ...filter, cursor: value.cursor })}" rel="next">More animals</a>`}
</p>`,
  });
}

interface Counted {
  readonly text: string;
  /** What was counted, if it is not all that are found. */
  readonly of?: string;
}

const countedBy = { ages: 'age', sexes: 'sex', sizes: 'size' } as const;

/**
 * How many animals are found. The store doesn't count them, but the values that they are known to have: there are at least as many as
 * the most of these.
 */
function countOf({ cursor }: Filter, { items, cursor: next }: ListingPage, facets: Facets | undefined): Counted {
  if (cursor === undefined && next === undefined) return { text: items.length === 1 ? '1 animal' : `${items.length || 'No'} animals` };
  const names = Object.keys(countedBy) as Array<keyof typeof countedBy>;
  const counts = names.map((name) => ({ name, sum: (facets?.[name] ?? []).reduce((sum, { count }) => sum + count, 0) }));
  const [most] = counts.toSorted((a, b) => b.sum - a.sum);
  // There is another page than this one.
  if (!most || most.sum <= items.length) return { text: `More than ${items.length} animals` };
  return {
    text: `At least ${most.sum.toLocaleString('en')} animals`,
    of: `So many have a known ${countedBy[most.name]}; the others are not counted.`,
  };
}

function emptyText(filter: Filter, category: Category | undefined): string {
  if (isNarrow(filter)) return 'Nobody here is known to be all of that.';
  const among = category ? `among “${category.name}” ` : '';
  return `Nobody ${among}${emptyWords[filter.status]}. Leave this page open: it tells you when someone arrives.`;
}

/** Each filter that is on, as a link that turns it off. */
const chosenFilters = (filter: Filter, chosen: readonly Chosen[]): Html | false =>
  chosen.length > 0 &&
  html`<ul class="chosen" aria-label="Filters that are on">${chosen.map(({ text, without }) => html`<li><a href="${addressOf(without)}">${text} <span aria-hidden="true">×</span><span class="unseen"> – remove this filter</span></a></li>`)}
<li><a class="plain" href="${addressOf(ofKind(filter))}">Remove all</a></li></ul>`;

/** So that a visitor sees why these animals are found, and can say that the words mean something else. */
function searchNotes(typed: Filter, understood: Filter, { items, corrections = [], leftOut = [] }: ListingPage): Html | false {
  if (typed.words === undefined) return false;
  const asTyped = { ...understood, words: typed.words };
  const isUnderstood = addressOf(asTyped) !== addressOf(typed);
  const near = leftOut.filter((text) => /near|close|around|area|local/i.test(text));
  // What was left out matters if it was meant, or if nobody is found.
  const said = items.length === 0 ? leftOut : near;
  return html`${corrections.length > 0 && html`<p class="understood">Showing results for <strong>${corrections.map(({ searched }) => searched).join(', ')}</strong>. <a href="${addressOf(withSpelling(typed, understood, corrections))}">Search for “${corrections.map(({ typed: word }) => word).join(' ')}” itself</a></p>`}
${said.length > 0 && html`<p class="understood">Left out: ${said.map((text) => `“${text}”`).join(', ')}.${near.length > 0 && ' To see who is near, choose a place in the filters.'}</p>`}
${isUnderstood && html`<p class="understood">Your words were understood as these filters. <a href="${addressOf(withoutMeaning(typed))}">Search for the words instead</a></p>`}`;
}

const chip = (words: string, address: string, isCurrent: boolean): Html =>
  html`<a href="${address}"${isCurrent && html` aria-current="page"`}>${words}</a>
`;
