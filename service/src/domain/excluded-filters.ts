import { type ColumnFilterName, type ColumnFilterRow, type FilterValues, listingFilters } from './listing-filters.ts';

/** The filters that what is left out is said with: `not=size:small`, `not=categoryId:1,age:baby`. */
const excludable = [
  'categoryId',
  'breed',
  'color',
  'age',
  'ageMonthsMin',
  'ageMonthsMax',
  'sex',
  'size',
  'coat',
  'goodWith',
] as const satisfies readonly ColumnFilterName[];
type ExcludableName = (typeof excludable)[number];

/** Filters that an animal matches all of if it is left out. */
type Excluded = Pick<FilterValues, ExcludableName>;

const valuePatterns: { readonly [Kind in ColumnFilterRow['kind']]?: (row: ColumnFilterRow) => string } = {
  id: () => '\\d{1,18}',
  months: () => '\\d{1,4}',
  label: () => '[^,]{1,50}',
  labels: () => '[^,]{1,50}',
};
const choicePattern = (row: ColumnFilterRow) => ('values' in row ? `(${row.values.join('|')})` : '');
const entry = `(${excludable.map((name) => `${name}:${(valuePatterns[listingFilters[name].kind] ?? choicePattern)(listingFilters[name])}`).join('|')})`;
export const excludedPattern = `^${entry}(,${entry}){0,5}$`;

/** Undefined: there is a filter that can't be said. */
export function excludedText(filters: object): string | undefined {
  const entries = Object.entries(filters);
  const isSaid = entries.every(([name]) => (excludable as readonly string[]).includes(name));
  return isSaid && entries.length > 0 ? entries.map(([name, value]) => `${name}:${[value].flat().join(`,${name}:`)}`).join(',') : undefined;
}

export function readExcluded(text: string): Excluded {
  const values: Partial<Record<ExcludableName, unknown>> = {};
  for (const part of text.split(',')) {
    const end = part.indexOf(':');
    const name = part.slice(0, end) as ExcludableName;
    values[name] = readValue(name, part.slice(end + 1), values[name]);
  }
  return values as Excluded;
}

function readValue(name: ExcludableName, text: string, before: unknown): unknown {
  const { kind } = listingFilters[name];
  if (kind === 'id') return BigInt(text);
  if (kind === 'months') return Number(text);
  return kind === 'choices' || kind === 'labels' ? [...((before as string[] | undefined) ?? []), text] : text;
}
