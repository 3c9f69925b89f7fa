import type { ShownHold } from '../../domain/holds.ts';
import { listingFilters } from '../../domain/listing-filters.ts';
import type { ListingSearch, Position } from './listing-search.ts';
import { asksForPlace, asksForProfile, type Parameters, petConditions, profileConditions, termsOf, wordsOf } from './search-conditions.ts';
import { sheltersOf } from './shelter-place-queries.ts';

export const foundColumns = (id: string, shelterId: string) => `${id} as id, ${shelterId} as "shelterId"`;

/** The newest animals that a search looks through: those with a profile if it asks for that, else by an index that begins with its filters. */
export function newestRows(search: ListingSearch, parameters: Parameters, beforeId = idMax, lookedThroughMax: number): string {
  const limit = `limit ${lookedThroughMax}`;
  if (asksForProfile(search)) return `select * from listings where id < ${parameters.add(beforeId)} order by id desc ${limit}`;
  const { inRange, order } = indexRange(search, ['categoryId', 'status'], beforeId, parameters);
  return `select * from pets where removed_at is null and ${inRange} order by ${order} ${limit}`;
}

/** The parts of a select from animals, by default from all: what is found, and whether it matches. */
export function walkOf(
  search: ListingSearch,
  parameters: Parameters,
  animals?: string,
): Record<'columns' | 'words' | 'document' | 'from' | 'hasWords' | 'condition', string> {
  const isByListing = asksForProfile(search);
  const document = isByListing ? 'animal.document' : documentOf;
  const words = wordsOf(search, parameters);
  const hasWords = `${document} @@ ${words}`;
  const near = asksForPlace(search) ? `left join (${sheltersOf(search, parameters)}) near on near.id = animal.shelter_id` : '';
  const conditions = [
    petConditions(search, parameters, 'animal', isByListing ? 'listings' : 'pets'),
    isByListing ? profileConditions(search, parameters, 'animal') : '',
    near === '' ? '' : 'near.id is not null',
    words ? hasWords : '',
  ].filter((condition) => condition !== '');
  return {
    columns: `${foundColumns('animal.id', 'animal.shelter_id')}, ${near === '' ? 'null::float8' : 'near.distance'} as distance`,
    words: words ?? '',
    document,
    from: `${animals ?? (isByListing ? 'listings' : 'pets')} animal ${near}
      ${words && !isByListing ? `left join lateral (${listingOf}) listings on true` : ''}`,
    hasWords,
    condition: `(${conditions.join(' and ')})`,
  };
}

/** The filters that an index of animals begins with. */
export type IndexedFilter = 'categoryId' | 'status' | 'shelterId';

/** The rows of the index that begins with those of the filters `by` that are given, before an id, and their order. */
export function indexRange(
  search: ListingSearch,
  by: readonly IndexedFilter[],
  beforeId: bigint,
  parameters: Parameters,
): { inRange: string; order: string } {
  const names = by.filter((name) => search[name] !== undefined);
  const columns = names.map((name) => listingFilters[name].column);
  const values = names.map((name) => parameters.add(search[name])).join(', ');
  const before = parameters.add(beforeId);
  return {
    inRange: names.length === 0 ? `id < ${before}` : `(${columns}, id) < (${values}, ${before}) and (${columns}) >= (${values})`,
    order: [...columns, 'id'].map((column) => `${column} desc`).join(', '),
  };
}

/** The newest of the animals that are held for a reason; some of the holds may be over. */
export const heldRows = (hold: ShownHold, parameters: Parameters, beforeId = idMax): string =>
  `select * from pets where removed_at is null and hold = ${parameters.add(hold)} and id < ${parameters.add(beforeId)} order by hold desc, id desc`;

export const idMax = 9_223_372_036_854_775_807n;

/** `offset 0`: one look-up for each animal. In a small store the planner would join all rows, though a thousand are needed. */
const listingOf = 'select document from listings where listings.id = animal.id offset 0';

/** Of an animal, with its row of listings if it has one. */
export const documentOf = `coalesce(listings.document, setweight(to_tsvector('listings', animal.name), 'A'))`;

export const isBehind = (after: Position, parameters: Parameters, distance: string, shelterId: string, id: string) => {
  const [afterDistance, afterShelter] = [`${parameters.add(after.distance)}::float8`, `${parameters.add(after.shelterId)}::bigint`];
  return `((${distance}, ${shelterId}) > (${afterDistance}, ${afterShelter})
    or ((${distance}, ${shelterId}) = (${afterDistance}, ${afterShelter}) and ${id} < ${parameters.add(after.id)}))`;
};

/**
 * All matches, in no order: those with a profile, and by their names those without. `isByWordsOnly`: so few animals have the words that
 * the filters of each are compared. The index would read the long lists of all that have a sex or a size.
 */
export function matchesOf(
  search: ListingSearch,
  parameters: Parameters,
  options: { isRanked?: boolean; isByWordsOnly?: boolean; beforeId?: bigint | undefined },
): string {
  const words = wordsOf(search, parameters);
  const near = asksForPlace(search) ? `join (${sheltersOf(search, parameters)}) near on near.id =` : undefined;
  const distance = near ? 'near.distance' : 'null::float8';
  const before = options.beforeId === undefined ? undefined : parameters.add(options.beforeId);
  const rankOf = (document: string) => (options.isRanked ? `ts_rank(${document}, ${words})` : 'null::real');
  const terms = options.isByWordsOnly ? undefined : termsOf(search, parameters);
  const described = [
    `listings.document @@ (${[terms, words].filter(Boolean).join(' && ')})`,
    ...(before ? [`listings.id < ${before}`] : []),
    petConditions(search, parameters, 'listings'),
    profileConditions(search, parameters),
  ].filter((condition) => condition !== '');
  const select = `select ${foundColumns('listings.id', 'listings.shelter_id')}, ${distance} as distance, ${rankOf('listings.document')} as rank
    from listings ${near ? `${near} listings.shelter_id` : ''} where ${described.join(' and ')}`;
  if (asksForProfile(search) || !words) return select;
  const nameDocument = `to_tsvector('listings', pets.name)`;
  const named = [
    `${nameDocument} @@ ${wordsOf(search, parameters, 'name')}`,
    ...(before ? [`pets.id < ${before}`] : []),
    petConditions(search, parameters),
    'not exists (select from listings where listings.id = pets.id)',
  ];
  return `(${select}) union all (select ${foundColumns('pets.id', 'pets.shelter_id')}, ${distance}, ${rankOf(`setweight(${nameDocument}, 'A')`)}
    from pets ${near ? `${near} pets.shelter_id` : ''} where ${named.join(' and ')})`;
}
