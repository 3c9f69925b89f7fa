import type { Companion } from '../../domain/profile-values.ts';
import type { Meaning } from './phrase-table.ts';

/** What words mean in this store. */
export interface Vocabulary {
  /** The category for a kind of animal, by the singular name of the kind or of the category itself. */
  readonly categoryIds: ReadonlyMap<string, bigint>;
  /** The towns and postcodes among those that were looked up, by the folded text. */
  readonly places: ReadonlyMap<string, Place>;
}

export type Place = { readonly town: string } | { readonly postcode: string };

/** The filters that phrases become. */
export interface PhraseFilters extends Omit<Meaning, 'species' | 'color' | 'goodWith'> {
  readonly categoryId?: bigint;
  readonly color?: readonly string[];
  readonly goodWith?: readonly Companion[];
  readonly name?: string;
  readonly town?: string;
  readonly postcode?: string;
}

/** Part of a search. Without `filters` it is searched as words. */
export interface Part {
  readonly from: number;
  readonly length: number;
  readonly filters?: PhraseFilters | undefined;
  readonly isBreed?: boolean;
}
