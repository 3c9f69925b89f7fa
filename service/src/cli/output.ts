import { printable, printableJson } from '../characters.ts';

/** A mistake in the command line that commander can't detect. */
export class UsageError extends Error {}

/** Prints lines of text. Stored text may contain control characters, which are escaped so that the terminal does not act on them. */
export function printLines(...lines: readonly string[]): void {
  for (const line of lines) console.log(printable(line));
}

/** Prints one line to standard error, apart from the command's result. */
export function printProblem(text: string): void {
  console.error(printable(`homeward: ${text}`));
}

/** Prints one JSON value, on one line unless it is indented. Ids stay exact: the service's own ids are below 2^53. */
export function printJson(value: unknown, indent?: number): void {
  console.log(printableJson(JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? Number(one) : one), indent)));
}

/** Prints a table for people, or `ifEmpty` if there are no rows. */
export function printTable(rows: ReadonlyArray<Readonly<Record<string, unknown>>>, ifEmpty: string): void {
  const [first] = rows;
  if (!first) {
    printLines(ifEmpty);
    return;
  }
  const names = Object.keys(first);
  const cells = rows.map((row) => names.map((name) => cell(row[name])));
  const widths = names.map((name, i) => Math.max(name.length, ...cells.map((line) => line[i]?.length ?? 0)));
  const lines = [names, ...cells].map((line) => line.map((text, i) => text.padEnd(widths[i] ?? 0)).join('  '));
  printLines(...lines.map((line) => line.trimEnd()));
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (value instanceof Date) return value.toISOString().slice(0, 16).replace('T', ' ');
  // Escaped here, so that the column widths fit the escaped text.
  return printable(Array.isArray(value) ? value.join(',') : String(value as string | number | bigint | boolean));
}

const units = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Parses '90d', '12h', '30m' or '45s' into seconds. */
export function parseDuration(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (!count || !unit) throw new UsageError(`"${text}" is not a duration; write 90d, 12h, 30m or 45s.`);
  return Number(count) * units[unit as keyof typeof units];
}

export function parseId(text: string): bigint {
  if (!/^[1-9]\d{0,15}$/.test(text)) throw new UsageError(`"${text}" is not an id.`);
  return BigInt(text);
}

export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError(`"${text}" is not a count from 1 to 999999999.`);
  return Number(text);
}
