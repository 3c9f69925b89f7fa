import { everything, type PetChange, type PetChanges } from './pet-changes.ts';

/** More changes are announced as `everything`, so that an entry of the log stays short. */
const changesMax = 128;
/** Of more transactions only the last are announced. The publisher of events announces the others again. */
const transactionsMax = 1_000;

/** What transactions have changed, as far as a cached page can show it. */
export interface Announced {
  /** Animals, which every list shows. */
  readonly changes: PetChanges;
  /** Whether something changed that only listings show: a profile, a photo or a shelter. */
  readonly listings: boolean;
  readonly transactionIds: readonly string[];
}

/** What the next announcement will say. */
export class Announcement implements Announced {
  #changes: PetChange[] | typeof everything = [];
  #listings = false;
  #transactionIds: string[] = [];

  get isEmpty(): boolean {
    return this.#changes.length === 0 && !this.#listings;
  }

  get changes(): PetChanges {
    return this.#changes;
  }

  get listings(): boolean {
    return this.#listings;
  }

  get transactionIds(): readonly string[] {
    return this.#transactionIds;
  }

  add({ changes, listings, transactionIds }: Announced): void {
    if (changes === everything || this.#changes === everything) this.#changes = everything;
    else this.#changes = this.#changes.length + changes.length > changesMax ? everything : [...this.#changes, ...changes];
    this.#listings ||= listings;
    this.#transactionIds = [...this.#transactionIds, ...transactionIds].slice(-transactionsMax);
  }
}
