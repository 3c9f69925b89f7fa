import { type Html, html } from '../../platform/html.ts';
import { icon } from './icons.ts';

/** The URL of a page with other values in its query: undefined removes one. The cursor is of the old list, so it is removed too. */
export function withQuery(path: string, query: URLSearchParams, changes: Readonly<Record<string, string | undefined>>): string {
  const changed = new URLSearchParams(query);
  for (const [name, value] of Object.entries({ cursor: undefined, ...changes })) {
    if (value === undefined || value === '') changed.delete(name);
    else changed.set(name, value);
  }
  return changed.size === 0 ? path : `${path}?${changed}`;
}

/** The ways from a page of a list to the first one and to the next. Nothing if all is on one page. */
export function pageLinks(path: string, query: URLSearchParams, next: string | undefined): Html | false {
  const isFirst = !query.has('cursor');
  if (isFirst && next === undefined) return false;
  return html`<nav class="pages" aria-label="Pages">
${!isFirst && html`<a class="button quiet" href="${withQuery(path, query, {})}">${icon('back')}First page</a>`}
${next !== undefined && html`<a class="button quiet" href="${withQuery(path, query, { cursor: next })}">Next page${icon('forward')}</a>`}
</nav>`;
}
