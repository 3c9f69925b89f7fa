import { type AnimalFilterName, type FilterKind, type FilterName, filterRows } from '../../domain/listing-filters.ts';
import { fieldsOf } from '../../domain/profile-fields.ts';
import type { Footprint } from '../list-cache/pet-changes.ts';
import type { ListingFootprint, Place } from '../list-cache/shown-changes.ts';
import { bitsOfAll } from '../list-cache/terms.ts';
import { distanceKm } from './geography.ts';
import type { Asked, ListingSearch, ListingSort, Near, Position } from './listing-search.ts';
import type { Listing } from './listings.ts';

const everyAnimal: Footprint = { categoryId: undefined, status: undefined, ids: undefined, after: 0n, last: undefined };

interface FoundPage {
  readonly search: ListingSearch;
  readonly asked: Asked;
  readonly sort: ListingSort;
  readonly after: Position | undefined;
  /** So many of the animals found are on the page. The next one shows that another page follows. */
  readonly count: number;
}

/**
 * What a page depends on.
 * - The animals that match the filters on what every animal has. By id, the newest first, only those in the range of the page: rows
 *   before were on earlier pages, and rows behind the first one left out can't move into the page, since it is full.
 * - Those that an animal of the page is bonded with: one that is removed disappears from the profile.
 * - The profiles, photos and shelters of the animals on the page.
 * - The profiles of other animals that match so far, have the terms that the search asks for, and are not further away than what the
 *   page shows.
 */
export function footprintOf({ search, asked, sort, after, count }: FoundPage, found: readonly Listing[]): ListingFootprint {
  // Descending: the page begins behind `after` and ends with the animal that shows that another page follows.
  const end = found[count];
  const range = sort === 'newest' ? { after: end === undefined ? 0n : end.pet.id - 1n, last: after && after.id - 1n } : {};
  const bonded = new Set(found.flatMap(({ profile }) => bonds.flatMap((field) => profile[field])));
  const by = { ...matchingOf(search), ...range };
  const farthestKm = sort === 'distance' ? end?.found.distance : undefined;
  return {
    animals: bonded.size === 0 ? [by] : [by, { ...everyAnimal, ids: bonded }],
    shown: found.map(({ pet, shelter }) => ({ petId: pet.id, shelterId: shelter.id })),
    found: { by, bits: bitsOf(search, asked), isNear: search.near && isNearer(search.near, farthestKm ?? search.near.withinKm) },
  };
}

/** What the counts of a search depend on: all animals that match, wherever they are in a list. */
export function footprintOfCounts(search: ListingSearch, asked: Asked): ListingFootprint {
  const by = matchingOf(search);
  const isNear = search.near && isNearer(search.near, search.near.withinKm);
  return { animals: [by], shown: [], found: { by, bits: bitsOf(search, asked), isNear } };
}

/** Those that match the filters on what every animal has. */
function matchingOf(search: ListingSearch): Footprint {
  let matching = everyAnimal;
  for (const { name, part } of animalFilters) {
    const value = search[name];
    if (value === undefined || part === 'everyAnimal') continue;
    matching = { ...matching, [part]: Array.isArray(value) ? new Set(value) : value };
  }
  return matching;
}

/** A little further, so that rounding excludes nothing. */
const isNearer = (near: Near, km: number) => (place: Place) => distanceKm(near, place) <= km * 1.001 + 0.01;

/** Of the terms that an animal must have to be found: all of one of these. An age is one of several years, and is not compared. */
function bitsOf(search: ListingSearch, { words, breed }: Asked): ReadonlyArray<readonly number[]> {
  const filters = termFilters.flatMap(({ name, term, valuesOf }) => {
    const value = name === 'breed' ? breed : search[name];
    return value === undefined ? [] : valuesOf(value).map((one) => `${term}=${one}`);
  });
  return (words?.choices ?? [[]]).map((choice) => bitsOfAll([...filters, ...choice]));
}

/** The values that an animal must have, all of them. */
const requiredValues: { readonly [Kind in FilterKind]?: (value: unknown) => readonly unknown[] } = {
  choice: (value) => [value],
  choices: (values) => values as unknown[],
  id: (id) => [id],
  breed: (breed) => [breed],
};

const termFilters = filterRows.flatMap(([name, { kind, term }]) => {
  const valuesOf = requiredValues[kind];
  return term !== undefined && valuesOf ? { name: name as Exclude<FilterName, 'near' | 'withinKm'>, term, valuesOf } : [];
});

const bonds = fieldsOf('animals');

const animalFilters = filterRows.flatMap(([name, row]) =>
  row.of === 'animal' ? { name: name as AnimalFilterName, part: row.footprint } : [],
);
