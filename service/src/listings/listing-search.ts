import type { PetStatus } from '../domain/pet-statuses.ts';
import type { AgeBand, Coat, Companion, Sex, Size } from '../domain/profile-values.ts';

/** What a search asks for. Undefined: any. */
export interface ListingSearch {
  readonly status?: PetStatus | undefined;
  readonly categoryId?: bigint | undefined;
  readonly shelterId?: bigint | undefined;
  readonly ids?: readonly bigint[] | undefined;
  /** Words of names, breeds, tags and descriptions, all of which must be there. Misspelt ones are corrected before. */
  readonly words?: string | undefined;
  /** Those with which animals are found as well: some of `words` may be misspelt, though an animal has them. */
  readonly otherWords?: string | undefined;
  readonly breed?: string | undefined;
  readonly age?: AgeBand | undefined;
  readonly sex?: Exclude<Sex, 'unknown'> | undefined;
  readonly size?: Size | undefined;
  readonly coat?: Coat | undefined;
  readonly goodWith?: readonly Companion[] | undefined;
  readonly near?: Near | undefined;
  /** The date that ages are computed for, such as 2026-11-16. */
  readonly today: string;
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
