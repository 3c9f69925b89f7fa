import { namesReadMax } from '../../adoption/orders/staff-orders.ts';
import { type Html, html } from '../../platform/html.ts';
import { emptyState, icon, withQuery } from '../frame/elements.ts';
import { bounded } from './adoption-words.ts';

/** Some states of a list. The first tab is shown first. */
export interface Tab<Status extends string> {
  readonly key: string;
  readonly name: string;
  readonly statuses: readonly Status[];
  readonly isNewestFirst?: boolean;
}

/** `max`: what was not counted beyond. */
export function tabLinks<Status extends string>(
  path: string,
  query: URLSearchParams,
  tabs: ReadonlyArray<Tab<Status>>,
  chosen: Tab<Status>,
  counts: ReadonlyMap<string, number>,
  max: number,
): Html {
  const link = (tab: Tab<Status>, i: number) => {
    const count = tab.statuses.reduce((sum, status) => sum + (counts.get(status) ?? 0), 0);
    const url = withQuery(path, query, { state: i === 0 ? undefined : tab.key });
    const current = tab === chosen && html` aria-current="page"`;
    return html`<li><a href="${url}"${current}>${tab.name} <span class="number">${bounded(count, max)}</span></a></li>`;
  };
  return html`<nav aria-label="States"><ul class="tabs">${tabs.map(link)}</ul></nav>`;
}

/** As long as an address may be. */
const searchLengthMax = 254;

/** What is looked for; empty: nothing. */
export const searchOf = (query: URLSearchParams): string => (query.get('q') ?? '').trim().slice(0, searchLengthMax);

type SearchKind = 'address' | 'number' | 'name';
export const kindOf = (search: string): SearchKind => (search.includes('@') ? 'address' : /^#?\s*\d+$/.test(search) ? 'number' : 'name');

export function searchBox(path: string, label: string, search: string): Html {
  const bounds = html`maxlength="${searchLengthMax}" autocomplete="off"`;
  return html`<form class="search" role="search" action="${path}">
<label class="hidden" for="q">${label}</label>
<input id="q" name="q" type="search" value="${search}" placeholder="Name, number or e-mail" ${bounds} data-key="/">
<button class="button quiet">${icon('search')}<span>Find</span></button>
${search !== '' && html`<a href="${path}">Show all</a>`}
</form>`;
}

/** Beneath what was found by a name: where it was looked for. */
export const foundByName = (search: string, what: 'applications' | 'orders', max: number): Html | false =>
  kindOf(search) === 'name' && html`<p class="soft small">At most ${max}, the newest first. ${amongOpen(what)}</p>`;

export const nothingFound = (search: string, what: 'applications' | 'orders'): Html =>
  emptyState(
    'search',
    'Nothing found',
    kindOf(search) === 'name'
      ? `Nobody called “${search}” is in the open ${what} here. ${amongOpen(what)}`
      : `There are no ${what} with the number or address “${search}” here. Write the whole address, or the adopter's name or a part of it.`,
  );

const amongOpen = (what: string): string =>
  `Names are looked for in the newest ${namesReadMax.toLocaleString('en')} open ${what} of each state. For those that have ended, search for the whole e-mail address.`;
