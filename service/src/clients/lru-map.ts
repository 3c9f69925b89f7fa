/**
 * An approximate LRU cache: at most `max` entries, of which the `max` / 2 most recently used are never evicted. Entries are
 * in two generations, and when the young one is full, the old one is evicted as a whole. An exact LRU on a Map would be
 * slower: to find its oldest entry, a Map skips every deleted one.
 */
export class LruMap<Value extends object | string | true> {
  readonly #generationMax: number;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();

  constructor(max: number) {
    this.#generationMax = Math.floor(max / 2);
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: string): Value | undefined {
    const young = this.#young.get(key);
    if (young) return young;
    const old = this.#old.get(key);
    if (old) this.set(key, old);
    return old;
  }

  set(key: string, value: Value): void {
    this.#old.delete(key);
    this.#young.set(key, value);
    if (this.#young.size < this.#generationMax) return;
    this.#old = this.#young;
    this.#young = new Map();
  }

  delete(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }
}
