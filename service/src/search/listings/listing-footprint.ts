import { bitsOfAll, type Coordinates, type Footprint, type ListingFootprint } from '../../animals/list-cache/shown-changes.ts';
import { folded } from '../../domain/label-spellings.ts';
import { type AnimalFilterName, type FilterKind, type FilterRow, filterRows, sizesOf } from '../../domain/listing-filters.ts';
import type { Size } from '../../domain/profile-fields.ts';
import { distanceKm } from './geography.ts';
import { spellingsOf } from './labels.ts';
import type { AskedSearch, ListingSearch, ListingSort, Near, Position } from './listing-search.ts';
import type { Listing } from './listings.ts';
import { asksForPlace } from './search-conditions.ts';
import type { Reading } from './understanding.ts';

const everyAnimal: Footprint = { categoryId: undefined, status: undefined, ids: undefined, after: 0n, last: undefined };

interface Understood {
  readonly asked: AskedSearch;
  readonly reading: Reading;
  /** Nothing of what was meant was found. */
  readonly isFallback: boolean;
}

interface FoundPage extends Understood {
  /** As it was asked for. */
  readonly search: ListingSearch;
  readonly sort: ListingSort;
  readonly after: Position | undefined;
  /** So many of the animals found are on the page. The next one shows that another page follows. */
  readonly count: number;
}

/**
 * What a page depends on.
 * - The animals that match the filters on what every animal has. By id, the newest first, only those in the range of the page: rows
 *   before were on earlier pages, and rows behind the first one left out can't move into the page, since it is full.
 * - Those that an animal of the page is bonded with: one that is removed disappears from the profile, and one whose outcome is undone
 *   appears in it again.
 * - The profiles, photos and shelters of the animals on the page.
 * - The profiles of other animals that match so far, have the terms that the search asks for, and are not further away than what the
 *   page shows.
 *
 * If the words may be a misspelt town, it depends on what any animal says. If they may be a name, or what was meant found nothing, it also
 * depends on animals that match what was asked for beside the words.
 */
export function footprintOf({ search, sort, after, count, ...understood }: FoundPage, found: readonly Listing[]): ListingFootprint {
  const { reading, isFallback } = understood;
  const ofAll = reading.dependsOnDescriptions ? everyAnimal : undefined;
  // Descending: the page begins behind `after` and ends with the animal that shows that another page follows.
  const end = found[count];
  const range = sort === 'newest' ? { after: end === undefined ? 0n : end.pet.id - 1n, last: after && after.id - 1n } : {};
  const bonded = new Set(found.flatMap(({ namedIds }) => namedIds));
  const by = ofAll ?? (isFallback ? matchingOf(search) : { ...matchingOf(reading.lifted?.search ?? reading.search), ...range });
  const farthestKm = sort === 'distance' ? end?.found.distance : undefined;
  return {
    animals: bonded.size === 0 ? [by] : [by, { ...everyAnimal, ids: bonded }],
    shown: found.map(({ pet, shelter }) => ({ petId: pet.id, shelterId: shelter.id })),
    found: {
      by,
      bits: bitsOfUnderstood(understood),
      isNear: search.near && isNearer(search.near, farthestKm ?? search.near.withinKm),
      asksForPlace: asksForPlace(reading.search) || reading.dependsOnPlaces,
    },
  };
}

/** What the counts of a search depend on: all animals that match, wherever they are in a list. */
export const footprintOfCounts = (search: ListingSearch, understood: Understood): ListingFootprint =>
  footprintOf({ ...understood, search, sort: 'relevance', after: undefined, count: 0 }, []);

function bitsOfUnderstood({ reading, asked, isFallback }: Understood): ReadonlyArray<readonly number[]> {
  if (isFallback || reading.dependsOnDescriptions) return anyBits;
  const { lifted } = reading;
  const named = lifted ? bitsOf(lifted.search, { words: { choices: [wordsOfSpelling(folded(lifted.name))] } }) : [];
  return [...bitsOf(reading.search, asked), ...named];
}

const anyBits = [[]];

/** Those that match the filters on what every animal has. */
function matchingOf(search: ListingSearch): Footprint {
  let matching = everyAnimal;
  for (const { name, part } of animalFilters) {
    const value = search[name];
    if (value === undefined || part === 'everyAnimal') continue;
    matching = { ...matching, [part]: Array.isArray(value) ? new Set<unknown>(value) : value };
  }
  return matching;
}

/** A little further, so that rounding excludes nothing. */
const isNearer = (near: Near, km: number) => (place: Coordinates) => distanceKm(near, place) <= km * 1.001 + 0.01;

/** Of the terms that an animal must have to be found: all of one of these. An age is one of several years, and is not compared. */
function bitsOf(search: ListingSearch, { words }: AskedSearch): ReadonlyArray<readonly number[]> {
  const parts = filterRows.flatMap(([name, row]) => termsOf(row, search[name as keyof ListingSearch]));
  const all = [...parts, words?.choices ?? [[]]].reduce(combine, [[]]);
  return all.map(bitsOfAll);
}

/** Terms of which an animal must have all of one of these. */
type Choices = ReadonlyArray<readonly string[]>;

const choicesMax = 32;

/** Of more combinations the second part is left out: the page is then invalidated by animals that it can't show, too. */
const combine = (one: Choices, other: Choices): Choices =>
  one.length * other.length > choicesMax ? one : one.flatMap((terms) => other.map((more) => [...terms, ...more]));

function termsOf(row: FilterRow, value: unknown): Choices[] {
  if (value === undefined) return [];
  if ('spellings' in row) return labelsOf(value).map((label) => spellingsOf(row.spellings, label).map(wordsOfSpelling));
  if (row.kind === 'sizes') return [sizesOf(row.is, value as Size).map((size) => [`${row.term}=${size}`])];
  const valuesOf = requiredValues[row.kind];
  return row.term === undefined || !valuesOf ? [] : [[valuesOf(value).map((one) => `${row.term}=${one}`)]];
}

const labelsOf = (value: unknown) => [value as string | string[]].flat();

/** Of others it is not sure that documents have them like this. */
const isPlain = /^[a-z]+$/;
const wordsOfSpelling = (spelling: string) => spelling.split(' ').filter((word) => isPlain.test(word));

/** The values that an animal must have, all of them. */
const requiredValues: { readonly [Kind in FilterKind]?: (value: unknown) => readonly unknown[] } = {
  choice: (value) => [value],
  choices: (values) => values as unknown[],
  id: (id) => [id],
};

const animalFilters = filterRows.flatMap(([name, row]) =>
  row.of === 'animal' ? { name: name as AnimalFilterName, part: row.footprint } : [],
);
