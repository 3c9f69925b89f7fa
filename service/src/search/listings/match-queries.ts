import type { ShownHold } from '../../domain/holds.ts';
import { listingFilters } from '../../domain/listing-filters.ts';
import type { Db } from '../../platform/db/handles.ts';
import type { Found, ListingSearch, Position } from './listing-search.ts';
import {
  addressConditions,
  asksForPlace,
  asksForProfile,
  nearness,
  Parameters,
  petConditions,
  profileConditions,
  termsOf,
  wordsOf,
} from './search-conditions.ts';

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

/** The shelters in or near the place that a search asks for, each with its distance; null: the search is not near a place. */
export function sheltersOf(search: ListingSearch, parameters: Parameters): string {
  const { distance, isNear } = search.near ? nearness(search.near, parameters) : { distance: 'null::float8', isNear: undefined };
  const conditions = [...(isNear === undefined ? [] : [isNear]), ...addressConditions(search, parameters)];
  return `select id, ${distance} as distance from shelters where ${conditions.join(' and ')}`;
}

/** So many animals with the name are put first. */
const namedMax = 20;
/** Animals with the words of the name that are looked through for those that have no others. */
const lookedThroughMax = 200;
/** Higher than any rank of words. */
export const namedRank = 10;

/** The animals with exactly this name that match the filters, the newest first. */
export async function findNamed(db: Db, name: string, search: ListingSearch): Promise<Found[]> {
  const parameters = new Parameters();
  const text = parameters.add(name);
  const near = asksForPlace(search) ? `join (${sheltersOf(search, parameters)}) near on near.id = animal.shelter_id` : '';
  const conditions = [
    petConditions(search, parameters, 'animal', 'pets'),
    asksForProfile(search) ? profileConditions(search, parameters) : '',
    `listing_breed(animal.name) = (select listing_breed(${text}))`,
  ].filter((condition) => condition !== '');
  const isPlain = near === '' && conditions.length === 1;
  const { rows } = await db.query<Found>({
    // Without filters the text is always the same, so it is planned once.
    ...(isPlain && { name: 'animals-named' }),
    text: `select ${foundColumns('animal.id', 'animal.shelter_id')}, ${near === '' ? 'null::float8' : 'near.distance'} as distance, ${namedRank}::real as rank
      from (select * from pets where removed_at is null and to_tsvector('listings', name) @@ plainto_tsquery('listings', ${text})
        limit ${lookedThroughMax}) animal
        ${asksForProfile(search) ? 'join listings on listings.id = animal.id' : ''} ${near}
      where ${conditions.join(' and ')} order by animal.id desc limit ${namedMax}`,
    values: parameters.values,
  });
  return rows;
}

/** The newest documents are looked through for a word before the index: of a frequent word it would read a long list. */
const newestMax = 50;

export interface AskedWord {
  readonly word: string;
  /** It is not one of those that may be misspelt, or an animal has it. */
  readonly isKnown: boolean;
  readonly isPlain: boolean;
}

/** An expression: the word is the only one of its own text. PostgreSQL takes others apart again when it searches for them. */
const isPlain = (word: string) => `tsvector_to_array(to_tsvector('listings', ${word})) = array[${word}]`;

/**
 * The words of a text in their order, without accents, and whether animals have those that may be misspelt. A word of an animal is known as
 * soon as its change is committed.
 */
export async function selectAskedWords(db: Db, text: string, misspelt: readonly string[]): Promise<AskedWord[]> {
  const { rows } = await db.query<AskedWord>({
    // Concatenated, so that a long document is read once and not for each word.
    text: `with newest as materialized (select document || '' as document from listings order by id desc limit ${newestMax})
      select lexeme as word, case
          when lexeme <> all($2::text[]) then true
          when exists (select from newest where document @@ plainto_tsquery('listings', lexeme)) then true
          else is_word_of_animal(lexeme) end as "isKnown",
          ${isPlain('lexeme')} as "isPlain"
        from unnest(to_tsvector('listings', $1)) order by positions[1]`,
    values: [text, misspelt],
  });
  return rows;
}
