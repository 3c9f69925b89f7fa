import { type Html, html } from '../../platform/html.ts';
import { icon, withQuery } from '../frame/elements.ts';
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
export const searchLengthMax = 254;
export const searchPath = '/adopters';

/** Finds adopters in every state, from each list. */
export function searchBox(typed = ''): Html {
  const bounds = html`maxlength="${searchLengthMax}" autocomplete="off"`;
  return html`<form class="search" role="search" action="${searchPath}">
<label class="hidden" for="q">Name, e-mail address or telephone number of an adopter, or a number</label>
<input id="q" name="q" type="search" value="${typed}" placeholder="Name, telephone or e-mail" ${bounds} data-key="/">
<button class="button quiet">${icon('search')}<span>Find</span></button>
</form>`;
}
