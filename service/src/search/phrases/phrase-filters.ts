import type { Companion } from '../../domain/profile-fields.ts';
import type { Meaning } from './phrase-table.ts';

/** A misspelt word, and what was searched for in its place. */
export interface Correction {
  readonly typed: string;
  readonly searched: string;
}

/** What words mean in this store. */
export interface Vocabulary {
  /** The category for a kind of animal, by the singular name of the kind or of the category itself. */
  readonly categoryIds: ReadonlyMap<string, bigint>;
  /** Misspelt words are no phrases. */
  readonly isSpellingExact?: boolean;
  /** The towns and postcodes of shelters among the texts that were looked up. */
  readonly places: Places;
}

/** By the folded text. Store staff have confirmed them: otherwise a shelter could take a word from everybody's searches. */
export type Places = ReadonlyMap<string, Place>;

export type Place = { readonly town: string } | { readonly postcode: string };

/** The filters that phrases become. */
export interface PhraseFilters extends Omit<Meaning, 'species' | 'color' | 'goodWith'> {
  readonly categoryId?: bigint;
  readonly color?: readonly string[];
  readonly goodWith?: readonly Companion[];
  /** What is left out, as the filter of that name says it. */
  readonly not?: readonly string[];
  readonly name?: string;
  readonly town?: string;
  readonly postcode?: string;
}

/** Part of a search. Without `filters` it is searched as words. */
export interface Part {
  readonly from: number;
  readonly length: number;
  readonly filters?: PhraseFilters | undefined;
  /** In place of what is left out, if a kind of animal is asked for. */
  readonly notBesideKind?: readonly string[];
  readonly isBreed?: boolean;
  readonly correction?: Correction;
}
