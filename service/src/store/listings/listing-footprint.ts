import { type AnimalFilterName, filterRows } from '../../domain/listing-filters.ts';
import { fieldsOf } from '../../domain/profile-fields.ts';
import type { Footprint, ListingFootprint } from '../list-cache/pet-changes.ts';
import type { ListingSearch, ListingSort, Position } from './listing-search.ts';
import type { Listing } from './listings.ts';

const everyAnimal: Footprint = { categoryId: undefined, status: undefined, ids: undefined, after: 0n, last: undefined };

/**
 * The animals whose changes may change a page. (Changes of profiles, photos and shelters invalidate every page.)
 * - With words, every animal: any may be given a name that has them.
 * - Otherwise those that match the filters on what every animal has. By id, the newest first, only those in the range of the page: rows
 *   before were on earlier pages, and rows behind the first one left out can't move into the page, since it is full.
 * - Those that an animal of the page is bonded with: one that is removed disappears from the profile.
 */
export function footprintOf(
  search: ListingSearch,
  /** `count` animals of those found are on the page. */
  { sort, after, count }: { readonly sort: ListingSort; readonly after: Position | undefined; readonly count: number },
  found: readonly Listing[],
): ListingFootprint {
  const matching = matchingOf(search);
  if (!matching) return [everyAnimal];
  // Descending: the page begins behind `after` and ends with the animal that shows that another page follows.
  const end = found[count]?.pet.id;
  const range = sort === 'newest' ? { after: end === undefined ? 0n : end - 1n, last: after && after.id - 1n } : {};
  const bonded = new Set(found.flatMap(({ profile }) => bonds.flatMap((field) => profile[field])));
  const inRange = { ...matching, ...range };
  return bonded.size === 0 ? [inRange] : [inRange, { ...everyAnimal, ids: bonded }];
}

/** The animals whose changes may change the counts of a search: all that match, wherever they are in a list. */
export const footprintOfCounts = (search: ListingSearch): ListingFootprint => [matchingOf(search) ?? everyAnimal];

/** Those that match the filters on what every animal has. Undefined: a filter depends on every animal. */
function matchingOf(search: ListingSearch): Footprint | undefined {
  let matching = everyAnimal;
  for (const { name, part } of animalFilters) {
    const value = search[name];
    if (value === undefined) continue;
    if (part === 'everyAnimal') return undefined;
    matching = { ...matching, [part]: Array.isArray(value) ? new Set(value) : value };
  }
  return matching;
}

const bonds = fieldsOf('animals');

const animalFilters = filterRows.flatMap(([name, row]) =>
  row.of === 'animal' ? { name: name as AnimalFilterName, part: row.footprint } : [],
);
