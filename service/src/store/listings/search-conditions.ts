import {
  type ColumnFilterName,
  type ColumnFilterRow,
  type ColumnKind,
  type FilterRowOf,
  type FilterValue,
  filterRows,
  type TermKind,
} from '../../domain/listing-filters.ts';
import { type AgeBand, ageBandEndYears, ageBands } from '../../domain/profile-values.ts';
import { boxAround } from './geography.ts';
import type { ListingSearch, Near } from './listing-search.ts';

/** The parameters of a statement. */
export class Parameters {
  readonly values: unknown[] = [];

  /** Returns its placeholder. */
  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}

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

/** The words as a query, or either of two texts. Undefined: any. */
export function wordsOf({ q, otherWords }: ListingSearch, parameters: Parameters): string | undefined {
  if (q === undefined) return undefined;
  const texts = otherWords === undefined ? [q] : [q, otherWords];
  return `(${texts.map((text) => `plainto_tsquery('listings', ${parameters.add(text)})`).join(' || ')})`;
}

/** The filters as a query for the words that the document has for them. Undefined: it has none for these. */
export function termsOf(search: ListingSearch, parameters: Parameters): string | undefined {
  const queries: string[] = [];
  for (const { name, term, query } of termFilters) {
    const value = search[name];
    if (value !== undefined) queries.push(query(term, value, parameters, search.today));
  }
  return queries.length === 0 ? undefined : queries.join(' && ');
}

function conditionsOf(filters: typeof petFilters, search: ListingSearch, parameters: Parameters, alias: string): string[] {
  const texts: string[] = [];
  for (const { name, column, condition } of filters) {
    const value = search[name];
    if (value !== undefined) texts.push(condition(`${alias}.${column}`, value, parameters, search.today));
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

function yearsOf(age: AgeBand) {
  const before = ageBands[ageBands.indexOf(age) - 1];
  return { startYears: before === undefined ? 0 : ageBandEndYears[before], endYears: ageBandEndYears[age] };
}

/** The document of an animal that was born before has the word for this year too. */
const firstYear = 2000;

function birthYears(age: AgeBand, thisYear: number): number[] {
  const { startYears, endYears } = yearsOf(age);
  const first = Math.max(thisYear - endYears, firstYear);
  return Array.from({ length: thisYear - startYears - first + 1 }, (_, index) => first + index);
}

type ValueOf<Kind extends ColumnKind> = FilterValue<FilterRowOf<Kind>>;

/** Whether a column of an animal matches a value. */
type Condition<Kind extends ColumnKind> = (column: string, value: ValueOf<Kind>, parameters: Parameters, today: string) => string;

const conditions: { readonly [Kind in ColumnKind]: Condition<Kind> } = {
  choice: (column, value, parameters) => `${column} = ${parameters.add(value)}`,
  choices: (column, values, parameters) => `${column} @> ${parameters.add(values)}::text[]`,
  id: (column, id, parameters) => `${column} = ${parameters.add(id)}`,
  ids: (column, ids, parameters) => `${column} = any(${parameters.add(ids)}::bigint[])`,
  age: (column, age, parameters, today) =>
    bornFor(age, parameters.add(today))
      .map((born) => `${column} ${born}`)
      .join(' and '),
  // In a query of its own, so that it is computed once and not for each animal.
  breed: (column, breed, parameters) => `(select listing_breed(${parameters.add(breed)})) = any(${column})`,
};

/** The query for the words that the documents of matching animals have. */
type TermQuery<Kind extends ColumnKind> = (term: string, value: ValueOf<Kind>, parameters: Parameters, today: string) => string;

const termQueries: { readonly [Kind in TermKind]: TermQuery<Kind> } = {
  choice: (term, value, parameters) => `${parameters.add(wordOf(term, value))}::tsquery`,
  choices: (term, values, parameters) => `${parameters.add(values.map((value) => wordOf(term, value)).join(' & '))}::tsquery`,
  id: (term, id, parameters) => `${parameters.add(wordOf(term, id))}::tsquery`,
  age: (term, age, parameters, today) => {
    const years = birthYears(age, Number(today.slice(0, 4)));
    return `${parameters.add(years.map((year) => wordOf(term, year)).join(' | '))}::tsquery`;
  },
  breed: (term, breed, parameters) => `('''${term}=' || listing_breed(${parameters.add(breed)}) || '''')::tsquery`,
};

/** The value has no quote: it is an id, a year or one of a choice. */
const wordOf = (term: string, value: bigint | number | string) => `'${term}=${value}'`;

const columnRows = filterRows.filter((entry): entry is readonly [ColumnFilterName, ColumnFilterRow] => 'column' in entry[1]);

const comparisons = (rows: typeof columnRows) =>
  rows.map(([name, { kind, column }]) => ({ name, column, condition: conditions[kind] as Condition<ColumnKind> }));

const petFilters = comparisons(columnRows.filter(([, { of }]) => of !== 'profile'));
const profileFilters = comparisons(columnRows.filter(([, { of }]) => of === 'profile'));
const termFilters = columnRows.flatMap(([name, { kind, term }]) =>
  term === undefined ? [] : { name, term, query: termQueries[kind] as TermQuery<ColumnKind> },
);
