import type { Age } from './drawing-parts.ts';

/** What an animal of the development store is, and what it looks like. */
export interface Breed {
  readonly name: string;
  readonly size: 'small' | 'medium' | 'large' | 'extra_large';
  readonly coat?: 'hairless' | 'short' | 'medium' | 'long' | 'wire' | 'curly';
  /** When grown. */
  readonly grams: number;
  readonly feeCents: number;
  readonly canBeMixed?: boolean;
  readonly varieties: readonly [Variety, ...Variety[]];
}

export interface Variety {
  /** The main one first. */
  readonly colours: readonly [string, ...string[]];
  /** In a box of 120 by 120. `worn` is drawn over the body and below the head, of animals that have both. */
  draw(age: Age, worn: string): string;
}
