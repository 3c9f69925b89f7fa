import { type Html, type HtmlValue, html } from '../../platform/html.ts';

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
export const factList = (facts: Readonly<Record<string, HtmlValue>>): Html =>
  html`<dl class="facts">${Object.entries(facts).map(([name, value]) => value !== false && value !== undefined && value !== '' && html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
