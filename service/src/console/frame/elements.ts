import { Html, type HtmlValue, html } from '../../platform/html.ts';

/** A column of a table: the first one names the row. */
export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => HtmlValue;
  /** What can be done with the row. It has no label on a phone. */
  readonly isActs?: true;
}

/** A table that becomes cards on a phone. `caption` is for who can't see where it stands. */
export const table = <Row>(caption: string, rows: readonly Row[], [first, ...others]: readonly [Column<Row>, ...Column<Row>[]]): Html =>
  html`<div class="rows"><table>
<caption class="hidden">${caption}</caption>
<thead><tr>${[first, ...others].map(({ name, isActs }) => html`<th scope="col">${isActs ? html`<span class="hidden">${name}</span>` : name}</th>`)}</tr></thead>
<tbody>${rows.map(
    (row) => html`
<tr><th scope="row">${first.cell(row)}</th>${others.map((column) => cellOf(column, row))}</tr>`,
  )}
</tbody></table></div>`;

const cellOf = <Row>({ name, cell, isActs }: Column<Row>, row: Row): Html =>
  isActs ? html`<td class="end">${cell(row)}</td>` : html`<td data-label="${name}">${cell(row)}</td>`;

/** What is said of one thing. What is false or undefined is left out. */
export function factList(facts: Readonly<Record<string, HtmlValue>>): Html {
  const shown = Object.entries(facts).filter(([, value]) => value !== false && value !== undefined && value !== '');
  return html`<dl class="facts">${shown.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** What a list shows that has nothing to show: why, and what to do next. */
export const emptyState = (drawing: IconName, title: string, text: string, next: Html | false = false): Html =>
  html`<div class="empty">${icon(drawing)}<h2>${title}</h2><p class="soft">${text}</p>${next}</div>`;

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

/** An icon says nothing that the text beside it doesn't say. */
export const icon = (name: IconName): Html =>
  html`<svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">${new Html(drawings[name])}</svg>`;

/** Line drawings of 24 by 24, in the colour of the text around them. */
const drawings = {
  today: `
<path d="M4.5 6.5A1.5 1.5 0 0 1 6 5h12a1.5 1.5 0 0 1 1.5 1.5V18a1.5 1.5 0 0 1-1.5 1.5H6A1.5 1.5 0 0 1 4.5 18zM8 3v4m8-4v4M4.5 10h15"/>
<path d="m9 14.7 2.1 2.1 3.9-4"/>`,
  paw: `
<path d="M12 12.2c-2.6 0-5 2.3-5 4.6 0 1.6 1.1 2.7 2.6 2.7 1 0 1.6-.5 2.4-.5s1.4.5 2.4.5c1.5 0 2.6-1.1 2.6-2.7 0-2.3-2.4-4.6-5-4.6z"/>
<ellipse cx="5.2" cy="11.6" rx="1.5" ry="2"/>
<ellipse cx="9.3" cy="7" rx="1.6" ry="2.3"/>
<ellipse cx="14.7" cy="7" rx="1.6" ry="2.3"/>
<ellipse cx="18.8" cy="11.6" rx="1.5" ry="2"/>`,
  house: '<path d="m4 11.5 8-7 8 7M6 10v9.5h12V10"/><path d="M10 19.5v-5.5h4v5.5"/>',
  heart: '<path d="M12 20 4.9 12.8a4.7 4.7 0 0 1 6.6-6.6l.5.5.5-.5a4.7 4.7 0 0 1 6.6 6.6z"/>',
  people:
    '<circle cx="9" cy="8" r="3.4"/><path d="M2.8 19.5c.4-3.4 2.9-5.3 6.2-5.3s5.8 1.9 6.2 5.3M15.6 5.1a3.4 3.4 0 0 1 0 5.8m2.2 3.7c2 .7 3.2 2.4 3.4 4.9"/>',
  person: '<circle cx="12" cy="8" r="3.8"/><path d="M4.8 20c.5-3.8 3.3-5.9 7.2-5.9s6.7 2.1 7.2 5.9"/>',
  key: '<circle cx="8" cy="15.5" r="4.2"/><path d="m11 12.5 8-8m-3.2 3.2 2.7 2.7M13.4 10l2 2"/>',
  device: '<rect x="3" y="4.5" width="18" height="12" rx="2"/><path d="M12 16.5V20m-4 0h8"/>',
  plus: '<path d="M12 5v14M5 12h14"/>',
  search: '<circle cx="10.5" cy="10.5" r="6.5"/><path d="m20 20-4.6-4.6"/>',
  check: '<path d="m4.5 12.5 5 5 10-11"/>',
  warning: '<path d="M12 4 2.8 20h18.4z"/><path d="M12 10v4.5m0 2.7v.3"/>',
  clock: '<circle cx="12" cy="12" r="8.5"/><path d="M12 7v5l3.5 2"/>',
  mail: '<rect x="3" y="5.5" width="18" height="13" rx="2"/><path d="m3.8 7 8.2 6.3L20.2 7"/>',
  camera: `
<path d="M4.5 7.5h3L9 5h6l1.5 2.5h3A1.5 1.5 0 0 1 21 9v9a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 3 18V9a1.5 1.5 0 0 1 1.5-1.5z"/>
<circle cx="12" cy="13" r="3.8"/>`,
  printer: '<path d="M7 8V3.5h10V8M7 17H4.5V9.5A1.5 1.5 0 0 1 6 8h12a1.5 1.5 0 0 1 1.5 1.5V17H17"/><path d="M7 13.5h10v7H7z"/>',
  cross: '<path d="m6 6 12 12M18 6 6 18"/>',
  back: '<path d="m14.5 5-7 7 7 7"/>',
  forward: '<path d="m9.5 5 7 7-7 7"/>',
} as const;

export type IconName = keyof typeof drawings;
