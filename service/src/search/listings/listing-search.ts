import type { FilterValues } from '../../domain/listing-filters.ts';

/** What a search asks for: the filters of the request. Undefined: any. */
export interface ListingSearch extends Omit<FilterValues, 'near' | 'withinKm'> {
  /** Words with which animals are found as well: some of `q` are misspelt, though an animal has them. */
  readonly otherWords?: string | undefined;
  /** Words of `q` that must stand together, such as "not shy". */
  readonly together?: readonly string[] | undefined;
  readonly near?: Near | undefined;
  /** The date that ages are computed for, such as 2026-11-16. */
  readonly today: string;
}

/** What a search asks for, as documents have it. */
export interface AskedSearch {
  /** Undefined: no words are asked for. */
  readonly words: SearchedWords | undefined;
}

/** The words that decide which animals a search finds. */
export interface SearchedWords {
  /** An animal is found by having all the words of one of these: as they were asked for, or as they were corrected. Without those that
   * PostgreSQL takes apart again. */
  readonly choices: ReadonlyArray<readonly string[]>;
}

export interface Near {
  readonly latitude: number;
  readonly longitude: number;
  readonly withinKm: number;
}

export const listingSorts = ['newest', 'distance', 'relevance'] as const;
export type ListingSort = (typeof listingSorts)[number];

/** An animal that was found, and its place in the order of the list. */
export interface Found {
  readonly id: bigint;
  readonly shelterId: bigint;
  /** In kilometres; null: the search is not near a place. */
  readonly distance: number | null;
  /** By relevance only. */
  readonly rank: number | null;
}

/** The last animal of the page before. */
export type Position = Found;
