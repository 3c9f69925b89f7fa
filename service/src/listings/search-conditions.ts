import { type AgeBand, ageBandEndYears, ageBands } from '../domain/profile-values.ts';
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
  const { status, categoryId, shelterId, ids } = search;
  return [
    ...(table === 'pets' ? [`${alias}.removed_at is null`] : []),
    ...(status === undefined ? [] : [`${alias}.status = ${parameters.add(status)}::pet_status`]),
    ...(categoryId === undefined ? [] : [`${alias}.category_id = ${parameters.add(categoryId)}::bigint`]),
    ...(shelterId === undefined ? [] : [`${alias}.shelter_id = ${parameters.add(shelterId)}::bigint`]),
    ...(ids === undefined ? [] : [`${alias}.id = any(${parameters.add(ids)}::bigint[])`]),
  ].join(' and ');
}

/** The conditions on the profile, by columns of listings. */
export function profileConditions(search: ListingSearch, parameters: Parameters, alias = 'listings'): string {
  const { breed, age, sex, size, coat, goodWith, today } = search;
  return [
    ...(breed === undefined ? [] : [`listing_breed(${parameters.add(breed)}) = any(${alias}.breeds)`]),
    ...(age === undefined ? [] : bornFor(age, parameters.add(today)).map((condition) => `${alias}.birth_date ${condition}`)),
    ...(sex === undefined ? [] : [`${alias}.sex = ${parameters.add(sex)}`]),
    ...(size === undefined ? [] : [`${alias}.size = ${parameters.add(size)}`]),
    ...(coat === undefined ? [] : [`${alias}.coat = ${parameters.add(coat)}`]),
    ...(goodWith === undefined ? [] : [`${alias}.good_with @> ${parameters.add(goodWith)}::text[]`]),
  ].join(' and ');
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

/** The words as a query, or either of two texts. Undefined: any. */
export function wordsOf({ words, otherWords }: ListingSearch, parameters: Parameters): string | undefined {
  if (words === undefined) return undefined;
  const texts = otherWords === undefined ? [words] : [words, otherWords];
  return `(${texts.map((text) => `plainto_tsquery('listings', ${parameters.add(text)})`).join(' || ')})`;
}

/** The filters as the words that the document has for them; it has none for the status. Undefined: there are none. */
export function termsOf(search: ListingSearch, parameters: Parameters): string | undefined {
  const { categoryId, shelterId, breed, age, sex, size, coat, goodWith = [], today } = search;
  const terms = Object.entries({ category: categoryId, shelter: shelterId, sex, size, coat })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `'${name}=${value}'`);
  terms.push(...goodWith.map((companion) => `'with=${companion}'`));
  if (age !== undefined)
    terms.push(
      `(${birthYears(age, Number(today.slice(0, 4)))
        .map((year) => `'born=${year}'`)
        .join(' | ')})`,
    );
  const queries = [
    ...(terms.length === 0 ? [] : [`${parameters.add(terms.join(' & '))}::tsquery`]),
    ...(breed === undefined ? [] : [`('''breed=' || listing_breed(${parameters.add(breed)}) || '''')::tsquery`]),
  ];
  return queries.length === 0 ? undefined : queries.join(' && ');
}

function birthYears(age: AgeBand, thisYear: number): number[] {
  const { startYears, endYears } = yearsOf(age);
  const first = Math.max(thisYear - endYears, firstYear);
  return Array.from({ length: thisYear - startYears - first + 1 }, (_, index) => first + index);
}

/** Only animals that have a profile can match. */
export const asksForProfile = ({ breed, age, sex, size, coat, goodWith }: ListingSearch): boolean =>
  [breed, age, sex, size, coat, goodWith].some((filter) => filter !== undefined);
