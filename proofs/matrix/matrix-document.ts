// The table in docs/compatibility.md. The proof writes it.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const documentName = 'docs/compatibility.md';
const file = fileURLToPath(new URL(`../../${documentName}`, import.meta.url));
const between = /(?<=<!-- matrix -->\n).*?(?=<!-- \/matrix -->)/s;

/** `works`, what is wrong, or undefined: it was not tried. */
export type Outcome = string | undefined;
export const works = 'works';

export interface Column {
  /** Such as 17.10. */
  readonly release: string;
  /** In the order of the rows. */
  readonly outcomes: readonly Outcome[];
}

export const readTable = (): string => between.exec(readFileSync(file, 'utf8'))?.[0] ?? '';

/** What this machine could not try stays as it is in the table before, if that is of the same releases. */
export function tableOf(titles: readonly string[], columns: readonly Column[], before: string): string {
  const rowOf = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  const header = rowOf(['', ...columns.map(({ release }) => `PostgreSQL ${release}`)]);
  const kept = before.startsWith(header) ? before.split(/(?<=\n)/) : [];
  const cellOf = (outcome: Outcome) => (outcome === undefined ? 'not tried' : outcome === works ? '✓' : 'fails');
  const rows = titles.map((title, index) => {
    const outcomes = columns.map((column) => column.outcomes[index]);
    const isTried = outcomes.some((outcome) => outcome !== undefined);
    return (!isTried && kept.find((row) => row.startsWith(`| ${title} |`))) || rowOf([title, ...outcomes.map(cellOf)]);
  });
  return [header, rowOf(['---', ...columns.map(() => '---')]), ...rows].join('');
}

/** Returns whether it was there already. */
export function writeTable(table: string): boolean {
  const before = readFileSync(file, 'utf8');
  const after = before.replace(between, () => table);
  if (after !== before) writeFileSync(file, after);
  return after === before;
}
