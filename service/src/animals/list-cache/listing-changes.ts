import type { ChangeLog } from './change-log.ts';
import type { Footprint, PetChange } from './pet-changes.ts';
import type { ListingFootprint, ShownChange } from './shown-changes.ts';

/** How many changes of animals a process has read, and how many of what only listings show. */
export type ListingVersion = readonly [pets: number, shown: number];

/** The changes that cached pages of listings depend on: those of animals, and those of what only listings show. */
export class ListingChanges {
  readonly #pets: Pick<ChangeLog<PetChange, Footprint>, 'version' | 'hasTouched'>;
  readonly #shown: Pick<ChangeLog<ShownChange, ListingFootprint>, 'version' | 'hasTouched'>;

  constructor(
    pets: Pick<ChangeLog<PetChange, Footprint>, 'version' | 'hasTouched'>,
    shown: Pick<ChangeLog<ShownChange, ListingFootprint>, 'version' | 'hasTouched'>,
  ) {
    this.#pets = pets;
    this.#shown = shown;
  }

  get version(): ListingVersion {
    return [this.#pets.version, this.#shown.version];
  }

  hasTouched(footprint: ListingFootprint, [pets, shown]: ListingVersion): boolean {
    return footprint.animals.some((animals) => this.#pets.hasTouched(animals, pets)) || this.#shown.hasTouched(footprint, shown);
  }
}
