import { limitCodes, type UsageHour } from '../../access/usage/usage.ts';
import type { Screen } from '../terminal/table.ts';

interface Peak {
  readonly requests: number;
  /** The minute. */
  readonly at: Date;
}

/** What a client or a key did in a period. */
export interface UsageSummary {
  readonly requests: number;
  /** Responses with 429. */
  readonly limited: number;
  /** Null: there were no requests. */
  readonly peak: Peak | null;
  /** The busiest minute of each column. */
  readonly columns: readonly number[];
  /** By code, the most frequent first. */
  readonly errors: ReadonlyArray<readonly [code: string, count: number]>;
  /** By operation, the most frequent first. */
  readonly deprecated: ReadonlyArray<readonly [operation: string, count: number]>;
}

interface Period {
  readonly sinceMs: number;
  readonly nowMs: number;
  readonly columnsMax: number;
}

const minuteMs = 60_000;

/** How many minutes a column stands for, so that all fit. */
export function minutesOfColumn({ sinceMs, nowMs, columnsMax }: Period): number {
  return Math.max(Math.ceil(minutesIn(sinceMs, nowMs) / columnsMax), 1);
}

/** Sums up hours of one or more keys. Requests of several keys in one minute are added, since they share a limit. */
export function summarize(hours: readonly UsageHour[], period: Period): UsageSummary {
  const { sinceMs, nowMs } = period;
  const minutes = Array.from({ length: minutesIn(sinceMs, nowMs) }, () => 0);
  const errors = new Map<string, number>();
  const deprecated = new Map<string, number>();
  for (const { hour, kind, name, counts } of hours) {
    for (const [i, count] of counts.entries()) {
      const minute = Math.floor((hour.getTime() + i * minuteMs - sinceMs) / minuteMs);
      if (count === 0 || minute < 0 || minute >= minutes.length) continue;
      if (kind === 'request') minutes[minute] = (minutes[minute] ?? 0) + count;
      else add(kind === 'error' ? errors : deprecated, name, count);
    }
  }
  const busiest = Math.max(...minutes, 0);
  return {
    requests: minutes.reduce((sum, one) => sum + one, 0),
    limited: limitCodes.reduce((sum, code) => sum + (errors.get(code) ?? 0), 0),
    peak: busiest === 0 ? null : { requests: busiest, at: new Date(sinceMs + minutes.indexOf(busiest) * minuteMs) },
    columns: columnsOf(minutes, minutesOfColumn(period)),
    errors: mostFirst(errors),
    deprecated: mostFirst(deprecated),
  };
}

const minutesIn = (sinceMs: number, nowMs: number) => Math.floor((nowMs - sinceMs) / minuteMs) + 1;

const columnsOf = (minutes: readonly number[], size: number) =>
  Array.from({ length: Math.ceil(minutes.length / size) }, (_, i) => Math.max(...minutes.slice(i * size, (i + 1) * size)));

function add(counts: Map<string, number>, name: string, count: number): void {
  counts.set(name, (counts.get(name) ?? 0) + count);
}

const mostFirst = (counts: ReadonlyMap<string, number>) => [...counts].sort(([, a], [, b]) => b - a);

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
