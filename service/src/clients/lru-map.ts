/**
 * The entries that were set or read last: at most `max`, and the latest `max` / 2 of them for certain. They are in two
 * generations, of which the older is dropped whole when the younger is full. Dropping the oldest entry of a Map each time
 * would cost more than all else that a look-up does: to find it, the Map skips all that were deleted before.
 */
export class LruMap<Value extends object | true> {
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
