// What a visitor looks for: read from the address of the list, and written into addresses and requests to the store.
import type { Category, Int64, PetListing, PetStatus } from '@homeward/sdk';
import { type Meant, meantParameters, readMeant } from './meant-filters.ts';
import { ageWords, companionWords, sexWords, sizeWords, statusWords } from './words.ts';

export type Age = keyof typeof ageWords;
export type Sex = keyof typeof sexWords;
export type Size = keyof typeof sizeWords;
export type Companion = keyof PetListing['profile']['goodWith'];
type Sort = 'newest' | 'distance';

export interface Filter {
  readonly status: PetStatus;
  readonly categoryId?: Int64 | undefined;
  readonly shelterId?: Int64 | undefined;
  /** Words to look for. */
  readonly words?: string | undefined;
  readonly age?: Age | undefined;
  readonly sex?: Sex | undefined;
  readonly size?: Size | undefined;
  readonly goodWith: readonly Companion[];
  /** What was understood of words, if a visitor has taken away a part of it. */
  readonly meant?: Meant | undefined;
  /** Latitude and longitude, such as 53.27,-9.05. */
  readonly near?: string | undefined;
  readonly withinKm?: number | undefined;
  /** Undefined: by relevance if there are words, else by distance if there is a place, else the newest first. */
  readonly sort?: Sort | undefined;
  readonly cursor?: string | undefined;
}

export const withinKmChoices = [10, 25, 50, 100, 200];
export const wordsCharsMax = 100;
const withinKmDefault = 50;
const cursorCharsMax = 500;

/** Undefined if the address has a value that the form does not offer: only known values are passed to the store. */
export function readFilter(query: URLSearchParams, categories: readonly Category[]): Filter | undefined {
  const [categoryText, shelterText, cursor] = [query.get('category'), query.get('shelter'), query.get('cursor') ?? undefined];
  const category = categories.find(({ id }) => String(id) === categoryText);
  const near = readPlace(query.get('near') || undefined);
  const words = [...(query.get('q') ?? '').replaceAll(/\p{C}/gu, ' ').trim()].slice(0, wordsCharsMax).join('') || undefined;
  const choices = {
    status: choice(query.get('status') || 'available', statusWords),
    age: choice(query.get('age'), ageWords),
    sex: choice(query.get('sex'), sexWords),
    size: choice(query.get('size'), sizeWords),
    sort: choice(query.get('sort'), { newest: true, distance: true }),
  };
  const goodWith = [...new Set(query.getAll('good'))].map((who) => choice(who, companionWords));
  const meant = readMeant(query);
  const withinKm = Number(query.get('within') || withinKmDefault);
  const isOffered =
    (!categoryText || category !== undefined) &&
    (!shelterText || readId(shelterText) !== undefined) &&
    Object.values(choices).every((value) => value !== 'unknown') &&
    goodWith.every((who) => who !== 'unknown') &&
    near !== 'unknown' &&
    withinKmChoices.includes(withinKm) &&
    (cursor?.length ?? 0) <= cursorCharsMax;
  if (!isOffered || !meant) return undefined;
  return {
    ...(choices as Pick<Filter, 'age' | 'sex' | 'size'>),
    status: choices.status as PetStatus,
    goodWith: goodWith as Companion[],
    categoryId: category?.id,
    shelterId: readId(shelterText ?? ''),
    words,
    ...(Object.keys(meant).length > 0 && { meant }),
    near,
    withinKm: near === undefined ? undefined : withinKm,
    // Without a place there is no distance.
    sort: choices.sort === 'distance' && near === undefined ? undefined : (choices.sort as Sort | undefined),
    cursor,
  };
}

export function addressOf({ status, categoryId, shelterId, words, goodWith, withinKm, near, ...filter }: Filter): string {
  const query = new URLSearchParams();
  const given = {
    category: categoryId,
    status: status === 'available' ? undefined : status,
    shelter: shelterId,
    q: words,
    age: filter.age,
    sex: filter.sex,
    size: filter.size,
    near,
    within: withinKm === withinKmDefault ? undefined : withinKm,
    sort: filter.sort,
    cursor: filter.cursor,
  };
  for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, String(value));
  for (const [name, value] of meantParameters(filter.meant)) query.append(name, value);
  for (const who of goodWith) query.append('good', who);
  return query.size === 0 ? '/' : `/?${query}`;
}

/** The filters of a request to the store, without the order and the page. */
export function searchOf({ status, categoryId, shelterId, words, age, sex, size, goodWith, near, withinKm, meant }: Filter) {
  return {
    ...meant,
    status,
    ...(categoryId !== undefined && { categoryId }),
    ...(shelterId !== undefined && { shelterId }),
    ...(words !== undefined && { q: words }),
    ...(age !== undefined && { age }),
    ...(sex !== undefined && { sex }),
    ...(size !== undefined && { size }),
    ...(goodWith.length > 0 && { goodWith: [...goodWith] }),
    ...(near !== undefined && { near }),
    ...(withinKm !== undefined && { withinKm }),
  };
}

/** Whether more is asked for than a category and a status, which are all that an open page is told of a new animal. */
export const isNarrow = (filter: Filter): boolean =>
  addressOf({ ...filter, cursor: undefined, sort: undefined }) !== addressOf(ofKind(filter));

/** All of the kind and the status. */
export const ofKind = ({ status, categoryId }: Filter): Filter => ({ status, categoryId, goodWith: [] });

export const readId = (text = ''): number | undefined => (/^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined);

/** Rounded to about a kilometre: visitors in the same town share a cached page, and nothing more of where they are is passed on. */
export function placeText(latitude: number, longitude: number): string {
  return `${Math.round(latitude * 100) / 100},${Math.round(longitude * 100) / 100}`;
}

function readPlace(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const [, latitude, longitude] = /^(-?\d{1,2}(?:\.\d{1,15})?),(-?\d{1,3}(?:\.\d{1,15})?)$/.exec(text) ?? [];
  const isOnEarth = Math.abs(Number(latitude)) <= 90 && Math.abs(Number(longitude)) <= 180;
  return isOnEarth ? placeText(Number(latitude), Number(longitude)) : 'unknown';
}

/** An empty field of a form is no choice. */
const choice = (text: string | null, offered: object): string | undefined =>
  text ? (Object.hasOwn(offered, text) ? text : 'unknown') : undefined;
