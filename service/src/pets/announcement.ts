import { everything, type PetChange, type PetChanges } from './pet-changes.ts';

/** More changes are announced as `everything`, so that an entry of the log stays short. */
const changesMax = 128;
/** Of more transactions only the last are announced. The publisher of events announces the others again. */
const transactionsMax = 1_000;

/** What the next announcement will say. */
export class Announcement {
  #changes: PetChange[] | typeof everything = [];
  #transactionIds: string[] = [];

  get isEmpty(): boolean {
    return this.#changes.length === 0;
  }

  get changes(): PetChanges {
    return this.#changes;
  }

  get transactionIds(): readonly string[] {
    return this.#transactionIds;
  }

  add(changes: PetChanges, transactionIds: readonly string[]): void {
    if (changes === everything || this.#changes === everything) this.#changes = everything;
    else this.#changes = this.#changes.length + changes.length > changesMax ? everything : [...this.#changes, ...changes];
    this.#transactionIds = [...this.#transactionIds, ...transactionIds].slice(-transactionsMax);
  }
}
