import { isInForce } from '../../animals/pets/hold-conditions.ts';
import {
  type AddressFilterName,
  type ColumnFilterName,
  type ColumnFilterRow,
  type ColumnKind,
  type FilterRowOf,
  type FilterValue,
  filterRows,
  readExcluded,
  sizesOf,
  type TermKind,
} from '../../domain/listing-filters.ts';
import { type AgeBand, ageBandEndYears, ageBands } from '../../domain/profile-fields.ts';
import { boxAround } from './geography.ts';
import { labelPattern, labelSeparator, spellingsOf } from './labels.ts';
import type { ListingSearch, Near } from './listing-search.ts';

/** The parameters of a statement. */
export class Parameters {
  readonly values: unknown[] = [];

  /** Returns its placeholder. */
  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}

/** Only animals of shelters in or near a place can match. */
export const asksForPlace = (search: ListingSearch): boolean =>
  search.near !== undefined || addressFields.some((field) => search[field] !== undefined);

/** A search for a place without it. */
export const withoutPlace = (search: ListingSearch): ListingSearch => ({
  ...search,
  near: undefined,
  ...Object.fromEntries(addressFields.map((field) => [field, undefined])),
});

/** The conditions on the shelters that a search asks for by their addresses. */
export const addressConditions = (search: ListingSearch, parameters: Parameters): string[] =>
  addressFields.flatMap((field) => {
    const value = search[field];
    // In a query of its own, so that it is computed once and not for each shelter.
    return value === undefined ? [] : `${addressText[field](field)} = (select ${addressText[field](parameters.add(value))})`;
  });

/** As an index has them. */
const addressText: Readonly<Record<AddressFilterName, (text: string) => string>> = {
  town: (text) => `listing_place(${text})`,
  postcode: (text) => `replace(listing_place(${text}), ' ', '')`,
};
const addressFields = Object.keys(addressText) as AddressFilterName[];

/** For a select from shelters: the distance to the place, and the condition that it is near enough. */
export function nearness(near: Near, parameters: Parameters): { readonly distance: string; readonly isNear: string } {
  const { latitude, longitudes } = boxAround(near);
  const between = (column: string, { from, to }: { from: number; to: number }) =>
    `${column} between ${parameters.add(from)}::float8 and ${parameters.add(to)}::float8`;
  const distance = `distance_km(${parameters.add(near.latitude)}::float8, ${parameters.add(near.longitude)}::float8, latitude, longitude)`;
  const inBox = `${between('latitude', latitude)} and (${longitudes.map((range) => between('longitude', range)).join(' or ')})`;
  return { distance, isNear: `${inBox} and ${distance} <= ${parameters.add(near.withinKm)}::float8` };
}

/** The conditions on what every animal has. */
export function petConditions(
  search: ListingSearch,
  parameters: Parameters,
  alias = 'pets',
  table: 'pets' | 'listings' = alias === 'pets' ? 'pets' : 'listings',
): string {
  const isListed = table === 'pets' ? [`${alias}.removed_at is null`] : [];
  return [...isListed, ...conditionsOf(petFilters, search, parameters, alias)].join(' and ');
}

/** The conditions on the profile, by columns of listings. */
export const profileConditions = (search: ListingSearch, parameters: Parameters, alias = 'listings'): string =>
  conditionsOf(profileFilters, search, parameters, alias).join(' and ');

/** Only animals that have a profile can match. */
export const asksForProfile = (search: ListingSearch): boolean => profileFilters.some(({ name }) => search[name] !== undefined);

/** Only animals with some words can match. */
export const asksForWords = ({ q, name }: ListingSearch): boolean => q !== undefined || name !== undefined;

/** The words as a query: either of two texts, and the words of the name. Undefined: any. `of`: a document, or a name without weights. */
export function wordsOf(
  { q, otherWords, together = [], name }: ListingSearch,
  parameters: Parameters,
  of: 'document' | 'name' = 'document',
): string | undefined {
  const texts = [q, otherWords].filter((text) => text !== undefined);
  const anywhere = texts.map((text) => `plainto_tsquery('listings', ${parameters.add(text)})`).join(' || ');
  // Names have weight A in a document.
  const inName =
    name === undefined
      ? ''
      : of === 'name'
        ? `plainto_tsquery('listings', ${parameters.add(name)})`
        : `regexp_replace(plainto_tsquery('listings', ${parameters.add(name)})::text, '''(?= & |$)', ''':A', 'g')::tsquery`;
  const phrases = together.map((text) => `phraseto_tsquery('listings', ${parameters.add(text)})`);
  const queries = [anywhere, ...phrases, inName].filter((query) => query !== '').map((query) => `(${query})`);
  return queries.length === 0 ? undefined : `(${queries.join(' && ')})`;
}

/** The filters as a query for the words that the document has for them. Undefined: it has none for these. */
export function termsOf(search: ListingSearch, parameters: Parameters): string | undefined {
  const queries: string[] = [];
  for (const { name, row, query } of termFilters) {
    const value = search[name];
    if (value !== undefined) queries.push(query(row, value, parameters, search.today));
  }
  return queries.length === 0 ? undefined : queries.join(' && ');
}

function conditionsOf(filters: Readonly<typeof petFilters>, search: ListingSearch, parameters: Parameters, alias: string): string[] {
  const texts: string[] = [];
  for (const { name, row, condition } of filters) {
    const value = search[name];
    if (value !== undefined) texts.push(condition(`${alias}.${row.column}`, value, parameters, { today: search.today, row }));
  }
  return texts;
}

/** The dates of birth of a band, as conditions: an animal is a year old from its first birthday on. */
export function bornFor(age: AgeBand, today: string): string[] {
  const { endYears, startYears } = yearsOf(age);
  const yearsAgo = (years: number) => `(${today}::date - interval '${years} years')`;
  return [
    ...(endYears === Number.POSITIVE_INFINITY ? [] : [`> ${yearsAgo(endYears)}`]),
    ...(startYears === 0 ? ['is not null'] : [`<= ${yearsAgo(startYears)}`]),
  ];
}

const monthsAgo = (today: string, months: number) => `(${today}::date - interval '${months} months')`;

function yearsOf(age: AgeBand) {
  const before = ageBands[ageBands.indexOf(age) - 1];
  return { startYears: before === undefined ? 0 : ageBandEndYears[before], endYears: ageBandEndYears[age] };
}

/** The document of an animal that was born before has the word for this year too. */
const firstYear = 2000;

function birthYears(age: AgeBand, thisYear: number): number[] {
  const { startYears, endYears } = yearsOf(age);
  return yearsFrom(thisYear - endYears, thisYear - startYears);
}

const yearsFrom = (from: number, to: number): number[] => {
  const [first, last] = [Math.max(from, firstYear), Math.max(to, firstYear)];
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
};

/** Those of all ages from `min` to `max` months. */
function birthYearsOf({ is }: FilterRowOf<'months'>, months: number, today: string): number[] {
  const [year = 0, month = 0] = today.split('-').map(Number);
  const yearBefore = (count: number) => Math.floor((12 * year + month - 1 - count) / 12);
  return is === 'min' ? yearsFrom(firstYear, yearBefore(months)) : yearsFrom(yearBefore(months + 1), year);
}

type ValueOf<Kind extends ColumnKind> = FilterValue<FilterRowOf<Kind>>;

/** Whether a column of an animal matches a value. */
type Condition<Kind extends ColumnKind> = (
  column: string,
  value: ValueOf<Kind>,
  parameters: Parameters,
  more: { readonly today: string; readonly row: FilterRowOf<Kind> },
) => string;

const conditions: { readonly [Kind in ColumnKind]: Condition<Kind> } = {
  choice: (column, value, parameters) => `${column} = ${parameters.add(value)}`,
  choices: (column, values, parameters) => `${column} @> ${parameters.add(values)}::text[]`,
  id: (column, id, parameters) => `${column} = ${parameters.add(id)}`,
  ids: (column, ids, parameters) => `${column} = any(${parameters.add(ids)}::bigint[])`,
  hold: (column, hold, parameters) =>
    `exists (select from pets held where held.id = ${column} and held.hold = ${parameters.add(hold)} and ${isInForce('held.hold_until')})`,
  age: (column, age, parameters, { today }) =>
    bornFor(age, parameters.add(today))
      .map((born) => `${column} ${born}`)
      .join(' and '),
  months: (column, months, parameters, { today, row: { is } }) =>
    is === 'min'
      ? `${column} <= ${monthsAgo(parameters.add(today), months)}`
      : `${column} > ${monthsAgo(parameters.add(today), months + 1)}`,
  sizes: (column, size, parameters, { row: { is } }) => `${column} = any(${parameters.add(sizesOf(is, size))}::text[])`,
  not: (column, texts, parameters, { today }) =>
    texts.map((text) => excludedCondition(column, { ...readExcluded(text), today }, parameters)).join(' and ') || 'true',
  label: (column, label, parameters, { row }) => labelCondition(column, spellingsOf(row.spellings, label), parameters),
  labels: (column, labels, parameters, { row }) =>
    labels.map((label) => labelCondition(column, spellingsOf(row.spellings, label), parameters)).join(' and ') || 'true',
};

/** A query for each animal, which `is null` keeps apart: a join would begin with all that are left out. Animals without a profile are of a category too. */
function excludedCondition(column: string, excluded: ListingSearch, parameters: Parameters): string {
  const [table, filters] = asksForProfile(excluded)
    ? (['listings', [...petFilters, ...profileFilters]] as const)
    : (['pets', petFilters] as const);
  const conditions = conditionsOf(filters, excluded, parameters, 'excluded').join(' and ');
  return `(select true from ${table} excluded where excluded.id = ${column} and ${conditions}) is null`;
}

const labelCondition = (column: string, spellings: readonly string[], parameters: Parameters) =>
  spellings.length === 0
    ? 'false'
    : `(' ' || array_to_string(${column}, '${labelSeparator}') || ' ') ~ ${parameters.add(labelPattern(spellings))}`;

/** The query for the words that the documents of matching animals have. */
type TermQuery<Kind extends ColumnKind> = (row: FilterRowOf<Kind>, value: ValueOf<Kind>, parameters: Parameters, today: string) => string;

const termQueries: { readonly [Kind in TermKind]: TermQuery<Kind> } = {
  choice: ({ term }, value, parameters) => `${parameters.add(wordOf(term, value))}::tsquery`,
  choices: ({ term }, values, parameters) => `${parameters.add(values.map((value) => wordOf(term, value)).join(' & '))}::tsquery`,
  id: ({ term }, id, parameters) => `${parameters.add(wordOf(term, id))}::tsquery`,
  age: ({ term }, age, parameters, today) => {
    const years = birthYears(age, Number(today.slice(0, 4)));
    return `${parameters.add(years.map((year) => wordOf(term, year)).join(' | '))}::tsquery`;
  },
  months: (row, months, parameters, today) =>
    `${parameters.add(
      birthYearsOf(row, months, today)
        .map((year) => wordOf(row.term, year))
        .join(' | '),
    )}::tsquery`,
  sizes: ({ is, term }, size, parameters) =>
    `${parameters.add(
      sizesOf(is, size)
        .map((one) => wordOf(term, one))
        .join(' | '),
    )}::tsquery`,
  label: ({ spellings }, label, parameters) => labelQuery(spellingsOf(spellings, label), parameters),
  labels: ({ spellings }, labels, parameters) =>
    labels.map((label) => labelQuery(spellingsOf(spellings, label), parameters)).join(' && ') || `''::tsquery`,
};

/** An animal has the words of its labels in its document. It may have them elsewhere too: the condition says where. */
const labelQuery = (spellings: readonly string[], parameters: Parameters) =>
  `(${(spellings.length === 0 ? [''] : spellings).map((spelling) => `plainto_tsquery('listings', ${parameters.add(spelling)})`).join(' || ')})`;

/** The value has no quote: it is an id, a year or one of a choice. */
const wordOf = (term: string | undefined, value: bigint | number | string) => `'${term}=${value}'`;

const columnRows = filterRows.filter((entry): entry is readonly [ColumnFilterName, ColumnFilterRow] => 'column' in entry[1]);

const comparisons = (rows: typeof columnRows) =>
  rows.map(([name, row]) => ({ name, row, condition: conditions[row.kind] as Condition<ColumnKind> }));

const petFilters = comparisons(columnRows.filter(([, { of }]) => of !== 'profile'));
const profileFilters = comparisons(columnRows.filter(([, { of }]) => of === 'profile'));
const termFilters = columnRows.flatMap(([name, row]) => {
  const query =
    row.kind === 'ids' || row.kind === 'hold' || row.kind === 'not' || (row.term === undefined && !('spellings' in row))
      ? undefined
      : termQueries[row.kind];
  return query ? { name, row, query: query as TermQuery<ColumnKind> } : [];
});
