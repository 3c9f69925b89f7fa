import { everything, type PetChange, type PetChanges } from './pet-changes.ts';

/** More changes are announced as `everything`, so that an entry of the log stays short. */
const changesMax = 128;
/** The same for what only listings show: a change has up to 500 characters, so an entry has up to 16 kB, and the log up to 4 MB. */
const shownChangesMax = 32;
/** Of more transactions only the last are announced. The publisher of events announces the others again. */
const transactionsMax = 1_000;

/** What transactions have changed, as far as a cached page can show it. */
export interface Announced {
  /** Animals, which every list shows. */
  readonly changes: PetChanges;
  /** Of what only listings show: a profile, a photo or a shelter. As they are written to the log. */
  readonly shown: WrittenChanges;
  readonly transactionIds: readonly string[];
}

export type WrittenChanges = ReadonlySet<string> | typeof everything;

/** What the next announcement will say. */
export class Announcement implements Announced {
  #changes: PetChange[] | typeof everything = [];
  #shown: WrittenChanges = new Set();
  #transactionIds: string[] = [];

  get isEmpty(): boolean {
    return this.#changes.length === 0 && this.#shown !== everything && this.#shown.size === 0;
  }

  get changes(): PetChanges {
    return this.#changes;
  }

  get shown(): WrittenChanges {
    return this.#shown;
  }

  get transactionIds(): readonly string[] {
    return this.#transactionIds;
  }

  add({ changes, shown, transactionIds }: Announced): void {
    if (changes === everything || this.#changes === everything) this.#changes = everything;
    else this.#changes = this.#changes.length + changes.length > changesMax ? everything : [...this.#changes, ...changes];
    const all = shown === everything || this.#shown === everything ? everything : new Set([...this.#shown, ...shown]);
    this.#shown = all === everything || all.size > shownChangesMax ? everything : all;
    this.#transactionIds = [...this.#transactionIds, ...transactionIds].slice(-transactionsMax);
  }
}
