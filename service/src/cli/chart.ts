import type { Screen } from './table.ts';

const blocks = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const nothing = '·';
const limitLine = '┄';

/** One character for each value, scaled to the highest. A value above 0 is never shown as nothing. */
export function sparkline(values: readonly number[]): string {
  const highest = Math.max(...values);
  return values.map((value) => (value <= 0 ? nothing : (blocks[Math.ceil((value / highest) * blocks.length) - 1] ?? ''))).join('');
}

interface ChartOptions {
  readonly limit: number;
  readonly height: number;
  /** Under the first and the last column. */
  readonly ends: readonly [string, string];
}

/** Columns with the limit as a line across them, on a scale from 0 to the limit or to the highest value. */
export function chart(values: readonly number[], { limit, height, ends }: ChartOptions, { paint }: Pick<Screen, 'paint'>): string[] {
  const top = Math.max(limit, ...values);
  const rowOf = (value: number) => Math.max(Math.ceil((value / top) * height) - 1, 0);
  const labels = new Map([
    [rowOf(top), count(top)],
    [rowOf(limit), count(limit)],
  ]);
  const gutter = Math.max(...[...labels.values()].map((label) => label.length));
  const lines = Array.from({ length: height }, (_, i) => {
    const row = height - 1 - i;
    const isLimit = row === rowOf(limit);
    const cells = values.map((value) => cellOf(value, { top, height, row }) ?? (isLimit ? limitLine : ' ')).join('');
    const label = (labels.get(row) ?? '').padStart(gutter);
    return `${paint('dim', label)} ${isLimit ? paintLine(cells, paint) : cells}${isLimit ? ` ${paint('yellow', 'limit')}` : ''}`.trimEnd();
  });
  const [first, last] = ends;
  const room = Math.max(values.length - first.length - last.length, 1);
  return [...lines, `${' '.repeat(gutter + 1)}${paint('dim', `${first}${' '.repeat(room)}${last}`)}`];
}

/** Undefined: the value doesn't reach this row. */
function cellOf(value: number, { top, height, row }: { top: number; height: number; row: number }): string | undefined {
  const eighths = value <= 0 ? 0 : Math.max(Math.round((value / top) * height * blocks.length), 1);
  return blocks[Math.min(eighths - row * blocks.length, blocks.length) - 1];
}

const paintLine = (cells: string, paint: Screen['paint']) =>
  cells.replaceAll(new RegExp(`${limitLine}+`, 'g'), (run) => paint('yellow', run));

const count = (value: number) => value.toLocaleString('en');
