import type { Footprint } from '../pets/pet-changes.ts';
import type { ListingSearch, ListingSort, Position } from './listing-search.ts';
import type { Listing } from './listings.ts';

/** A page depends on the animals of each. */
export type ListingFootprint = readonly Footprint[];

const everyAnimal: Footprint = { categoryId: undefined, status: undefined, ids: undefined, after: 0n, last: undefined };

/**
 * The animals whose changes may change a page. (Changes of profiles, photos and shelters invalidate every page.)
 * - With words, every animal: a name that is new or gone may change how a word is corrected.
 * - Otherwise those that match the filters on what every animal has. By id, the newest first, only those in the range of the page: rows
 *   before were on earlier pages, and rows behind can't move into the page, since it is full.
 * - Those that an animal of the page is bonded with: one that is removed disappears from the profile.
 */
export function footprintOf(
  { words, categoryId, status, ids }: ListingSearch,
  { sort, after, limit }: { readonly sort: ListingSort; readonly after: Position | undefined; readonly limit: number },
  found: readonly Listing[],
): ListingFootprint {
  if (words !== undefined) return [everyAnimal];
  // Descending: the page begins behind `after` and ends with the animal that shows that another page follows.
  const end = found[limit]?.pet.id;
  const range =
    sort === 'newest' ? { after: end === undefined ? 0n : end - 1n, last: after && after.id - 1n } : { after: 0n, last: undefined };
  const matching: Footprint = { categoryId, status, ids: ids && new Set(ids), ...range };
  const bonded = new Set(found.flatMap(({ profile }) => profile.bondedWith));
  return bonded.size === 0 ? [matching] : [matching, { ...everyAnimal, ids: bonded }];
}
