import type { ListingSearch } from './listing-search.ts';
import { addressConditions, nearness, type Parameters } from './search-conditions.ts';

/** The shelters in or near the place that a search asks for, each with its distance; null: the search is not near a place. */
export function sheltersOf(search: ListingSearch, parameters: Parameters): string {
  const { distance, isNear } = search.near ? nearness(search.near, parameters) : { distance: 'null::float8', isNear: undefined };
  const conditions = [...(isNear === undefined ? [] : [isNear]), ...addressConditions(search, parameters)];
  return `select id, ${distance} as distance from shelters where ${conditions.join(' and ')}`;
}
