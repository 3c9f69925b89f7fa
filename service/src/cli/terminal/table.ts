import { createRequire } from 'node:module';
import { printable } from '../../platform/characters.ts';

export type Row = Readonly<Record<string, unknown>>;
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

export interface Screen {
  readonly widthMax: number;
  readonly nowMs: number;
  paint(style: Style, text: string): string;
}

interface Column {
  readonly name: string;
  readonly cells: readonly string[];
  readonly width: number;
  /** The least width at which its cells can still be told apart. */
  readonly widthMin: number;
  readonly isNumeric: boolean;
}

const gap = '  ';
/** What is more important than another column is not cut shorter than this. */
const cutWidthMin = 20;
const leastImportantWidthMin = 12;

/** A table for another program: nothing is cut, and times are complete. */
export function plainTable(rows: readonly Row[]): string[] {
  const names = namesOf(rows);
  const cells = rows.map((row) => names.map((name) => plainCell(row[name])));
  const widths = names.map((name, i) => Math.max(name.length, ...cells.map((line) => line[i]?.length ?? 0)));
  return [names, ...cells].map((line) =>
    line
      .map((text, i) => text.padEnd(widths[i] ?? 0))
      .join(gap)
      .trimEnd(),
  );
}

/**
 * A table no wider than the screen. Long text is cut. If that is not enough, the least important columns are left out, in the
 * order given; if the others still don't fit, each row becomes a block of lines.
 */
export function fittedTable(rows: readonly Row[], screen: Screen, leastImportant: readonly string[] = []): string[] {
  const columns = namesOf(rows).map((name) =>
    columnOf(name, rows, { nowMs: screen.nowMs, cutTo: leastImportant.includes(name) ? leastImportantWidthMin : cutWidthMin }),
  );
  for (let leftOut = 0; leftOut <= leastImportant.length; leftOut += 1) {
    const hidden = leastImportant.slice(0, leftOut);
    const shown = columns.filter(({ name }) => !hidden.includes(name));
    const widths = fit(shown, screen.widthMax);
    if (widths) return [...tableLines(shown, widths, screen), ...hiddenNote(hidden, screen)];
  }
  return rows.flatMap((row, i) => [...(i > 0 ? [''] : []), ...recordLines(row, screen)]);
}

/** One row as a block: a line for each value that it has. Without a screen, for another program. */
export function recordLines(row: Row, screen?: Screen): string[] {
  const entries = Object.entries(row).filter(([, value]) => isPresent(value));
  const labelWidth = Math.max(...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => {
    const label = name.padEnd(labelWidth);
    if (!screen) return `${label}${gap}${plainCell(value)}`;
    const text = cut(shownCell(value, screen.nowMs), Math.max(screen.widthMax - labelWidth - gap.length, 1));
    return `${screen.paint('dim', label)}${gap}${paintCell(name, text, text, screen.paint)}`;
  });
}

const isPresent = (value: unknown) => value !== null && value !== undefined;

const namesOf = (rows: readonly Row[]) => Object.keys(rows[0] ?? {});

function columnOf(name: string, rows: readonly Row[], { nowMs, cutTo }: { nowMs: number; cutTo: number }): Column {
  const values = rows.map((row) => row[name]);
  const cells = values.map((value) => shownCell(value, nowMs));
  const headWidth = textWidth(name);
  const width = Math.max(headWidth, ...cells.map((text) => textWidth(text)));
  const present = values.filter(isPresent);
  // A cut number or time would be a wrong one, and a cut state a riddle.
  const canBeCut = !(name in stateColumns) && present.some((value) => typeof value === 'string' || Array.isArray(value));
  return {
    name,
    cells,
    width,
    widthMin: canBeCut ? Math.min(width, Math.max(headWidth, cutTo)) : width,
    isNumeric: present.length > 0 && present.every((value) => typeof value === 'number' || typeof value === 'bigint'),
  };
}

/** The width of each column; undefined if they don't fit even at their least. */
function fit(columns: readonly Column[], widthMax: number): number[] | undefined {
  const available = widthMax - gap.length * (columns.length - 1);
  const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
  if (sum(columns.map(({ widthMin }) => widthMin)) > available) return undefined;
  const widths = columns.map(({ width }) => width);
  for (let excess = sum(widths) - available; excess > 0; excess -= 1) {
    const spare = columns.map(({ widthMin }, i) => ((widths[i] ?? 0) > widthMin ? (widths[i] ?? 0) : 0));
    const widest = spare.indexOf(Math.max(...spare));
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function tableLines(columns: readonly Column[], widths: readonly number[], { paint }: Screen): string[] {
  const last = columns.length - 1;
  const align = ({ isNumeric }: Column, text: string, i: number) => {
    const width = widths[i] ?? 0;
    if (isNumeric) return ' '.repeat(Math.max(width - textWidth(text), 0)) + text;
    return i === last ? text : pad(text, width);
  };
  const head = columns.map((column, i) => align(column, column.name, i)).join(gap);
  const count = columns[0]?.cells.length ?? 0;
  const body = Array.from({ length: count }, (_, row) =>
    columns
      .map((column, i) => {
        const text = cut(column.cells[row] ?? '', widths[i] ?? 0);
        return paintCell(column.name, text, align(column, text, i), paint);
      })
      .join(gap)
      .trimEnd(),
  );
  return [paint('dim', head), ...body];
}

const hiddenNote = (hidden: readonly string[], { widthMax, paint }: Screen) =>
  hidden.length > 0 ? ['', paint('dim', cut(`Too narrow for: ${hidden.join(', ')}. See --json.`, widthMax))] : [];

/** Stored text may contain control characters. Escaped here, so that the column widths fit the escaped text. */
const asText = (value: unknown) => printable(Array.isArray(value) ? value.join(',') : String(value as string | number | bigint | boolean));

function plainCell(value: unknown): string {
  if (!isPresent(value)) return '-';
  return value instanceof Date ? value.toISOString() : asText(value);
}

function shownCell(value: unknown, nowMs: number): string {
  return value instanceof Date ? relativeTime(value, nowMs) : plainCell(value);
}

/** Columns whose words have colours. */
const stateColumns: Readonly<Record<string, true>> = { state: true, status: true };

const stateStyles: Readonly<Record<string, Style>> = {
  active: 'green',
  enabled: 'green',
  available: 'green',
  approved: 'cyan',
  pending: 'yellow',
  placed: 'yellow',
  replaced: 'yellow',
  failing: 'yellow',
  revoked: 'red',
  suspended: 'red',
  disabled: 'red',
  banned: 'red',
};

function paintCell(name: string, text: string, aligned: string, paint: Screen['paint']): string {
  const style = text === '-' ? 'dim' : name in stateColumns ? stateStyles[text.split(' ')[0] ?? ''] : undefined;
  return style ? aligned.replace(text, () => paint(style, text)) : aligned;
}

const pad = (text: string, width: number) => text + ' '.repeat(Math.max(width - textWidth(text), 0));

/** `Biscuit (12)` ends with the id, which commands take. */
const idAtEnd = / \(-?\d+\)$/;

/** The text, shortened with … if it is wider than this many columns. An id at its end stays, if there is room for it. */
export function cut(text: string, widthMax: number): string {
  if (textWidth(text) <= widthMax) return text;
  const id = idAtEnd.exec(text)?.[0] ?? '';
  const nameWidth = widthMax - id.length;
  return id && nameWidth > 1 ? cutAtEnd(text.slice(0, -id.length), nameWidth) + id : cutAtEnd(text, widthMax);
}

function cutAtEnd(text: string, widthMax: number): string {
  let kept = '';
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    width += textWidth(segment);
    if (width > widthMax - 1) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}

/** Lines of at most this width, unless a word is wider. */
export function wrapWords(text: string, widthMax: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = lines.length > 0 ? `${lines.at(-1)} ${word}` : word;
    if (lines.length > 0 && textWidth(longer) <= widthMax) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** The clocks of this machine and of PostgreSQL may differ by this much. */
const nowMsMax = 5_000;
const daysMax = 60;

/** A time as people say it: "3 min ago", "in 2 h"; a date if it is more than two months away. */
export function relativeTime(at: Date, nowMs: number): string {
  const awayMs = Math.abs(at.getTime() - nowMs);
  if (awayMs < nowMsMax) return 'now';
  const days = Math.floor(awayMs / dayMs);
  if (days > daysMax) return at.toISOString().slice(0, 10);
  const amount = amountOf(awayMs, days);
  return at.getTime() < nowMs ? `${amount} ago` : `in ${amount}`;
}

function amountOf(ms: number, days: number): string {
  if (ms < minuteMs) return `${Math.floor(ms / 1_000)} s`;
  if (ms < hourMs) return `${Math.floor(ms / minuteMs)} min`;
  if (ms < dayMs) return `${Math.floor(ms / hourMs)} h`;
  return days === 1 ? '1 day' : `${days} days`;
}

const require = createRequire(import.meta.url);
const plain = /^[ -~]*$/;

/** The columns of a terminal that a text takes. Few commands need the library, and it takes a fifth of the time to start one. */
function textWidth(text: string): number {
  if (plain.test(text)) return text.length;
  const { default: stringWidth } = require('string-width') as typeof import('string-width');
  return stringWidth(text);
}
